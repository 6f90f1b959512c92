/** Answered writes survive power loss at any moment, with any loss of unsynced changes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../src/disk/disk.ts';
import { withOpen } from '../../../src/disk/durable-file.ts';
import { CatalogError, messageOf } from '../../../src/errors.ts';
import {
  encodeBackup,
  restoreBackup,
  verifyBackup,
  writeBackup,
} from '../../../src/store/backup.ts';
import { decodeBase } from '../../../src/store/files/base/base-reader.ts';
import { checkStore } from '../../../src/store/check.ts';
import type { State } from '../../../src/store/state.ts';
import { changeSetName } from '../../../src/store/files/files.ts';
import { readHead } from '../../../src/store/files/head.ts';
import {
  writeMigrationBackup,
  migrationBackupDirectory,
} from '../../../src/store/files/migration-backup.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { migrateStore } from '../../../src/store/migration.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import { ByAnswers } from '../../support/by-answers.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { Doubts, type Loss, losses } from '../../support/power-cut.ts';
import { type Random, randomFrom } from '../../support/random.ts';
import { PowerDisk, Volume } from '../../support/power-disk.ts';
import {
  type Action,
  aPlan,
  FOUNDATION,
  History,
  holding,
  type Plan,
  textOfDocument,
} from '../../support/power-history.ts';
import { fixture as fixtureOf } from '../../support/paths.ts';

/** On the real file system this holds only the lock; all other files are on disks in memory. */
const root = temporaryDirectory();
const data = join(root, 'data');

const aSeed = fc.integer({ min: 0, max: 2 ** 31 });
/** Bytes of change sets before a checkpoint: after every commit, sometimes, never. */
const smallestCheckpoint = fc.constantFrom(1, 12_000, 1e9);
/** Bytes of history that are kept: none, two or three change sets, all. */
const aHistory = fc.constantFrom(0, 12_000, 1e9);

const one = (does: Action['does'], kind: Action['kind'], picked = 0): Action[] => [
  { does, kind, picks: [picked, 0, 0], text: `${does} ${kind} ${picked}` },
];

/** At least ten change sets, so that numbers get a second digit, with groups and checkpoints. */
const SHORT: Plan = [
  [FOUNDATION],
  [one('create', 'books'), one('delete', 'skus'), one('create', 'brands')],
  [one('update', 'brands', 1)],
  [one('delete', 'books'), one('give up', 'books')],
  ...Array.from({ length: 6 }, (_, nth) => [one('create', 'categories', 8 + nth)]),
];

/** How many starts follow one another. */
const ATTEMPTS = { minLength: 2, maxLength: 5 };

/** Random histories for each property. */
const RUNS = Number(process.env['POWER_RUNS'] || 5);

/** Random losses at every moment, besides the two extremes. */
const DRAWS = 3;

function assertWhole(history: History, random: Random, draws = DRAWS): void {
  assert.equal(history.failures, []);
  assert.is(history.fault(random, draws), null);
}

/** The losses whose result differs from that of every earlier loss. */
function* different(all: Iterable<Loss>): Generator<Loss> {
  const seen = new Set<string>();
  for (const loss of all) {
    const text = loss.left.describe();
    if (!seen.has(text)) yield loss;
    seen.add(text);
  }
}

