/** spec 15.4: a restore returns the state that was served at the given time. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkArchive } from '../../../src/archive/check.ts';
import { readArchive, type Target } from '../../../src/archive/replay.ts';
import { CatalogError } from '../../../src/errors.ts';
import { addBook, Archived, textOf } from '../../support/archive.ts';
import { storeDirectory } from '../../support/checked.ts';
import { turn } from '../../support/disk.ts';
import { MemoryObjects } from '../../support/object-store.ts';

interface Served {
  readonly sequence: number;
  /** When the change set was made. */
  readonly time: string;
  readonly text: string;
}

/** What the store served after each change set, from the first base on. */
function watch(archived: Archived): Served[] {
  const served: Served[] = [];
  archived.store.onCommit(({ changeSet: { sequence, time } }) => {
    served.push({ sequence, time, text: textOf(archived.store) });
  });
  return served;
}

const commits = fc.array(
  fc.record({
    /** How many books it adds; the first of them may be deleted at once. */
    books: fc.integer({ min: 1, max: 3 }),
    deletes: fc.boolean(),
    /** What the network does to the uploads that follow. */
    network: fc.constantFrom('works', 'works', 'is cut', 'loses answers'),
    restarts: fc.nat(9).map((number) => number === 0),
  }),
  { minLength: 1, maxLength: 25 },
);

/** Every third call fails, before or after its effect. */
function disturb(network: MemoryObjects, mode: string): void {
  let calls = 0;
  const fault = () => {
    calls += 1;
    if (calls % 3 === 0) throw new Error('connection reset');
  };
  network.before = mode === 'is cut' ? fault : () => {};
  network.after = mode === 'loses answers' ? fault : () => {};
}

test('a restore to any change set or time equals what was served then', async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.boolean(), async (steps, encrypts) => {
      const directory = storeDirectory();
      const options = {
        network: new MemoryObjects(),
        ...(encrypts && { key: randomBytes(32) }),
      };
      let archived = await Archived.open(directory, options);
      await archived.archived();
      const served = watch(archived);
      for (const { books, deletes, network, restarts } of steps) {
        disturb(options.network, network);
        await archived.store.transact((transaction) => {
          const ids = Array.from({ length: books }, () => addBook(transaction));
          if (deletes) transaction.delete('books', ids[0] ?? 0);
        });
        // A listener is called after the response: wait until it has seen this state.
        await turn();
        if (!restarts) continue;
        await archived.kill();
        archived = await Archived.open(directory, options);
        archived.store.onCommit(({ changeSet: { sequence, time } }) => {
          served.push({ sequence, time, text: textOf(archived.store) });
        });
      }
      disturb(options.network, 'works');
      await archived.archived();
      for (const { sequence, text } of served) {
        assert.is(textOf(await readArchive(archived.objects, { sequence })), text);
      }
      for (const { time } of served) {
        const last = served.findLast((each) => each.time <= time);
        assert.is(textOf(await readArchive(archived.objects, { at: time })), last?.text);
      }
      const { findings, gaps } = await checkArchive(archived.objects);
      assert.equal([findings, gaps], [[], []]);
      await archived.close();
    }),
    { numRuns: Number(process.env['ARCHIVE_RUNS'] ?? 8) },
  );
});

async function failureOf(archived: Archived, target: Target): Promise<string> {
  try {
    await readArchive(archived.objects, target);
  } catch (error) {
    if (error instanceof CatalogError) return error.message;
    throw error;
  }
  throw new Error('it was restored');
}

test('a restore to a change set after the last one is refused, and a later time gives the last state', async () => {
  const directory = storeDirectory();
  const unarchived = await Archived.open(directory);
  await unarchived.commit(3);
  await unarchived.archived();
  const archived = unarchived;
  await archived.commit(2);
  await archived.archived();
  assert.match(await failureOf(archived, { sequence: 6 }), 'ends with change set 5');
  assert.is((await readArchive(archived.objects, { at: '2999-01-01T00:00:00.000Z' })).sequence, 5);
  const [first = ''] = archived.network.in('bases');
  const begins = Number(first.slice(0, 12));
  if (begins > 0) {
    assert.match(await failureOf(archived, { sequence: begins - 1 }), 'begins with change set');
  }
  await archived.close();
});

test('a restore fails if an object is damaged, cut off, missing or has a fork', async () => {
  const archived = await Archived.open(storeDirectory());
  await archived.archived();
  for (let times = 0; times < 3; times += 1) {
    await archived.commit(2);
    await archived.archived();
  }
  await archived.close();
  const { objects } = archived.network;
  const whole = new Map(objects);
  const [, second = ''] = archived.network.in('changes');
  const name = `changes/${second}`;
  const bytes = whole.get(name) ?? Buffer.alloc(0);
  const flipped = Buffer.from(bytes);
  flipped[40] = (flipped[40] ?? 0) ^ 1;
  const damages: [what: string, damage: () => void, message: RegExp][] = [
    ['a changed byte', () => objects.set(name, flipped), /checksum/],
    ['cut off', () => objects.set(name, bytes.subarray(0, -10)), /cut off/],
    [
      'the last line missing',
      // It may be the only line.
      () => objects.set(name, bytes.subarray(0, bytes.lastIndexOf(10, bytes.length - 2) + 1)),
      /./,
    ],
    ['missing', () => void objects.delete(name), /ends with|gap/],
    [
      'a fork',
      () => objects.set(name.replace(/[0-9a-f]{64}$/, 'f'.repeat(64)), bytes),
      /two servers|name says/,
    ],
  ];
  for (const [what, damage, message] of damages) {
    objects.clear();
    for (const [key, value] of whole) objects.set(key, value);
    damage();
    const found = await failureOf(archived, { sequence: 6 });
    assert.match(found, message, `${what}: ${found}`);
  }
});

test.run();
