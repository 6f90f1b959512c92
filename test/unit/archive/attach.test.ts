/** spec 15.3: what a server does first with an archive that is already there. */
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArchiveObjects } from '../../../src/archive/archive-objects.ts';
import { attach, resume } from '../../../src/archive/attach.ts';
import { baseName, changesName } from '../../../src/archive/names.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { failureOf } from '../../support/failure.ts';
import { MemoryObjects } from '../../support/object-store.ts';

const TIME = '2026-11-21T14:27:37.505Z';

/** The digest of a change set in these tests. */
const digestOf = (sequence: number) => String(sequence).padStart(64, '0');

const base = (sequence: number) =>
  baseName({ sequence, schema: SCHEMA_VERSION, time: TIME, digest: digestOf(sequence) });

const changes = (first: number, last: number) =>
  changesName({ first, last, time: TIME, digest: digestOf(last) });

/** Lists these names, and of a folder that is left out those that were put there. */
class Listed extends MemoryObjects {
  readonly #folders: Readonly<Record<string, readonly string[]>>;
  /** The names of change sets that were listed, each time that they were. */
  readonly lists: string[][] = [];

  constructor(folders: Readonly<Record<string, readonly string[]>>) {
    super();
    this.#folders = folders;
  }

  override async *list(folder: string, after: string): AsyncGenerator<string> {
    const listed: string[] = [];
    if (folder === 'changes') this.lists.push(listed);
    for (const name of this.#folders[folder] ?? this.in(folder)) {
      if (name <= after) continue;
      listed.push(name);
      yield name;
    }
  }
}

/** The change set after another one, as a store reads it from its history. */
function encodedAfter(previous: number) {
  const sequence = previous + 1;
  const digests = { previous: digestOf(previous), digest: digestOf(sequence) };
  const changeSet = { sequence, time: TIME, last_ids: {}, put: {}, delete: {}, ...digests };
  return { changeSet, bytes: Buffer.from('') };
}

/**
 * Attaches a store whose history begins after `oldest`, and whose last change set is `sequence`.
 *
 * @param recorded the id of the archive that the store was archived in before.
 */
async function attached(
  network: MemoryObjects,
  oldest: number,
  sequence: number,
  recorded: string | null = 'archive',
) {
  const objects = new ArchiveObjects(network, null);
  await objects.createManifest('archive');
  const digest = digestOf(sequence);
  const encodedSince = (after: number) => Readable.from([encodedAfter(after)]);
  const store = { sequence, digest, oldest, encodedSince };
  const record = { read: () => recorded, write: async () => {} };
  await attach(objects, store, record, 'writer');
  return { ...(await resume(objects, store)), gaps: [...(await objects.gaps())] };
}

const HISTORIES: readonly (readonly [string, number, number, Record<string, string[]>])[] = [
  [
    'change sets before the second base are missing',
    20,
    30,
    { bases: [base(10), base(30)], changes: [changes(11, 15), changes(16, 20)] },
  ],
  [
    'those after the second base are there, and those before it are missing',
    15,
    35,
    { bases: [base(10), base(30)], changes: [changes(11, 15), changes(31, 35)] },
  ],
  [
    'some after the last base are missing, and later ones are there',
    35,
    50,
    { bases: [base(10), base(30)], changes: [changes(11, 30), changes(31, 35), changes(41, 50)] },
  ],
  [
    'the first after the last base are missing, and later ones are there',
    30,
    50,
    { bases: [base(10), base(30)], changes: [changes(11, 30), changes(41, 50)] },
  ],
  [
    'nothing is missing',
    30,
    30,
    {
      bases: [base(10), base(20), base(30)],
      changes: [changes(11, 15), changes(15, 30), changes(16, 25)],
    },
  ],
  [
    'a gap is known, and later change sets are missing',
    25,
    50,
    {
      bases: [base(10), base(20), base(50)],
      changes: [changes(11, 15), changes(19, 25), changes(40, 45)],
      gaps: ['000000000015'],
    },
  ],
  [
    'the first base has none, and the second one has',
    10,
    25,
    { bases: [base(10), base(20)], changes: [changes(21, 25)] },
  ],
];

for (const [what, expected, sequence, folders] of HISTORIES) {
  test(`archiving continues after change set ${expected}: ${what}`, async () => {
    const { position } = await attached(new Listed(folders), 0, sequence);
    assert.is(position?.sequence, expected);
  });
}

test('missing change sets that the store no longer keeps are skipped', async () => {
  const network = new Listed({
    bases: [base(10), base(30)],
    changes: [changes(11, 15), changes(31, 35)],
  });
  const { position, lostAfter } = await attached(network, 20, 35);
  assert.equal([position?.sequence, lostAfter], [35, null]);
  const afterBase = new Listed({ bases: [base(10)], changes: [changes(11, 15), changes(21, 25)] });
  assert.is((await attached(afterBase, 20, 25)).position?.sequence, 25);
});

/** What the store keeps begins after `oldest`; the archive ends with bases that nothing follows. */
const LOSSES: readonly (readonly [number, number | null, readonly number[]])[] = [
  [15, 15, []],
  [16, 30, [15]],
  [30, 30, [15]],
  [31, 40, [15, 30]],
  [40, 40, [15, 30]],
  [41, null, [15, 30, 40]],
];

for (const [oldest, expected, gaps] of LOSSES) {
  const where = expected === null ? 'with a new base' : `after change set ${expected}`;
  test(`if change sets up to ${oldest} are lost, archiving continues ${where}, and each gap is noted once`, async () => {
    const network = new Listed({
      bases: [base(10), base(30), base(40)],
      changes: [changes(11, 12), changes(13, 15)],
    });
    const first = await attached(network, oldest, 50);
    assert.equal([first.position?.sequence ?? null, first.gaps], [expected, gaps]);
    assert.is(first.lostAfter, gaps[0] ?? null);
    const again = await attached(network, oldest, 50);
    assert.equal([again.position, again.gaps], [first.position, first.gaps]);
    assert.is(again.lostAfter, null);
  });
}

test('the list of change sets is not read beyond those that are missing', async () => {
  const network = new Listed({
    bases: [base(10), base(30)],
    changes: [changes(11, 20), changes(25, 28), changes(31, 40), changes(41, 50)],
  });
  assert.is((await attached(network, 0, 50)).position?.sequence, 20);
  assert.equal(network.lists.at(-1), [changes(11, 20), changes(25, 28)]);
});

test('an archive that ends before the history of the store is used only if the store was archived in it', async () => {
  const listed = () => new Listed({ bases: [base(10)], changes: [changes(11, 15)] });
  const { position, lostAfter } = await attached(listed(), 20, 30);
  assert.equal([position, lostAfter], [null, 15]);
  for (const recorded of [null, 'another archive']) {
    const network = listed();
    const { code, message } = await failureOf(attached(network, 20, 30, recorded));
    assert.is(code, 'archive_refused');
    assert.match(message, 'ends with change set 15, which the store no longer keeps');
    assert.equal([...network.objects.keys()], ['archive.json'], 'it is not claimed');
  }
});

test('an archive that ends with another change set of the same number is refused', async () => {
  const fork = changesName({ first: 11, last: 20, time: TIME, digest: digestOf(99) });
  const network = new Listed({ bases: [base(10)], changes: [fork] });
  // Not even a directory that has written the archive before may continue it.
  const { code, message } = await failureOf(attached(network, 0, 20));
  assert.is(code, 'archive_refused');
  assert.match(message, 'its change set 20 differs from that of this store');
  assert.equal([...network.objects.keys()], ['archive.json'], 'it is not claimed');
});

test.run();