test('after power loss the state is one between the last answered and the last begun commit', async () => {
  await fc.assert(
    fc.asyncProperty(
      aPlan(8),
      smallestCheckpoint,
      aHistory,
      aSeed,
      async (plan, bytes, kept, seed) => {
        const options = { smallestCheckpoint: bytes, history: kept };
        const history = await History.run(
          new PowerDisk(root),
          data,
          [[FOUNDATION], ...plan],
          options,
        );
        assertWhole(history, randomFrom(seed));
      },
    ),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

test('after power loss the store accepts writes, assigns new ids and survives the next power loss', async () => {
  await fc.assert(
    fc.asyncProperty(aPlan(5), aPlan(4), aHistory, aSeed, async (plan, next, kept, seed) => {
      const random = randomFrom(seed);
      const options = { smallestCheckpoint: 8192, history: kept };
      const history = await History.run(
        new PowerDisk(root),
        data,
        [[FOUNDATION], ...plan],
        options,
      );
      for (let loss = 0; loss < 3; loss += 1) {
        const { at, left } = history.randomLoss(random);
        const beginning = history.after(at, left);
        const disk = new PowerDisk(root, left);
        const second = await History.run(disk, data, next, { ...options, beginning });
        assertWhole(second, random);
      }
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

test('after repeated kills and starts, power loss loses nothing that a server has served', async () => {
  await fc.assert(
    fc.asyncProperty(aPlan(5), fc.array(aPlan(2), ATTEMPTS), aSeed, async (plan, plans, seed) => {
      const random = randomFrom(seed);
      const options = { smallestCheckpoint: 8192 };
      let run = await History.run(new PowerDisk(root), data, [[FOUNDATION], ...plan], options);
      for (const next of plans) {
        const at = run.begun + random(run.disk.log.length - run.begun);
        const beginning = run.afterKill(at);
        run = await History.run(run.disk.killedAt(at), data, next, { ...options, beginning });
        assertWhole(run, random);
      }
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
});

test('a start after a kill at any moment makes the state durable before it is served', async () => {
  const options = { smallestCheckpoint: 1 };
  const run = await History.run(new PowerDisk(root), data, SHORT, options);
  for (let at = 0; at < run.disk.log.length; at += 1) {
    if (run.disk.midway(at)) continue;
    const beginning = run.afterKill(at);
    const again = await History.run(run.disk.killedAt(at), data, [], { ...options, beginning });
    assertWhole(again, randomFrom(at), 1);
  }
});

for (const bytes of [1, 12_000]) {
  test(`any subset of the unsynced changes leaves a valid state (checkpoints from ${bytes} bytes)`, async () => {
    // Names in a directory that is never synced stay uncertain: there would be too many
    // combinations.
    const disk = new PowerDisk(root, new Volume(), { spreads: false });
    const history = await History.run(disk, data, SHORT, { smallestCheckpoint: bytes });
    assert.equal(history.failures, []);
    assert.ok(history.checkpoints > 0);
    // Each round is at least one group; on a busy machine a round may be a single group.
    assert.ok(history.last >= SHORT.length, `${history.last} change sets`);
    for (const [at, volume] of disk.moments()) {
      if (disk.midway(at)) continue;
      const doubts = new Doubts(volume, randomFrom(at));
      for (const choice of doubts.all()) assert.is(history.judge(at, doubts.leave(choice)), null);
    }
  });
}

test('a crash while a store is created leaves none or an empty one, and the next start completes it', async () => {
  const disk = new PowerDisk(root);
  const first = await History.run(disk, data, [], { smallestCheckpoint: 1 });
  assertWhole(first, randomFrom(1));
  for (const { at, left } of different(losses(disk, 0, randomFrom(1), DRAWS))) {
    const beginning = first.after(at, left);
    const options = { smallestCheckpoint: 1, beginning };
    const again = await History.run(new PowerDisk(root, left), data, [[FOUNDATION]], options);
    assertWhole(again, randomFrom(at));
    assert.is(again.last, 1);
  }
});

test('a store copied without its empty changes directory is repaired durably by the start', async () => {
  const made = await History.run(new PowerDisk(root), data, [], { smallestCheckpoint: 1 });
  const bytes = (name: string) => made.disk.read(join(data, name)) as Buffer;
  const files = {
    [`data/${DATA_FILES.base}`]: bytes(DATA_FILES.base),
    [`data/${DATA_FILES.head}`]: bytes(DATA_FILES.head),
  };
  const disk = new PowerDisk(root, Volume.holding(files));
  const loaded = recover(disk, data)?.state as State;
  const options = { smallestCheckpoint: 1e9, beginning: holding(loaded) };
  const history = await History.run(disk, data, SHORT, options);
  assertWhole(history, randomFrom(1));
});

test('after a store is closed, the head on the disk names its last change set', async () => {
  const disk = new PowerDisk(root);
  const history = await History.run(disk, data, SHORT, { smallestCheckpoint: 1e9 });
  for (const { left } of losses(disk, history.closed, randomFrom(1), DRAWS)) {
    const head = readHead(new PowerDisk(root, left), join(data, DATA_FILES.head));
    assert.is(head?.sequence, history.last);
  }
});

test('a start after power loss durably updates the head to the change set that it serves', async () => {
  const disk = new PowerDisk(root);
  const first = await History.run(disk, data, SHORT, { smallestCheckpoint: 1e9 });
  const older = new Set<boolean>();
  for (const { at, left } of different(losses(disk, first.opened, randomFrom(1), 0))) {
    const beginning = first.after(at, left);
    const head = readHead(new PowerDisk(root, left), join(data, DATA_FILES.head));
    older.add(head?.sequence !== beginning.state.sequence);
    const options = { smallestCheckpoint: 1e9, beginning };
    const second = await History.run(new PowerDisk(root, left), data, [], options);
    for (const loss of losses(second.disk, second.opened, randomFrom(1), 0)) {
      const named = readHead(new PowerDisk(root, loss.left), join(data, DATA_FILES.head));
      assert.is(named?.sequence, beginning.state.sequence);
    }
  }
  assert.is(older.size, 2, 'the head is older at times, and at times it is not');
});

// The disk in memory.

const aName = fc.constantFrom('a', 'b', 'c');
const aPlace = fc.tuple(fc.constantFrom('.', '.', '.', 'd', 'd/e'), aName);
const anOperation = fc.oneof(
  fc.record({ call: fc.constantFrom('writeNew', 'unlink', 'publish', 'append'), place: aPlace }),
  fc.record({
    call: fc.constantFrom('rename', 'link', 'link and rename'),
    place: aPlace,
    to: aName,
  }),
  fc.record({ call: fc.constantFrom('mkdir', 'rmdir'), place: aPlace }),
);

type Operation = typeof anOperation extends fc.Arbitrary<infer T> ? T : never;

/** @returns the error code, if it fails, and what the directories then hold. */
async function operate(disk: Disk, top: string, operation: Operation, nth: number) {
  const [directory, name] = operation.place;
  const inside = join(top, directory);
  const path = join(inside, name);
  const to = join(inside, 'to' in operation ? operation.to : name);
  const bytes = Buffer.from(`${nth} `.repeat(nth));
  const calls: Record<Operation['call'], () => unknown> = {
    writeNew: () => disk.writeNew(path, bytes),
    unlink: () => disk.unlink(path),
    rename: () => disk.rename(path, to),
    link: () => disk.link(path, to),
    'link and rename'() {
      disk.link(path, to);
      return disk.rename(path, to);
    },
    mkdir: () => disk.mkdir(inside),
    rmdir: () => disk.rmdir(join(top, 'd/e')),
    async append() {
      const fd = await disk.create(path);
      for (const part of [bytes, bytes]) disk.write(fd, part);
      await disk.fdatasync(fd);
      disk.close(fd);
    },
    async publish() {
      const head = join(top, 'a');
      const record = { path: head, fd: disk.openRecord(head), bytes, before: null };
      await withOpen(disk, inside, async (directoryFd) => {
        const temporary = join(inside, 'temporary');
        const failed = await disk.publish({ temporary, path, bytes, directoryFd, record });
        if (failed === null) return;
        const { message, code = failed.reached } = failed;
        throw Object.assign(new Error(message), { code });
      });
      disk.close(record.fd);
    },
  };
  let code: string | undefined;
  try {
    await calls[operation.call]();
  } catch (error) {
    ({ code } = error as NodeJS.ErrnoException);
    assert.type(code, 'string', String(error));
  }
  const lists = ['.', 'd', 'd/e'].map((within) => disk.list(join(top, within)).sort());
  const files = ['.', 'd', 'd/e'].flatMap((within) =>
    ['a', 'b', 'c'].map((file) => String(disk.read(join(top, within, file)))),
  );
  return { code, lists, files };
}

test('the disk in memory behaves like the real disk', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anOperation, { maxLength: 20, size: 'max' }), async (operations) => {
      const top = temporaryDirectory();
      const memory = new PowerDisk(top);
      for (const [nth, operation] of operations.entries()) {
        assert.equal(
          await operate(memory, top, operation, nth),
          await operate(machineDisk, top, operation, nth),
        );
      }
    }),
    { numRuns: 100, includeErrorInReport: true },
  );
});

test('what is checked once for several disks is what the check finds on each of them', async () => {
  const disk = new PowerDisk(root, new Volume(), { forgets: () => true });
  const history = await History.run(disk, data, SHORT, { smallestCheckpoint: 12_000 });
  let checks = 0;
  const check = (found: Disk) => {
    checks += 1;
    try {
      const { findings, state } = checkStore(found, data);
      return { findings, text: state === null ? null : textOfDocument(state) };
    } catch (error) {
      return messageOf(error);
    }
  };
  const once = new ByAnswers(check);
  const lost = Array.from({ length: 200 }, (_, nth) => history.randomLoss(randomFrom(nth)).left);
  const found = lost.map((left) => once.of(new PowerDisk(root, left)));
  assert.ok(checks < lost.length, `${checks} checks`);
  const results = lost.map((left) => check(new PowerDisk(root, left)));
  assert.equal(found, results);
  assert.ok(new Set(results.map((each) => JSON.stringify(each))).size > 10);
});

// Disks that ignore some syncs. They show that the tests above fail if that sync is missing.

const FORGETTING: Readonly<Record<string, (path: string) => boolean>> = {
  'every sync': () => true,
  'the syncs of files before their rename': (path) => path.endsWith('.tmp'),
  'the syncs of the change sets’ directory': (path) => path === join(data, DATA_FILES.changes),
  'the syncs of the data directory': (path) => path === data,
  'the syncs of its parent directory': (path) => path === root,
};

for (const [what, forgets] of Object.entries(FORGETTING)) {
  test(`a disk that ignores ${what} is found to lose answered writes`, async () => {
    const disk = new PowerDisk(root, new Volume(), { forgets });
    const history = await History.run(disk, data, SHORT, { smallestCheckpoint: 1 });
    assert.equal(history.failures, []);
    assert.type(history.fault(randomFrom(1), 0), 'string');
  });
}

test('if change sets are lost and the head survives, the start names the first lost one', async () => {
  const disk = new PowerDisk(root, new Volume(), { forgets: () => true });
  const { last, failures } = await History.run(disk, data, SHORT, { smallestCheckpoint: 1e9 });
  assert.equal(failures, []);
  const volume = disk.volume;
  const doubts = new Doubts(volume, randomFrom(1));
  const changes = volume.find(`data/${DATA_FILES.changes}`);
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: last }), { minLength: 1 }), (lost) => {
      const names = new Set(lost.map((sequence) => changeSetName(sequence)));
      const choice = doubts.without(
        (node, name) => node === changes && names.has(join(DATA_FILES.changes, name)),
      );
      const first = join(data, changeSetName(Math.min(...lost)));
      assert.throws(
        () => recover(new PowerDisk(root, doubts.leave(choice)), data),
        (error: unknown) =>
          error instanceof CatalogError &&
          error.code === 'store_damaged' &&
          error.message.startsWith(`${first} is damaged: it is missing, and `),
      );
    }),
    { numRuns: 200, includeErrorInReport: true },
  );
});

// Migration.

/** The data directory of an earlier version: its change sets and the named other files. */
function stored(version: number, beside: readonly string[]): Volume {
  const fixture = fixtureOf(version);
  const changes = readdirSync(join(fixture, DATA_FILES.changes)).map((name) =>
    join(DATA_FILES.changes, name),
  );
  const files = [...beside, ...changes].map(
    (name) => [`data/${name}`, readFileSync(join(fixture, name))] as const,
  );
  return Volume.holding(Object.fromEntries(files));
}

const version1 = stored(1, [DATA_FILES.base]);
const migrating = recover(new PowerDisk(root, version1), data, 'older')?.state as State;
const migratingText = textOfDocument(migrating);
const kept = migrationBackupDirectory(data, 1);

/** @returns the version of a directory, which has to hold the state before the migration. */
function versionOf(disk: Disk, directory: string): number {
  const loaded = recover(disk, directory, 'older');
  assert.is(loaded?.state.sequence, migrating.sequence);
  assert.is(loaded?.state.digest, migrating.digest);
  assert.is(textOfDocument(loaded?.state as State), migratingText);
  return loaded?.schema as number;
}

const judgements = new ByAnswers((disk) => {
  const version = versionOf(disk, data);
  if (version === SCHEMA_VERSION) assert.is(versionOf(disk, kept), 1);
  return version;
});

/** Checks what a power loss in a migration left. @returns the version. */
function judgeMigration(disk: PowerDisk): number {
  return judgements.of(disk);
}

async function migrateAgain(disk: PowerDisk): Promise<void> {
  await migrateStore(data, disk);
  assert.is(judgeMigration(disk), SCHEMA_VERSION);
  assert.equal(checkStore(disk, data).findings, []);
}

for (const links of [true, false]) {
  const where = links ? '' : ', on a file system without links';
  test(`power loss in a migration leaves the old or the new version, and a rerun completes${where}`, async () => {
    const disk = new PowerDisk(root, version1, { links });
    await migrateAgain(disk);
    assert.equal(disk.list(join(data, DATA_FILES.changes)), []);
    const random = randomFrom(7);
    const versions = new Set<number>();
    for (const { left } of different(losses(disk, 0, random, DRAWS))) {
      const found = new PowerDisk(root, left, { links });
      versions.add(judgeMigration(found));
      // A tenth is enough: the others differ only in what the first step removes.
      if (random(10) === 0) await migrateAgain(found);
    }
    assert.equal([...versions], [1, SCHEMA_VERSION]);
    for (const { left } of losses(disk, disk.log.length, random, DRAWS)) {
      assert.is(judgeMigration(new PowerDisk(root, left)), SCHEMA_VERSION);
    }
  });
}

test('the migration backup is durable once it is written', async () => {
  const disk = new PowerDisk(root, version1);
  const { files = [] } = recover(disk, data, 'older') ?? {};
  const names = files.map(({ sequence }) => changeSetName(sequence));
  await writeMigrationBackup(disk, data, 1, names);
  for (const { left } of losses(disk, disk.log.length, randomFrom(1), DRAWS)) {
    assert.is(versionOf(new PowerDisk(root, left), kept), 1);
  }
});

test('power loss in a migration from version 2 leaves the old or the new version, with its head', async () => {
  const disk = new PowerDisk(root, stored(2, [DATA_FILES.base, DATA_FILES.head]));
  const text = (at: PowerDisk, directory: string) =>
    textOfDocument(recover(at, directory, 'older')?.state as State);
  const before = text(disk, data);
  await migrateStore(data, disk);
  const versions = new Set<number | undefined>();
  for (const { left } of different(losses(disk, 0, randomFrom(7), DRAWS))) {
    const found = new PowerDisk(root, left);
    assert.is(text(found, data), before);
    const version = recover(found, data, 'older')?.schema;
    versions.add(version);
    if (version !== SCHEMA_VERSION) continue;
    assert.is(recover(found, migrationBackupDirectory(data, 2), 'older')?.schema, 2);
    assert.is(text(found, migrationBackupDirectory(data, 2)), before);
  }
  assert.equal([...versions], [2, SCHEMA_VERSION]);
});

test('power loss in a rerun of a killed migration leaves the old or the new version', async () => {
  const disk = new PowerDisk(root, version1);
  await migrateAgain(disk);
  const random = randomFrom(8);
  for (let at = 0; at <= disk.log.length; at += 1 + random(4)) {
    if (disk.midway(at)) continue;
    const again = disk.killedAt(at);
    await migrateAgain(again);
    for (const { left } of different(losses(again, at, random, 1))) {
      judgeMigration(new PowerDisk(root, left));
    }
  }
});

test('the files of the earlier version are kept until the next base is durable, then removed', async () => {
  const disk = new PowerDisk(root, version1);
  await migrateAgain(disk);
  const [left] = losses(disk, disk.log.length, randomFrom(1), 0);
  const migrated = new PowerDisk(root, left?.left);
  const plan = Array.from({ length: 10 }, () => [one('create', 'books')]);
  const options = { smallestCheckpoint: 1, beginning: holding(migrating) };
  const history = await History.run(migrated, data, plan, options);
  assertWhole(history, randomFrom(1));
  assert.ok(history.checkpoints > 0);
  assert.equal(migrated.list(kept), []);
  const isBeforeNext = new ByAnswers((found) => {
    const base = found.read(join(data, DATA_FILES.base)) as Buffer;
    if (decodeBase(DATA_FILES.base, base).state.sequence === migrating.sequence) {
      assert.is(versionOf(found, kept), 1);
      return true;
    }
    // Partly removed files must not open as a store that ends earlier.
    const sequence = sequenceOf(found, kept);
    assert.ok(sequence === null || sequence === migrating.sequence, `ends at ${sequence}`);
    return false;
  });
  const found = [...different(losses(migrated, 0, randomFrom(1), 1))].map((loss) =>
    isBeforeNext.of(new PowerDisk(root, loss.left)),
  );
  assert.ok(found.includes(true));
});

/** The last sequence of a directory; null if it does not open as a store. */
function sequenceOf(disk: Disk, directory: string): number | null {
  try {
    return recover(disk, directory, 'older')?.state.sequence ?? null;
  } catch (error) {
    if (error instanceof CatalogError) return null;
    throw error;
  }
}

// Backup and restore.

async function documentOfBackup(): Promise<State> {
  const disk = new PowerDisk(root);
  await History.run(disk, data, SHORT, { smallestCheckpoint: 1e9 });
  const document = recover(disk, data)?.state as State;
  return verifyBackup('backup', encodeBackup({ state: document })).state;
}

/** @returns whether there is a store; if there is none, a start must not create one over it. */
function judgeRestore(disk: PowerDisk, document: State): boolean {
  let loaded: ReturnType<typeof recover>;
  try {
    loaded = recover(disk, data);
  } catch (error) {
    const half = `${join(data, DATA_FILES.base)} is damaged: it is missing, and ${DATA_FILES.head} is there`;
    if (!(error instanceof CatalogError && error.message.startsWith(half))) throw error;
    return false;
  }
  if (loaded === null) {
    // With a head but without a base, a start would begin a second history.
    assert.is(disk.read(join(data, DATA_FILES.head)), null);
    return false;
  }
  assert.is(loaded.state.sequence, document.sequence);
  assert.is(textOfDocument(loaded.state), textOfDocument(document));
  assert.equal(checkStore(disk, data).findings, []);
  return true;
}

async function restoreAgain(disk: PowerDisk, document: State): Promise<void> {
  const there = judgeRestore(disk, document);
  const restoring = restoreBackup(disk, document, data);
  const refused = (error: unknown) => (error as CatalogError).code;
  assert.is(
    await restoring.then(() => 'restored', refused),
    there ? 'store_not_empty' : 'restored',
  );
  assert.ok(judgeRestore(disk, document));
}

test('power loss in a restore leaves no store or the whole store, and a rerun completes', async () => {
  const document = await documentOfBackup();
  const disk = new PowerDisk(root);
  await restoreBackup(disk, document, data);
  const done = disk.log.length;
  const random = randomFrom(9);
  const outcomes = new Set<boolean>();
  for (const { left } of different(losses(disk, 0, random, DRAWS))) {
    const found = new PowerDisk(root, left);
    outcomes.add(judgeRestore(found, document));
    await restoreAgain(found, document);
  }
  assert.equal([...outcomes], [false, true]);
  for (const { left } of losses(disk, done, random, DRAWS)) {
    assert.ok(judgeRestore(new PowerDisk(root, left), document));
  }
});

test('the rerun of a killed restore, and the start after it, survive power loss', async () => {
  const document = await documentOfBackup();
  const disk = new PowerDisk(root);
  await restoreBackup(disk, document, data);
  for (let at = 0; at <= disk.log.length; at += 1) {
    if (disk.midway(at)) continue;
    const again = disk.killedAt(at);
    await restoreAgain(again, document);
    const options = { smallestCheckpoint: 1, beginning: holding(document) };
    const { opened, failures } = await History.run(again, data, [], options);
    assert.equal(failures, []);
    for (const { at: moment, left } of losses(again, at, randomFrom(at), 1)) {
      const there = judgeRestore(new PowerDisk(root, left), document);
      assert.ok(there || moment < opened, `lost after ${moment} changes, open after ${opened}`);
    }
  }
});

for (const before of ['an older backup', 'no backup', 'no directory']) {
  test(`power loss in a backup to a path with ${before} leaves that or the new backup`, async () => {
    const document = await documentOfBackup();
    const older = before === 'an older backup' ? Buffer.from('the older backup') : null;
    const files = before === 'no directory' ? {} : { 'backups/other.json': Buffer.from('another') };
    const origin = Volume.holding(older ? { ...files, 'backups/b.json': older } : files);
    const into = join(root, 'backups');
    const path = join(into, 'b.json');
    const disk = new PowerDisk(root, origin);
    await writeBackup(disk, { state: document }, path);
    const whole = Buffer.concat([...encodeBackup({ state: document })]);
    assert.equal(disk.read(path), whole);
    for (const { at, left } of losses(disk, 0, randomFrom(1), DRAWS)) {
      const found = new PowerDisk(root, left).read(path);
      const isNew = found?.equals(whole) === true;
      const isOld = older === null ? found === null : found?.equals(older) === true;
      assert.ok(
        isNew || (isOld && at < disk.log.length),
        `after ${at} changes: ${left.describe()}`,
      );
    }
  });
}

test.run();
