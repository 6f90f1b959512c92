/** spec 15.4: a restore returns the state that was served at the given time. */
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { checkArchive } from '../../../src/archive/check.ts';
import { baseName, changesName } from '../../../src/archive/names.ts';
import { readArchive, type Target } from '../../../src/archive/replay.ts';
import { perKind } from '../../../src/model/per-kind.ts';
import { inTurns } from '../../../src/slices.ts';
import { baseSlices } from '../../../src/store/files/base.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { RowTable } from '../../../src/store/memory/row-table.ts';
import { State } from '../../../src/store/state.ts';
import { Archived, textOf } from '../../support/archive.ts';
import { addBook } from '../../support/books.ts';
import { openStore, storeDirectory } from '../../support/checked.ts';
import { quickDisk } from '../../support/disk.ts';
import { failureMessage, failureOf } from '../../support/failure.ts';
import { MemoryObjects, unreachable } from '../../support/object-store.ts';
import { fixture } from '../../support/paths.ts';
import { turn } from '../../support/turns.ts';

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
          const ids = Array.from({ length: books }, () => addBook()(transaction));
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

async function refusalOf({ objects }: Archived, target: Target): Promise<string> {
  return (await failureOf(readArchive(objects, target))).message;
}

test('a restore to before the first base or to after the last change set is refused, and a later time gives the last state', async () => {
  const directory = storeDirectory();
  const unarchived = await openStore(directory);
  for (let nth = 0; nth < 3; nth += 1) await unarchived.transact(addBook());
  await unarchived.close();
  const archived = await Archived.open(directory);
  await archived.archived();
  await archived.commit(2);
  await archived.archived();
  await archived.close();
  const tooEarly = await refusalOf(archived, { sequence: 2 });
  assert.match(tooEarly, /begins with change set 3, [^ ]+; name that or a later one$/);
  const early = { at: '2000-01-01T00:00:00.000Z' };
  assert.match(await refusalOf(archived, early), 'begins with change set 3');
  assert.is((await readArchive(archived.objects, { sequence: 3 })).sequence, 3);
  assert.match(await refusalOf(archived, { sequence: 6 }), 'ends with change set 5');
  assert.is((await readArchive(archived.objects, { at: '2999-01-01T00:00:00.000Z' })).sequence, 5);
});

/** Opens an archive whose first object has the first four change sets of a new store. */
async function withFourInOne(directory: string, key: Buffer | null = null): Promise<Archived> {
  const options = { network: new MemoryObjects(), ...(key !== null && { key }) };
  const { network } = options;
  const first = await Archived.open(directory, options);
  await first.archived();
  network.before = unreachable;
  await first.commit(4);
  await first.kill();
  network.before = () => {};
  const archived = await Archived.open(directory, options);
  await archived.archived();
  return archived;
}

/** Opens an archive with one base and the change sets 1 to 4, 5, and 6 in an object each. */
async function withThreeObjects(key: Buffer | null = null): Promise<Archived> {
  const archived = await withFourInOne(storeDirectory(), key);
  for (let times = 0; times < 2; times += 1) {
    await archived.commit(1);
    await archived.archived();
  }
  await archived.close();
  assert.equal(
    [archived.network.in('bases').length, archived.network.in('changes').length],
    [1, 3],
  );
  return archived;
}

test('a missing object before later ones is reported, and the state before it can be restored', async () => {
  const archived = await withThreeObjects();
  const [, middle] = archived.network.in('changes');
  archived.network.objects.delete(`changes/${middle}`);
  const lost = 'has change set 6, but not those between it and 4';
  assert.match(await refusalOf(archived, {}), lost);
  assert.match(await refusalOf(archived, { sequence: 6 }), lost);
  const late = { at: '2999-01-01T00:00:00.000Z' };
  assert.match(await refusalOf(archived, late), 'restore 4 with --sequence 4');
  assert.is((await readArchive(archived.objects, { sequence: 4 })).sequence, 4);
  const { findings } = await checkArchive(archived.objects);
  assert.match(
    findings.join('\n'),
    'change set 5 is missing; --sequence 4 restores the last state before',
  );
});

test('a listing that lacks an object which is being added is no gap', async () => {
  const archived = await withThreeObjects();
  const { objects } = archived.network;
  const text = textOf(await readArchive(archived.objects, {}));
  const [, middle] = archived.network.in('changes');
  const late = `changes/${middle}`;
  const bytes = objects.get(late) ?? Buffer.alloc(0);
  for (const read of [
    async () => assert.is(textOf(await readArchive(archived.objects, {})), text),
    async () => assert.equal((await checkArchive(archived.objects)).findings, []),
  ]) {
    objects.delete(late);
    archived.network.after = (call, name) => {
      if (call === 'list' && name === 'changes') objects.set(late, bytes);
    };
    await read();
  }
});

