/**
 * A store on a disk that returns errors: the write is refused, the earlier state stays, and the
 * store continues. Every step of every operation is made to fail in turn.
 */
import fs, {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import type { Steps } from '../../../src/disk/publish.ts';
import { CatalogError } from '../../../src/errors.ts';
import { KIND_NAMES } from '../../../src/model/kind.ts';
import { restoreBackup, verifyBackup, writeBackup } from '../../../src/store/backup.ts';
import type { State } from '../../../src/store/state.ts';
import type { Transaction } from '../../../src/store/writer/draft.ts';
import { changeSetName, listChanges } from '../../../src/store/files/files.ts';
import { readHead } from '../../../src/store/files/head.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { migrateStore } from '../../../src/store/migration.ts';
import { SCHEMA_VERSION } from '../../../src/store/files/schema.ts';
import type { ReadableStore } from '../../../src/store/readable-store.ts';
import { readSnapshot } from '../../../src/store/directory.ts';
import { Store } from '../../../src/store/store.ts';
import { baseOf } from '../../support/bases.ts';
import { addBook } from '../../support/books.ts';
import { filesOf } from '../../support/catalog.ts';
import { findingsOf, openStore, storeDirectory } from '../../support/checked.ts';
import { withClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { publishWith, quickDisk } from '../../support/disk.ts';
import { codeOf, failureOf, outcomeOf } from '../../support/failure.ts';
import { type Refusal, RefusingDisk, type Step } from '../../support/refusing-disk.ts';
import { temporariesBelow } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';
import { fixture } from '../../support/paths.ts';

const FIXTURE = fixture(1);

/** Where a migration keeps the files of version 1. */
const KEPT = 'migrated-from-1';

/** The most small change sets that do not make a checkpoint due. */
const BEFORE_CHECKPOINT = 3;

/** In bytes; a small change set counts as a block of 4 KiB. */
const SMALLEST_CHECKPOINT = BEFORE_CHECKPOINT * 4096;

interface Opened {
  readonly store: Store;
  readonly disk: RefusingDisk;
  readonly directory: string;
  readonly failures: readonly Error[];
  readonly fatalities: readonly Error[];
}

/** A store that is checked after the test and compared with its files. */
async function open(directory = storeDirectory()): Promise<Opened> {
  return openWith(directory, new RefusingDisk(), openStore);
}

/** A store that is not checked after the test, because its memory and its files may differ. */
async function openUnjudged(
  directory = temporaryDirectory(),
  disk = new RefusingDisk(),
): Promise<Opened> {
  return openWith(directory, disk, (_, options) => Store.open(options));
}

type Options = Parameters<typeof Store.open>[0];

async function openWith(
  directory: string,
  disk: RefusingDisk,
  openIn: (directory: string, options: Options) => Promise<Store>,
): Promise<Opened> {
  const failures: Error[] = [];
  const fatalities: Error[] = [];
  const store = await openIn(directory, {
    directory,
    command: 'test',
    create: true,
    disk,
    history: 0,
    smallestCheckpoint: SMALLEST_CHECKPOINT,
    onError: (error) => failures.push(error as Error),
    onFatal: (error) => fatalities.push(error as Error),
  });
  return { store, disk, directory, failures, fatalities };
}

const addBrand =
  (name: string) =>
  (transaction: Transaction): number => {
    const id = transaction.nextId('brands');
    transaction.put('brands', { id, name, logo: '', first_letter: '' });
    return id;
  };

/**
 * Adds brands in one group. The clock stands still meanwhile: a group is closed after 5 ms, and on a
 * slow machine one transaction may take longer.
 *
 * @returns the error code of each, or `done`.
 */
async function addTogether(store: Store, ...names: readonly string[]): Promise<string[]> {
  const codes: string[] = [];
  await withClock(async () => {
    const added = names.map((name) => store.transact(addBrand(name)));
    codes.push(...(await Promise.all(added.map(outcomeOf))));
  });
  return codes;
}

async function addBrands(store: Store, count: number): Promise<void> {
  for (let nth = 1; nth <= count; nth += 1) await store.transact(addBrand(`Brand ${nth}`));
}

const codesOf = (errors: readonly Error[]) =>
  errors.map((error) => (error instanceof CatalogError ? error.code : error.message));

const stateOf = (store: ReadableStore) =>
  KIND_NAMES.map((kind) => ({
    rows: [...store.ids(kind)].map((id) => store.get(kind, id)),
    lastId: store.lastId(kind),
  }));

const stateOfDocument = ({ rows, lastIds, sequence, digest }: State) => ({
  rows: KIND_NAMES.map((kind) => [...rows[kind].values()]),
  lastIds,
  sequence,
  digest,
});

const brandsOf = (store: ReadableStore) =>
  [...store.ids('brands')].map((id) => store.get('brands', id)?.['name']);

const headOf = (directory: string) =>
  readHead(machineDisk, join(directory, DATA_FILES.head))?.sequence;

const changeSetsOf = (directory: string) => listChanges(machineDisk, directory).sequences;

/**
 * Refuses a step on change sets, in `changes/` or in the directory where they are written first.
 * For `fsync` this is the step on `changes/` itself.
 */
const ofChangeSet = (directory: string, refused: Step, code: string): Refusal => {
  const changes = join(directory, DATA_FILES.changes);
  const isOfOne = (path: string) =>
    dirname(path) === changes || dirname(path).startsWith(join(directory, '.staging-'));
  return (step, path) =>
    step === refused && (step === 'fsync' ? path === changes : isOfOne(path)) ? code : null;
};

/** Refuses a step on files directly in the data directory, such as the base of a checkpoint. */
const ofBase = (directory: string, refused: Step, code: string): Refusal => {
  return (step, path) =>
    step === refused && (step === 'fsync' ? path : dirname(path)) === directory ? code : null;
};

/** The steps of a commit, and the errors that a disk may return for each. */
const COMMIT_REFUSALS: readonly (readonly [Step, readonly string[]])[] = [
  ['create', ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE', 'EACCES']],
  ['write', ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG']],
  ['fdatasync', ['ENOSPC', 'EDQUOT', 'EIO']],
  ['close', ['ENOSPC', 'EDQUOT', 'EIO']],
  ['link', ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'ETIMEDOUT']],
];

for (const [step, code] of COMMIT_REFUSALS.flatMap(([s, codes]) =>
  codes.map((c) => [s, c] as const),
)) {
  test(`if ${step} fails with ${code}, the write is refused, nothing changes and the next one works`, async () => {
    const { store, disk, directory, failures, fatalities } = await open();
    await store.transact(addBrand('First'));
    const before = stateOf(store);
    const files = filesOf(directory);
    const held = disk.descriptors;

    disk.refusal = ofChangeSet(directory, step, code);
    const both = await addTogether(store, 'Second', 'Third');
    assert.equal(both, ['write_refused', 'write_refused']);
    const change = store.transact((transaction) => {
      transaction.put('brands', { id: 1, name: 'Changed', logo: '', first_letter: '' });
    });
    assert.is(await codeOf(change), 'write_refused');
    const removal = store.transact((transaction) => transaction.delete('brands', 1));
    assert.is(await codeOf(removal), 'write_refused');
    assert.is(disk.refused.length, 3, 'one error for each group');

    assert.equal(stateOf(store), before);
    assert.is(store.select('brands', ALL).total, 1);
    assert.equal(filesOf(directory), files);
    assert.equal(temporariesBelow(directory), []);
    assert.equal(findingsOf(directory), []);
    assert.equal(disk.descriptors, held);

    disk.refusal = null;
    assert.is(await store.transact(addBrand('Fourth')), 2);
    await store.close();
    assert.equal(disk.descriptors, []);
    assert.equal(brandsOf(readSnapshot(directory)), ['First', 'Fourth']);
    assert.equal([failures, fatalities], [[], []]);
  });
}

const ALL = {
  filters: [],
  sortby: 'name',
  order: 'asc',
  offset: 0,
  limit: Number.POSITIVE_INFINITY,
} as const;

/** How a checkpoint that failed is reported. */
const RETRIED = 'a checkpoint failed and is tried again';

test('the message of a refused write contains the error of the disk', async () => {
  const { store, disk, directory } = await open();
  disk.refusal = ofChangeSet(directory, 'write', 'EDQUOT');
  try {
    await store.transact(addBrand('First'));
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /^the disk refused the write \(EDQUOT: .+\); nothing/);
  }
  await store.close();
});

for (const [isStaged, when] of [
  [false, 'at the next start'],
  [true, 'at close, if it is in the staging directory'],
] as const) {
  test(`a temporary file that cannot be removed is removed ${when}`, async () => {
    const { store, disk, directory, failures } = await open();
    if (!isStaged) disk.makeApart = async () => false;
    await store.transact(addBrand('First'));
    const unwritten = ofChangeSet(directory, 'write', 'EIO');
    const unremoved = ofChangeSet(directory, 'unlink', 'EIO');
    disk.refusal = (step, path) => unwritten(step, path) ?? unremoved(step, path);
    const refused = await store.transact(addBrand('Second')).catch((error: Error) => error.cause);
    assert.match(String(refused), /refused, write/, 'the cause is told, not what came of it');
    assert.is(temporariesBelow(directory).length, 1);
    assert.equal(findingsOf(directory), []);

    disk.refusal = null;
    assert.is(await store.transact(addBrand('Third')), 2);
    await store.close();
    assert.equal(failures, []);
    assert.is(temporariesBelow(directory).length, isStaged ? 0 : 1);
    const again = await openStore(directory, { disk: quickDisk });
    assert.equal(temporariesBelow(directory), []);
    assert.equal(brandsOf(again), ['First', 'Third']);
    await again.close();
  });
}

test('a staging directory that cannot be removed at close is reported, and the next start removes it', async () => {
  const { store, disk, directory, failures } = await open();
  await store.transact(addBrand('First'));
  disk.refusal = (step) => (step === 'rmdir' ? 'EIO' : null);
  await store.close();
  assert.match(failures.join('\n'), 'refused, rmdir');
  const staged = () => readdirSync(directory).filter((name) => name.startsWith('.staging-'));
  assert.is(staged().length, 1);
  assert.equal(findingsOf(directory), []);
  const again = await openStore(directory, { disk: quickDisk });
  assert.equal(staged(), []);
  assert.equal(brandsOf(again), ['First']);
  await again.close();
});

test('a commit whose link is reported as failed but took effect is answered', async () => {
  const { store, disk, directory, failures, fatalities } = await open();
  await store.transact(addBrand('First'));
  disk.lateRefusal = ofChangeSet(directory, 'link', 'EIO');
  assert.is(await store.transact(addBrand('Second')), 2);
  assert.is(disk.refused.length, 1);
  disk.lateRefusal = null;
  assert.is(await store.transact(addBrand('Third')), 3);
  await store.close();
  assert.equal([failures, fatalities], [[], []]);
  assert.equal(temporariesBelow(directory), []);
  assert.equal(brandsOf(readSnapshot(directory)), ['First', 'Second', 'Third']);
});

test('if another process wrote the next change set, that is a fatal error and the change set is kept', async () => {
  const { store, disk, directory, failures, fatalities } = await openUnjudged();
  await store.transact(addBrand('First'));
  // The other process writes the directory from a machine on which this lock has no effect.
  const elsewhere = temporaryDirectory();
  cpSync(directory, elsewhere, { recursive: true });
  const other = await Store.open({
    directory: elsewhere,
    command: 'other',
    create: false,
    onError: () => assert.unreachable(),
    onFatal: () => assert.unreachable(),
  });
  await other.transact(addBrand('Of the other'));
  const name = changeSetName(2);
  cpSync(join(elsewhere, name), join(directory, name));

  const together = await addTogether(store, 'Second', 'Third');
  assert.equal(together, ['second_writer', 'second_writer']);
  assert.equal([codesOf(failures), codesOf(fatalities)], [[], ['second_writer']]);
  const { message } = fatalities[0] as Error;
  assert.match(message, 'another process is writing to this store');
  assert.ok(message.includes(join(directory, name)), message);
  assert.equal(brandsOf(store), ['First']);
  assert.equal(disk.refused, []);
  await store.close();
  assert.equal(temporariesBelow(directory), []);
  assert.equal(findingsOf(directory), []);
  assert.equal(brandsOf(readSnapshot(directory)), ['First', 'Of the other']);
  await other.close();
});

/** Does to the head what a start does that finds one that is not up to date. */
function replaceHead(directory: string): void {
  const path = join(directory, DATA_FILES.head);
  cpSync(path, `${path}.new`);
  renameSync(`${path}.new`, path);
}

/**
 * What a process has done when another one opens its directory: its commits, and a restart. In the
 * last case the other one starts before the head of the last commit is written, and replaces it.
 */
const HISTORIES = [
  ['created the store', 0, false, false],
  ['committed', 1, false, false],
  ['started again', 1, true, false],
  ['not yet written the head of its commit', 1, false, true],
] as const;

for (const [what, commits, isRestarted, isReplaced] of HISTORIES) {
  test(`if another process wrote the next change set and removed it after a checkpoint, that is a fatal error: this one has ${what}`, async () => {
    let opened = await openUnjudged();
    const { directory } = opened;
    opened.disk.refusal = (step) => {
      if (isReplaced && step === 'record') replaceHead(directory);
      return null;
    };
    await addBrands(opened.store, commits);
    opened.disk.refusal = null;
    if (isRestarted) {
      await opened.store.close();
      opened = await openUnjudged(directory);
    }
    const { store, failures, fatalities } = opened;
    const next = changeSetName(commits + 1);
    // As if the file system did not share locks: the other process finds none.
    rmSync(join(directory, DATA_FILES.lock));
    const other = await Store.open({
      directory,
      command: 'other',
      create: false,
      smallestCheckpoint: 1,
      history: 0,
      onError: () => assert.unreachable(),
      onFatal: () => assert.unreachable(),
    });
    await other.transact(addBrand('Of the other'));
    await until('the number is free again', async () => {
      await other.transact(addBrand('Of the other, too'));
      return !existsSync(join(directory, next));
    });
    const { code, message } = await failureOf(store.transact(addBrand('Next')));
    assert.is(code, 'second_writer');
    const head = join(directory, DATA_FILES.head);
    assert.match(message, `it has overwritten, replaced or removed ${head}; nothing was changed`);
    assert.equal([codesOf(failures), codesOf(fatalities)], [[], ['second_writer']]);
    assert.not.ok(existsSync(join(directory, next)));
    const brands = brandsOf(other);
    await store.close();
    await other.close();
    assert.equal(temporariesBelow(directory), []);
    assert.equal(findingsOf(directory), []);
    assert.equal(brandsOf(readSnapshot(directory)), brands);
  });
}

test('a head that was written in part is not taken for that of another process, and the next commit writes it', async () => {
  const directory = temporaryDirectory();
  const failures: Error[] = [];
  let isTorn = false;
  const writeSync: Steps['writeSync'] = (fd, bytes, offset, length, position) => {
    const taken = isTorn && typeof position === 'number' ? Math.floor(length / 2) : length;
    return fs.writeSync(fd, bytes, offset, taken, position);
  };
  const store = await Store.open({
    directory,
    command: 'test',
    create: true,
    disk: { ...quickDisk, publish: publishWith({ writeSync }) },
    onError: (error) => failures.push(error as Error),
    onFatal: (error) => {
      throw error;
    },
  });
  await store.transact(addBrand('First'));
  isTorn = true;
  await store.transact(addBrand('Second'));
  assert.match(
    failures.join('\n'),
    'head.json could not be written: the record was written in part',
  );
  isTorn = false;
  await store.transact(addBrand('Third'));
  assert.is(headOf(directory), 3);
  await store.close();
  assert.is(failures.length, 1);
  assert.equal(brandsOf(readSnapshot(directory)), ['First', 'Second', 'Third']);
});

/** What happens to the name that could not be synced. */
const OUTCOMES = [
  ['survived', () => {}],
  ['was lost', (directory: string) => rmSync(join(directory, changeSetName(2)))],
] as const;

for (const [outcome, befall] of OUTCOMES) {
  test(`a failed sync of changes/ is fatal, and the next start works if the change set ${outcome}`, async () => {
    const { store, disk, directory, failures, fatalities } = await openUnjudged();
    await store.transact(addBrand('First'));
    disk.refusal = ofChangeSet(directory, 'fsync', 'EIO');
    const together = await addTogether(store, 'Second', 'Third');
    assert.equal(together, ['durability_unknown', 'durability_unknown']);
    assert.equal([codesOf(failures), codesOf(fatalities)], [[], ['durability_unknown']]);
    // It is not known whether the change set is on the disk, so readers do not see it.
    assert.equal(brandsOf(store), ['First']);
    // The head does not name it either; otherwise its loss would be damage.
    assert.is(readHead(machineDisk, join(directory, DATA_FILES.head))?.sequence, 1);
    disk.refusal = null;
    await store.close();

    befall(directory);
    assert.equal(findingsOf(directory), []);
    const again = await openStore(directory, { disk: quickDisk });
    const whole = ['First', 'Second', 'Third'];
    assert.equal(brandsOf(again), outcome === 'survived' ? whole : ['First']);
    await again.transact(addBrand('Last'));
    await again.close();
  });
}

test('after a failed sync, writes fail as store_closed and nothing more is written', async () => {
  const { store, disk, directory, fatalities } = await openUnjudged();
  disk.refusal = ofChangeSet(directory, 'fsync', 'EIO');
  const together = await addTogether(store, 'First', 'Second', 'Third');
  assert.equal(new Set(together), new Set(['durability_unknown']));
  assert.is(await codeOf(store.transact(addBrand('Fourth'))), 'store_closed');
  assert.equal(changeSetsOf(directory), [1]);
  assert.is(fatalities.length, 1);
  await store.close();
});

test('a failure to write the head is reported once, commits go on, and the next write updates the head', async () => {
  const { store, disk, directory, failures, fatalities } = await open();
  await store.transact(addBrand('First'));
  const refusal: Refusal = (step, path) =>
    step === 'record' && path === join(directory, DATA_FILES.head) ? 'EIO' : null;
  disk.refusal = refusal;
  for (let nth = 2; nth <= 4; nth += 1) {
    assert.is(await store.transact(addBrand(`Brand ${nth}`)), nth);
  }
  assert.is(disk.refused.length, 3, 'every commit tries');
  assert.equal(codesOf(failures), [
    `${DATA_FILES.head} could not be written: EIO: refused, record '${join(directory, DATA_FILES.head)}'`,
  ]);
  assert.is(headOf(directory), 1);
  // An old head does no harm: a start now finds every row.
  assert.equal(findingsOf(directory), []);
  assert.is(readSnapshot(directory).count('brands'), 4);

  disk.refusal = null;
  await store.transact(addBrand('Brand 5'));
  assert.is(headOf(directory), 5);
  assert.is(failures.length, 1);
  // A new failure is reported again.
  disk.refusal = refusal;
  await store.transact(addBrand('Brand 6'));
  assert.is(failures.length, 2);
  assert.is(headOf(directory), 5);
  await store.close();
  assert.equal(fatalities, []);

  const again = await openStore(directory, { disk: quickDisk });
  assert.is(again.count('brands'), 6);
  await again.transact(addBrand('Brand 7'));
  await again.close();
  assert.is(headOf(directory), 7);
});

test('a checkpoint succeeds even if the head cannot be written', async () => {
  const opened = await open();
  const { store, disk, directory, failures } = opened;
  disk.refusal = (step) => (step === 'record' ? 'EIO' : null);
  await beginCheckpoint(opened);
  await store.close();
  assert.is(headOf(directory), 0);
  assert.is(baseOf(directory).sequence, 4);
  assert.is(failures.length, 1);
});

test('a failure to sync the head at close is reported, and every descriptor is closed', async () => {
  const { store, disk, directory, failures } = await open();
  await store.transact(addBrand('First'));
  disk.refusal = (step, path) =>
    step === 'fdatasync' && path.endsWith(DATA_FILES.head) ? 'EIO' : null;
  await store.close();
  assert.equal(codesOf(failures), [
    `${DATA_FILES.head} could not be synced: EIO: refused, fdatasync '${join(directory, DATA_FILES.head)}'`,
  ]);
  assert.equal(disk.descriptors, []);
  const again = await openStore(directory, { disk: quickDisk });
  assert.equal(brandsOf(again), ['First']);
  await again.close();
});

/** Makes a checkpoint due, and begins it with one more commit, which it does not contain. */
async function beginCheckpoint({ store }: Opened): Promise<void> {
  await addBrands(store, BEFORE_CHECKPOINT + 2);
}

/**
 * Sets what the disk refuses, and counts the checkpoints.
 *
 * @returns the number of rows each time a checkpoint began.
 */
function countCheckpoints({ store, disk, directory }: Opened, refusal: Refusal) {
  const begun: { counts: number[]; refusal: Refusal | null } = { counts: [], refusal };
  disk.refusal = (step, path) => {
    if (step === 'create' && dirname(path) === directory) begun.counts.push(store.count('brands'));
    return begun.refusal?.(step, path) ?? null;
  };
  return begun;
}

/**
 * Waits for the failure of the running checkpoint. Nothing is committed meanwhile, because change
 * sets that grow during a slow attempt make the next one due at once.
 */
function checkpointFailed({ failures }: Opened, nth = 1): Promise<void> {
  return until('the checkpoint has failed', () => failures.length >= nth);
}

/** Commits small changes until a condition holds. */
async function commitUntil(store: Store, holds: () => boolean): Promise<void> {
  await until('the background is done', async () => {
    await store.transact(addBrand('Meanwhile'));
    return holds();
  });
}

for (const [step, code] of [
  ['create', 'EMFILE'],
  ['write', 'ENOSPC'],
  ['fdatasync', 'EIO'],
  ['close', 'EDQUOT'],
  ['rename', 'EROFS'],
] as const) {
  test(`a checkpoint whose ${step} fails with ${code} is reported once, loses nothing and is tried again`, async () => {
    const opened = await open();
    const { store, disk, directory, failures, fatalities } = opened;
    const base = readFileSync(join(directory, DATA_FILES.base));
    const begun = countCheckpoints(opened, ofBase(directory, step, code));
    await beginCheckpoint(opened);
    await checkpointFailed(opened);

    assert.is(disk.refused.length, 1);
    assert.match(failures[0]?.message ?? '', new RegExp(`^${RETRIED}: ${code}: refused, ${step} `));
    assert.equal(readFileSync(join(directory, DATA_FILES.base)), base);
    assert.is(changeSetsOf(directory).length, store.count('brands'));
    assert.equal(temporariesBelow(directory), []);
    assert.equal(findingsOf(directory), []);

    begun.refusal = null;
    await commitUntil(store, () => begun.counts.length > 1);
    const before = stateOf(store);
    await store.close();
    assert.equal([failures.length, fatalities], [1, []]);
    assert.equal(stateOf(readSnapshot(directory)), before);
    // It is tried again only after the change sets have grown by the same amount again.
    const [first = 0, second = 0] = begun.counts;
    assert.is(first, BEFORE_CHECKPOINT + 1);
    assert.ok(second >= first + BEFORE_CHECKPOINT + 1, `${second} change sets`);
    // This checkpoint removed what the failed one would have removed.
    assert.is(baseOf(directory).sequence, second);
    assert.is(changeSetsOf(directory)[0], second + 1);
    assert.equal(disk.descriptors, []);
  });
}

test('if changes/ is replaced during a commit, it fails as durability_unknown, which is fatal', async () => {
  const { store, disk, directory, fatalities } = await openUnjudged();
  const changes = join(directory, DATA_FILES.changes);
  disk.refusal = (step, path) => {
    if (step === 'create' && dirname(path) === changes) {
      renameSync(changes, `${changes}-away`);
      mkdirSync(changes);
    }
    // So that the file is written in changes/ itself.
    return step === 'makeApart' ? 'EIO' : null;
  };
  const failure = await store.transact(addBrand('First')).then(() => null, String);
  assert.match(failure ?? '', 'changes was replaced after the store was opened');
  assert.equal(codesOf(fatalities), ['durability_unknown']);
  assert.is(store.count('brands'), 0);
  await store.close();
});

test('a restore does not replace a store that was made while it waited for the directory', async () => {
  const state = recover(machineDisk, FIXTURE, 'older')?.state;
  assert.ok(state);
  const other = temporaryDirectory();
  await restoreBackup(quickDisk, state, other);
  const directory = temporaryDirectory();
  let isMade = false;
  const list = (path: string): string[] => {
    const names = quickDisk.list(path);
    if (path === directory && !isMade) {
      isMade = true;
      cpSync(other, directory, { recursive: true });
    }
    return names;
  };
  const restore = restoreBackup({ ...quickDisk, list }, state, directory);
  assert.is(await codeOf(restore), 'store_not_empty');
  assert.equal(filesOf(directory), filesOf(other));
});

test('the observer learns of a write before the disk has ended it', async () => {
  const directory = storeDirectory();
  let answered = Promise.resolve();
  let isWriting = false;
  const store = await openStore(directory, {
    disk: { ...quickDisk, publish: (job) => answered.then(() => quickDisk.publish(job)) },
    observer: {
      appending(writing) {
        isWriting = true;
        void writing.then(() => (isWriting = false));
      },
      committed() {},
      checkpointed() {},
    },
  });
  const answer = Promise.withResolvers<void>();
  answered = answer.promise;
  const written = store.transact(addBook());
  await until('the disk writes', () => isWriting);
  answer.resolve();
  await written;
  assert.not.ok(isWriting);
  await store.close();
});

test('the observer learns of every checkpoint whether it failed', async () => {
  const directory = storeDirectory();
  const disk = new RefusingDisk();
  const outcomes: boolean[] = [];
  const store = await openStore(directory, {
    disk,
    smallestCheckpoint: SMALLEST_CHECKPOINT,
    observer: {
      appending() {},
      committed() {},
      checkpointed: ({ failed }) => outcomes.push(failed),
    },
    onError() {},
  });
  disk.refusal = ofBase(directory, 'write', 'ENOSPC');
  await commitUntil(store, () => outcomes.length === 1);
  disk.refusal = null;
  await commitUntil(store, () => outcomes.length === 2);
  await store.close();
  // On a busy machine the commits may have begun another one.
  const [first, ...later] = outcomes;
  assert.equal([first, ...new Set(later)], [true, false]);
});

test('a checkpoint that fails repeatedly is reported each time, and loses nothing', async () => {
  const opened = await open();
  const { store, directory, failures } = opened;
  const begun = countCheckpoints(opened, ofBase(directory, 'write', 'ENOSPC'));
  for (let nth = 1; nth <= 4; nth += 1) {
    await commitUntil(store, () => begun.counts.length === nth);
    await checkpointFailed(opened, nth);
    assert.is(failures.length, nth);
    const before = begun.counts.at(-2) ?? 0;
    assert.ok((begun.counts.at(-1) ?? 0) > before + BEFORE_CHECKPOINT, begun.counts.join());
    assert.is(changeSetsOf(directory).length, store.count('brands'));
    assert.equal(findingsOf(directory), []);
  }
  await store.close();
  assert.is(failures.length, 4);
});

test('a temporary base that a failed checkpoint cannot remove is removed at the next start', async () => {
  const opened = await open();
  const { store, disk, directory, failures } = opened;
  disk.refusal = (step, path) =>
    ofBase(directory, 'write', 'ENOSPC')(step, path) ??
    ofBase(directory, 'unlink', 'EIO')(step, path);
  await beginCheckpoint(opened);
  await store.close();
  assert.is(failures.length, 1);
  assert.match(failures[0]?.message ?? '', new RegExp(`^${RETRIED}: ENOSPC: refused, write `));
  assert.is(temporariesBelow(directory).length, 1);
  const again = await openStore(directory, { disk: quickDisk });
  assert.is(again.count('brands'), 5);
  assert.equal(temporariesBelow(directory), []);
  await again.close();
});

test('a checkpoint that cannot sync the data directory is fatal, and either base is a whole store', async () => {
  const opened = await openUnjudged();
  const { store, disk, directory, failures, fatalities } = opened;
  const old = readFileSync(join(directory, DATA_FILES.base));
  disk.refusal = ofBase(directory, 'fsync', 'EIO');
  await beginCheckpoint(opened);
  await until('the checkpoint has failed', () => fatalities.length > 0);
  assert.is(await codeOf(store.transact(addBrand('After the failure'))), 'store_closed');
  await store.close();
  assert.equal([codesOf(failures), codesOf(fatalities)], [[], ['durability_unknown']]);
  // The new base may not survive, so every change set is kept.
  assert.is(baseOf(directory).sequence, 4);
  assert.equal(changeSetsOf(directory), [1, 2, 3, 4, 5]);
  assert.equal(findingsOf(directory), []);
  const before = stateOf(store);
  assert.equal(stateOf(readSnapshot(directory)), before);
  writeFileSync(join(directory, DATA_FILES.base), old);
  assert.equal(findingsOf(directory), []);
  assert.equal(stateOf(readSnapshot(directory)), before);
});

for (const nth of [1, 2, 4]) {
  test(`if the removal of change set ${nth} fails, it is reported, and the next checkpoint repeats it`, async () => {
    const opened = await open();
    const { store, directory, disk, failures, fatalities } = opened;
    const path = join(directory, changeSetName(nth));
    disk.refusal = (step, of) => (step === 'unlink' && of === path ? 'EIO' : null);
    await beginCheckpoint(opened);
    await checkpointFailed(opened);
    const what = 'old change sets could not be removed';
    assert.equal(codesOf(failures), [`${what}: EIO: refused, unlink '${path}'`]);
    assert.is(baseOf(directory).sequence, 4);
    assert.is(changeSetsOf(directory)[0], nth);
    assert.equal(findingsOf(directory), []);
    assert.equal(stateOf(readSnapshot(directory)), stateOf(store));

    disk.refusal = null;
    await commitUntil(store, () => baseOf(directory).sequence > 4);
    await store.close();
    const { sequence } = baseOf(directory);
    assert.is(changeSetsOf(directory)[0], sequence + 1);
    assert.equal([failures.length, fatalities], [1, []]);
  });
}

/** Which operations of a disk fail: only the n-th, or the n-th and all after it. */
const MODES = ['alone', 'and all that follow'] as const;
type Mode = (typeof MODES)[number];

/**
 * Calls `attempt` with disks that refuse the first operation, the second, and so on, until no
 * operation is refused.
 *
 * @returns the number of operations.
 */
async function refuseEach(
  mode: Mode,
  attempt: (disk: RefusingDisk, nth: number) => Promise<void>,
): Promise<number> {
  for (let nth = 1; ; nth += 1) {
    const disk = new RefusingDisk();
    let operations = 0;
    disk.refusal = () => {
      operations += 1;
      return operations === nth || (operations > nth && mode !== 'alone') ? 'EIO' : null;
    };
    await attempt(disk, nth);
    if (disk.refused.length === 0) return nth - 1;
  }
}

/** The error of `action`, which must be that of the disk; null if it succeeds. */
async function refusalOf(action: Promise<unknown>): Promise<Error | null> {
  try {
    await action;
    return null;
  } catch (error) {
    assert.match((error as Error).message, /EIO: refused, \w+ '.+'/);
    return error as Error;
  }
}

/** A copy of the stored directory of schema version 1. */
function earlierStore(): string {
  const directory = temporaryDirectory();
  cpSync(FIXTURE, directory, { recursive: true });
  return directory;
}

/** Asserts that the directory is a working store with the expected state. */
async function assertServes(directory: string, expected: State, what: string): Promise<void> {
  assert.equal(findingsOf(directory), [], what);
  const loaded = recover(machineDisk, directory);
  assert.ok(loaded, what);
  assert.equal(stateOfDocument(loaded.state), stateOfDocument(expected), what);
  const unwanted = (error: unknown) => {
    throw error;
  };
  const store = await Store.open({
    directory,
    command: 'test',
    history: 0,
    create: false,
    disk: quickDisk,
    onError: unwanted,
    onFatal: unwanted,
  });
  assert.is(await store.transact(addBrand('After')), expected.lastIds.brands + 1, what);
  await store.close();
  assert.equal(temporariesBelow(directory), [], what);
  assert.equal(findingsOf(directory), [], what);
}

for (const mode of MODES) {
  test(`if the removal of migrated files fails at any operation (${mode}), it is reported, and a later checkpoint repeats it`, async () => {
    const template = earlierStore();
    await migrateStore(template, quickDisk);
    assert.ok(existsSync(join(template, KEPT, DATA_FILES.base)));
    const operations = await refuseEach(mode, async (disk, nth) => {
      const directory = temporaryDirectory();
      cpSync(template, directory, { recursive: true });
      const refusal = disk.refusal;
      disk.refusal = null;
      const opened = await openUnjudged(directory, disk);
      const { store, failures, fatalities } = opened;
      disk.refusal = (step, path) => {
        const removes = path.includes(KEPT) || (step === 'list' && path === directory);
        return removes ? (refusal?.(step, path) ?? null) : null;
      };
      await commitUntil(store, () => changeSetsOf(directory)[0] !== 9);
      // The removal is the last step of the checkpoint: wait for it too.
      await until('it is over', () => failures.length > 0 || !existsSync(join(directory, KEPT)));
      const what = `operation ${nth}, ${disk.refused.join()}`;
      // A commit of the wait above may have begun a second checkpoint, which fails as well.
      const requireReports = () => {
        assert.is(failures.length > 0, disk.refused.length > 0, what);
        assert.ok(failures.length <= disk.refused.length, what);
        for (const { message } of failures) {
          assert.match(message, /^the backup of a migration could not be removed: EIO: /);
        }
      };
      requireReports();
      assert.equal(findingsOf(directory), [], what);

      disk.refusal = null;
      const { sequence } = baseOf(directory);
      await commitUntil(store, () => baseOf(directory).sequence > sequence);
      const before = stateOf(store);
      await store.close();
      requireReports();
      assert.equal([fatalities, disk.descriptors], [[], []], what);
      assert.not.ok(existsSync(join(directory, KEPT)), what);
      assert.equal(findingsOf(directory), [], what);
      assert.equal(stateOf(readSnapshot(directory)), before, what);
    });
    assert.ok(operations >= 10, `${operations} operations`);
  });

  test(`a store whose creation fails at any operation (${mode}) is complete or does not exist`, async () => {
    const operations = await refuseEach(mode, async (disk, nth) => {
      const directory = temporaryDirectory();
      const failures: unknown[] = [];
      const opening = Store.open({
        directory,
        command: 'test',
        history: 0,
        create: true,
        disk,
        onError: (error) => failures.push(error),
        onFatal: (error) => failures.push(error),
      });
      const failure = await refusalOf(opening);
      if (failure === null) await (await opening).close();
      const what = `operation ${nth}, ${disk.refused.join()}`;
      assert.equal(disk.descriptors, [], what);
      assert.equal(findingsOf(directory), [], what);
      const found = recover(machineDisk, directory)?.state;
      // The lock is free again, and files that are left over do no harm.
      const again = await openStore(directory, { disk: quickDisk });
      assert.is(again.created, found === undefined, what);
      assert.is(await again.transact(addBrand('First')), 1, what);
      await again.close();
      assert.equal(temporariesBelow(directory), [], what);
      if (found !== undefined) assert.is(found.sequence, 0, what);
    });
    assert.ok(operations > 20, `${operations} operations`);
  });

  test(`a start that fails at any operation (${mode}) loses nothing, and a later start succeeds`, async () => {
    // What a crash leaves: change sets that the base contains, and half-written files.
    const template = temporaryDirectory();
    const whole = await openUnjudged(template);
    whole.disk.refusal = ofChangeSet(template, 'unlink', 'EIO');
    await beginCheckpoint(whole);
    await whole.store.close();
    assert.equal(changeSetsOf(template), [1, 2, 3, 4, 5]);
    writeFileSync(join(template, '.0123456789abcdef.tmp'), 'half');
    writeFileSync(join(template, DATA_FILES.changes, '.0123456789abcdef.tmp'), 'half');
    const expected = recover(machineDisk, template)?.state;
    assert.ok(expected);

    const operations = await refuseEach(mode, async (disk, nth) => {
      const directory = temporaryDirectory();
      cpSync(template, directory, { recursive: true });
      const opening = Store.open({
        directory,
        command: 'test',
        history: 0,
        create: true,
        disk,
        onError: () => {},
        onFatal: () => {},
      });
      const failure = await refusalOf(opening);
      const what = `operation ${nth}, ${disk.refused.join()}`;
      if (failure === null) {
        const store = await opening;
        assert.is(store.created, false, what);
        assert.equal(stateOf(store), stateOf(readSnapshot(directory)), what);
        await store.close();
      }
      assert.equal(disk.descriptors, [], what);
      await assertServes(directory, expected, what);
      assert.equal(changeSetsOf(directory), [5, 6], what);
    });
    assert.ok(operations > 20, `${operations} operations`);
  });

  test(`a migration that fails at any operation (${mode}) leaves the old or the new version complete`, async () => {
    const expected = recover(machineDisk, FIXTURE, 'older')?.state;
    assert.ok(expected);
    const original = filesOf(FIXTURE);
    const versions = new Set<number>();
    const operations = await refuseEach(mode, async (disk, nth) => {
      const directory = earlierStore();
      const failure = await refusalOf(migrateStore(directory, disk));
      const what = `operation ${nth}, ${disk.refused.join()}: ${failure?.message}`;
      assert.equal(disk.descriptors, [], what);

      const loaded = recover(machineDisk, directory, 'older');
      assert.ok(loaded, what);
      assert.equal(stateOfDocument(loaded.state), stateOfDocument(expected), what);
      versions.add(loaded.schema);
      if (loaded.schema === 1) {
        assert.ok(failure, what);
        for (const [name, content] of Object.entries(original)) {
          assert.is(filesOf(directory)[name], content, `${what}: ${name}`);
        }
      }

      await migrateStore(directory, quickDisk);
      // The kept files are those of the earlier store, complete.
      assert.equal(filesOf(join(directory, KEPT)), original, what);
      await assertServes(directory, expected, what);
    });
    assert.ok(operations > 30, `${operations} operations`);
    assert.equal(versions, new Set([1, SCHEMA_VERSION]), 'both versions are met');
  });

  test(`a restore that fails at any operation (${mode}) leaves no store or the whole store`, async () => {
    const document = recover(machineDisk, FIXTURE, 'older')?.state;
    assert.ok(document);
    const outcomes = new Set<string>();
    const operations = await refuseEach(mode, async (disk, nth) => {
      const directory = temporaryDirectory();
      const failure = await refusalOf(restoreBackup(disk, document, directory));
      const what = `operation ${nth}, ${disk.refused.join()}: ${failure?.message}`;
      assert.equal(disk.descriptors, [], what);
      const there = existsSync(join(directory, DATA_FILES.base));
      outcomes.add(there ? 'whole' : 'nothing');
      const again = outcomeOf(restoreBackup(quickDisk, document, directory));
      assert.is(await again, there ? 'store_not_empty' : 'done', what);
      if (!there) assert.equal(temporariesBelow(directory), [], what);
      await assertServes(directory, document, what);
    });
    assert.ok(operations > 20, `${operations} operations`);
    assert.equal(outcomes, new Set(['nothing', 'whole']));
  });

  test(`a backup that fails at any operation (${mode}) leaves the earlier file or a complete new one`, async () => {
    const document = recover(machineDisk, FIXTURE, 'older')?.state;
    assert.ok(document);
    const operations = await refuseEach(mode, async (disk, nth) => {
      const into = temporaryDirectory();
      const path = join(into, 'catalog.json');
      writeFileSync(path, 'the backup of yesterday');
      const failure = await refusalOf(writeBackup(disk, { state: document }, path));
      const what = `operation ${nth}, ${disk.refused.join()}: ${failure?.message}`;
      assert.equal(disk.descriptors, [], what);
      const bytes = readFileSync(path);
      if (failure === null || bytes.toString() !== 'the backup of yesterday') {
        const found = verifyBackup(path, bytes).state;
        assert.equal(stateOfDocument(found), stateOfDocument(document), what);
      }
      // A disk that refuses everything refuses the removal as well.
      if (mode === 'alone') assert.equal(temporariesBelow(into), [], what);
      await writeBackup(quickDisk, { state: document }, path);
      const found = verifyBackup(path, readFileSync(path)).state;
      assert.equal(stateOfDocument(found), stateOfDocument(document), what);
    });
    assert.ok(operations > 8, `${operations} operations`);
  });
}

/** Steps of commits and checkpoints that may fail without ending the store. */
const HARMLESS: readonly Step[] = [
  'create',
  'write',
  'fdatasync',
  'close',
  'rename',
  'link',
  'unlink',
  'record',
  'list',
  'makeApart',
  'rmdir',
];

const action = fc.record({
  /** The step that fails during the action, and how often it succeeds before that. */
  refuse: fc.option(
    fc.record({ step: fc.constantFrom(...HARMLESS), after: fc.nat(3), times: fc.nat(4) }),
  ),
  what: fc.constantFrom('add', 'change', 'delete'),
  which: fc.nat(20),
  /** The number of transactions that are submitted together. */
  together: fc.integer({ min: 1, max: 3 }),
});

test('if any disk calls fail, memory and disk contain exactly what was answered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const { store, disk, directory, fatalities } = await openUnjudged();
      const expected = new Map<number, string>();
      let names = 0;
      for (const { refuse, what, which, together } of actions) {
        let passed = 0;
        disk.refusal = (step) => {
          if (step !== refuse?.step) return null;
          passed += 1;
          return passed > refuse.after && passed <= refuse.after + refuse.times + 1 ? 'EIO' : null;
        };
        const transactions = Array.from({ length: together }, async (_, index) => {
          const ids = [...expected.keys()];
          const id = ids[(which + index) % (ids.length || 1)];
          names += 1;
          const name = `Brand ${names}`;
          if (what === 'add' || id === undefined) {
            expected.set(await store.transact(addBrand(name)), name);
          } else if (what === 'change') {
            await store.transact((transaction) => {
              if (transaction.get('brands', id) === undefined) return;
              transaction.put('brands', { id, name, logo: '', first_letter: '' });
            });
            if (store.get('brands', id) !== undefined) expected.set(id, name);
          } else {
            await store.transact((transaction) => transaction.delete('brands', id));
            expected.delete(id);
          }
        });
        for (const code of await Promise.all(transactions.map(outcomeOf))) {
          assert.ok(code === 'done' || code === 'write_refused', code);
        }
        assert.equal(namesOf(store), expected);
        assert.equal(namesOf(readSnapshot(directory)), expected);
      }
      disk.refusal = null;
      await store.close();
      assert.equal([fatalities, disk.descriptors], [[], []]);
      assert.equal(findingsOf(directory), []);
      const again = await openUnjudged(directory);
      assert.equal(namesOf(again.store), expected);
      assert.equal(temporariesBelow(directory), []);
      await again.store.close();
    }),
    { numRuns: 40 },
  );
});

const namesOf = (store: ReadableStore) =>
  new Map([...store.ids('brands')].map((id) => [id, store.get('brands', id)?.['name']]));

test.run();