/** Changes a byte of an object. */
function flip({ network: { objects } }: Archived, name: string, at: number): void {
  const bytes = Buffer.from(objects.get(name) ?? []);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  objects.set(name, bytes);
}

for (const key of [null, randomBytes(32)]) {
  const kind = key === null ? 'plain' : 'encrypted';
  test(`the state before a damaged object of a ${kind} archive is restored as the error says`, async () => {
    const archived = await withThreeObjects(key);
    const [, middle] = archived.network.in('changes');
    flip(archived, `changes/${middle}`, 60);
    const message = await refusalOf(archived, {});
    assert.match(message, `changes/${middle}`);
    assert.match(message, '--sequence 4 restores the last state before the damage');
    assert.match((await checkArchive(archived.objects)).findings.join(), '--sequence 4 restores');
    assert.is((await readArchive(archived.objects, { sequence: 4 })).sequence, 4);
  });

  test(`a damaged base of a ${kind} archive can be moved away as the error says`, async () => {
    const archived = await withThreeObjects(key);
    const text = textOf(await readArchive(archived.objects, {}));
    const snapshot = archived.store.snapshot();
    const name = baseName({ ...snapshot, schema: SCHEMA_VERSION });
    await archived.objects.putBase(name, inTurns(baseSlices(snapshot)));
    const newest = archived.network.in('bases').at(-1);
    flip(archived, `bases/${newest}`, 100);
    const message = await refusalOf(archived, {});
    assert.match(message, `bases/${newest}`);
    assert.match(message, 'move it away, to restore from the other bases');
    archived.network.objects.delete(`bases/${newest}`);
    assert.is(textOf(await readArchive(archived.objects, {})), text);
  });
}

test('a restore applies the rest of an object of change sets that begins before its base', async () => {
  const archived = await withThreeObjects();
  const { objects } = archived;
  const at = (sequence: number) => readArchive(objects, { sequence });
  const [fourth, last] = [textOf(await at(4)), textOf(await at(6))];
  const snapshot = (await at(2)).snapshot();
  const name = baseName({ ...snapshot, schema: SCHEMA_VERSION });
  await objects.putBase(name, inTurns(baseSlices(snapshot)));
  archived.network.objects.delete(`bases/${archived.network.in('bases')[0]}`);
  assert.equal(archived.network.in('bases'), [name]);
  assert.is(textOf(await at(4)), fourth);
  assert.is(textOf(await readArchive(objects, {})), last);
  assert.equal((await checkArchive(objects)).findings, []);
});

test('a base that was renamed is refused', async () => {
  const archived = await withThreeObjects();
  const snapshot = archived.store.snapshot();
  for (const other of [{ sequence: snapshot.sequence - 1 }, { digest: 'f'.repeat(64) }]) {
    const name = baseName({ ...snapshot, schema: SCHEMA_VERSION, ...other });
    await archived.objects.putBase(name, inTurns(baseSlices(snapshot)));
    const message = `bases/${name} does not hold what its name says`;
    assert.match(await refusalOf(archived, {}), message);
    assert.match((await checkArchive(archived.objects)).findings.join(), message);
    archived.network.objects.delete(`bases/${name}`);
  }
});

test('a base whose rows break a rule is refused', async () => {
  const archived = await withThreeObjects();
  const rows = perKind(() => new RowTable());
  rows.specs.set({ id: 1, name: 'Colour', goods_id: 9 });
  const lastIds = { ...perKind(() => 0), specs: 1 };
  const head = { sequence: 7, digest: 'f'.repeat(64), time: archived.store.snapshot().time };
  const state = new State({ ...head, lastIds, rows });
  const name = baseName({ ...head, schema: SCHEMA_VERSION });
  await archived.objects.putBase(name, inTurns(baseSlices(state.snapshot())));
  assert.match(
    await refusalOf(archived, {}),
    `bases/${name}: specification 1: spu_id: 9 does not exist`,
  );
});

test('a base of an earlier schema version is restored with its change sets, in the current form', async () => {
  const schema = 3;
  const directory = fixture(schema);
  const objects = new ArchiveObjects(new MemoryObjects(), null);
  const base = readFileSync(join(directory, 'catalog.json'));
  const { sequence, time, previous: digest } = JSON.parse(base.toString());
  await objects.putBase(baseName({ sequence, schema, time, digest }), inTurns([base]));
  const names = readdirSync(join(directory, 'changes')).toSorted();
  const lines = names.map((name) => readFileSync(join(directory, 'changes', name)));
  const last = JSON.parse(lines.at(-1)?.toString() ?? '');
  const place = { first: sequence + 1, last: last.sequence, time: last.time, digest: last.sha256 };
  await objects.putChanges(changesName(place), lines);
  const state = await readArchive(objects, {});
  const recovered = recover(quickDisk, directory, 'older');
  assert.is(textOf(state), recovered && textOf(recovered.state));
  // SKUs had no article number in that version.
  assert.is(state.get('skus', 1)?.code, null);
});

test('an archive without archive.json is restored, and the check reports it until a server starts', async () => {
  const directory = storeDirectory();
  const archived = await withFourInOne(directory);
  await archived.close();
  const text = textOf(archived.store);
  archived.network.objects.set('archive.json', Buffer.from('{"format":'));
  assert.match(await refusalOf(archived, {}), 'archive.json is not valid');
  assert.match(await refusalOf(archived, {}), 'move it away and try again');
  archived.network.objects.delete('archive.json');
  assert.is(textOf(await readArchive(archived.objects, {})), text);
  const { findings } = await checkArchive(archived.objects);
  assert.match(findings.join('\n'), 'archive.json is missing; restart the server');
  const again = await Archived.open(directory, { network: archived.network });
  await again.archived();
  await again.close();
  assert.equal((await checkArchive(archived.objects)).findings, []);
});

test('a restore and a check of an archive without archive.json need the key of its bases', async () => {
  const [own, another] = [randomBytes(32), randomBytes(32)];
  for (const [made, given, message] of [
    [own, null, 'is encrypted; name its key with --archive-key'],
    [own, another, 'was encrypted with another key'],
    [null, own, 'is not encrypted'],
  ] as const) {
    const { network } = await withThreeObjects(made);
    network.objects.delete('archive.json');
    const objects = new ArchiveObjects(network, given);
    assert.match(await failureMessage(readArchive(objects, {}), 'encryption'), message);
    assert.match(await failureMessage(checkArchive(objects), 'encryption'), message);
  }
});

test('damage within an object leaves the change sets before it', async () => {
  const archived = await withThreeObjects();
  const [first = ''] = archived.network.in('changes');
  const bytes = archived.network.objects.get(`changes/${first}`) ?? Buffer.alloc(0);
  flip(archived, `changes/${first}`, Buffer.from(bytes).lastIndexOf('put'));
  assert.match(await refusalOf(archived, {}), '--sequence 3 restores');
  assert.is((await readArchive(archived.objects, { sequence: 3 })).sequence, 3);
});

/** The object of the next change set of a store, which adds two books. */
async function objectOf(directory: string): Promise<[name: string, bytes: Buffer]> {
  const store = await openStore(directory);
  await store.transact((transaction) => [addBook()(transaction), addBook()(transaction)]);
  const [last] = await Array.fromAsync(store.encodedSince(store.sequence - 1));
  await store.close();
  if (last === undefined) throw new Error('there is no change set');
  const { sequence, time, digest } = last.changeSet;
  const name = changesName({ first: sequence, last: sequence, time, digest });
  return [`changes/${name}`, Buffer.from(last.bytes)];
}

test('a restore fails if an object is damaged, cut off, incomplete, missing, renamed, repeated, or of another history or fork', async () => {
  const directory = storeDirectory();
  const archived = await withFourInOne(directory);
  const copy = storeDirectory();
  cpSync(directory, copy, { recursive: true });
  await archived.commit(2);
  await archived.archived();
  await archived.close();
  const { objects } = archived.network;
  const whole = new Map(objects);
  const [first = ''] = archived.network.in('changes');
  assert.match(first, /^0{11}1-0{11}4-/);
  const name = `changes/${first}`;
  const bytes = whole.get(name) ?? Buffer.alloc(0);
  const flipped = Buffer.from(bytes);
  flipped[40] = (flipped[40] ?? 0) ^ 1;
  const renamed = name.replace(/[0-9a-f]{64}$/, 'f'.repeat(64));
  const [ofAnother, ofFork] = [await objectOf(storeDirectory()), await objectOf(copy)];
  const damages: [what: string, damage: () => void, message: RegExp][] = [
    ['damaged', () => objects.set(name, flipped), /checksum/],
    ['cut off', () => objects.set(name, bytes.subarray(0, -10)), /cut off/],
    [
      'without its last line',
      () => objects.set(name, bytes.subarray(0, bytes.lastIndexOf(10, bytes.length - 2) + 1)),
      /does not hold what its name says/,
    ],
    ['missing', () => void objects.delete(name), /not those between it and 0: restore 0/],
    [
      'renamed',
      () => void (objects.delete(name) && objects.set(renamed, bytes)),
      /does not hold what its name says/,
    ],
    ['repeated with another name', () => objects.set(renamed, bytes), /two servers/],
    ['beside one of another history', () => objects.set(...ofAnother), /two servers/],
    ['beside one of a fork', () => objects.set(...ofFork), /two servers/],
  ];
  assert.is((await readArchive(archived.objects, { sequence: 6 })).sequence, 6);
  for (const [what, damage, message] of damages) {
    objects.clear();
    for (const [key, value] of whole) objects.set(key, value);
    damage();
    const found = await refusalOf(archived, { sequence: 6 });
    assert.match(found, message, `${what}: ${found}`);
  }
});

test.run();
