/** docs/storage.md, "The files": change sets are kept for a while after a checkpoint. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openForWrites } from '../../../../src/cli/commands/open-store.ts';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../../src/disk/disk.ts';
import { checkStore } from '../../../../src/store/check.ts';
import type { ChangeSet } from '../../../../src/store/change-set.ts';
import { createStore } from '../../../../src/store/files/create.ts';
import { changeSetName, listChanges } from '../../../../src/store/files/files.ts';
import { historyOf, KeptChangeSets, verifyHistory } from '../../../../src/store/files/history.ts';
import { restoreBackup } from '../../../../src/store/backup.ts';
import { recover } from '../../../../src/store/files/recovery.ts';
import { State } from '../../../../src/store/state.ts';
import type { Store } from '../../../../src/store/store.ts';
import { addBook } from '../../../support/books.ts';
import { findingsOf, leftInDisorder, openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf, failureOf } from '../../../support/failure.ts';
import { until } from '../../../support/until.ts';

/** The least that a change set counts, in bytes. */
const BLOCK = 4096;

/** A checkpoint is due whenever there are more than three change sets. */
const open = (directory: string, history: number, disk = quickDisk): Promise<Store> =>
  openStore(directory, { disk, history, smallestCheckpoint: 3 * BLOCK });

async function commit(store: Store, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await store.transact(addBook());
}

/** Makes five commits, of which the fifth begins a checkpoint, and closes, which waits for it. */
async function commitAndClose(directory: string, history: number, disk = quickDisk): Promise<void> {
  const store = await open(directory, history, disk);
  await commit(store, 5);
  await store.close();
}

/** A closed store after 30 commits and several checkpoints. */
async function written(history: number): Promise<string> {
  const directory = storeDirectory();
  for (let times = 0; times < 6; times += 1) await commitAndClose(directory, history);
  return directory;
}

async function all(changeSets: AsyncIterable<ChangeSet>): Promise<ChangeSet[]> {
  const found: ChangeSet[] = [];
  for await (const changeSet of changeSets) found.push(changeSet);
  return found;
}

const sequencesIn = (directory: string) => listChanges(machineDisk, directory).sequences;

const baseIn = (directory: string): number =>
  JSON.parse(readFileSync(join(directory, 'catalog.json'), 'utf8')).sequence;

const upTo = (last: number, from = 1) =>
  Array.from({ length: last - from + 1 }, (_, index) => from + index);

test('within the limit, every change set is kept across starts and can be read', async () => {
  const directory = await written(1e9);
  assert.ok(baseIn(directory) > 20, 'there were no checkpoints');
  assert.equal(sequencesIn(directory), upTo(30));
  assert.equal(findingsOf(directory), []);

  const store = await open(directory, 1e9);
  await commit(store, 1);
  const found = await all(store.since(0));
  assert.equal(
    found.map(({ sequence }) => sequence),
    upTo(31),
  );
  for (const [index, { previous }] of found.entries()) {
    if (index > 0) assert.is(previous, found[index - 1]?.digest);
  }
  assert.equal(found[6]?.put.books?.[0]?.['name'], 'Book 7');
  assert.equal(
    (await all(store.since(29))).map(({ sequence }) => sequence),
    [30, 31],
  );
  assert.equal(await all(store.since(31)), []);
  await store.close();
  assert.equal(sequencesIn(directory), upTo(31));
});

test('beyond the limit, the oldest change sets are removed, and reading them fails as history_gone', async () => {
  const directory = await written(5 * BLOCK);
  const base = baseIn(directory);
  // Five before the base, and those after it, which the state needs.
  assert.equal(sequencesIn(directory), upTo(30, base - 4));
  const store = await open(directory, 5 * BLOCK);
  assert.is((await all(store.since(base - 5))).length, 30 - base + 5);
  for (const sequence of [base - 6, 0]) {
    const { code, message } = await failureOf(() => store.since(sequence));
    assert.is(code, 'history_gone');
    assert.match(message, `ask for those after ${base - 5} to 30`);
  }
  const { code, message } = await failureOf(() => store.since(31));
  assert.is(code, 'history_gone');
  assert.match(
    message,
    `after change set 31 cannot be given: there is no such change set; ask for those after ${base - 5} to 30`,
  );
  await store.close();
});

test('with a limit of 0, only the change sets after the base are kept', async () => {
  const directory = await written(0);
  assert.equal(sequencesIn(directory), upTo(30, baseIn(directory) + 1));
});

test('a restored store can give no change set before its base', async () => {
  const state = recover(machineDisk, await written(1e9))?.state;
  assert.ok(state);
  const directory = storeDirectory();
  await restoreBackup(quickDisk, state, directory);
  const store = await open(directory, 1e9);
  assert.is(store.oldest, 30);
  assert.equal(await all(store.since(30)), []);
  assert.is(await codeOf(() => store.since(29)), 'history_gone');
  await store.close();
});

test('a change set of the history that its owner removes while it is checked is no problem', async () => {
  const directory = await written(1e9);
  const base = baseIn(directory);
  // Listed before, and gone when it is read.
  rmSync(join(directory, changeSetName(base)));
  const { previous } = JSON.parse(readFileSync(join(directory, 'catalog.json'), 'utf8'));
  assert.equal(verifyHistory(machineDisk, directory, upTo(base, base - 1), previous), []);
});

test('a smaller limit takes effect at the next start', async () => {
  const directory = await written(1e9);
  const base = baseIn(directory);
  const store = await open(directory, 3 * BLOCK);
  await store.close();
  assert.equal(sequencesIn(directory), upTo(30, base - 2));
  const without = await open(directory, 0);
  assert.equal(sequencesIn(directory), upTo(30, base + 1));
  assert.is(without.oldest, base);
  assert.is(await codeOf(() => without.since(base - 1)), 'history_gone');
  assert.is((await all(without.since(base))).length, 30 - base);
  await without.close();
});

test('a command that writes removes nothing of the history, because its limit is that of the server', async () => {
  const directory = await written(1e9);
  // More than a server keeps if nothing else is set.
  const disk: Disk = { ...quickDisk, size: () => 2 ** 40 };
  const warn = (message: string) => assert.unreachable(message);
  const { store } = await openForWrites(directory, 'import', { disk, warn });
  await store.close();
  assert.equal(sequencesIn(directory), upTo(30));
});

test('change sets before a gap in the history are accepted by check and removed by a start', async () => {
  const directory = await written(1e9);
  rmSync(join(directory, changeSetName(10)));
  assert.equal(findingsOf(directory), []);
  const { kept, leftover } = recover(machineDisk, directory) ?? { kept: [], leftover: [] };
  assert.equal([kept[0], leftover], [11, upTo(9)]);
  const store = await open(directory, 1e9);
  assert.is((await all(store.since(10))).length, 20);
  assert.is(await codeOf(() => store.since(9)), 'history_gone');
  await store.close();
  assert.equal(sequencesIn(directory), upTo(30, 11));
  rmSync(join(directory, changeSetName(20)));
  await (await open(directory, 0)).close();
  assert.equal(sequencesIn(directory), upTo(30, baseIn(directory) + 1), 'without any history');
});

test('a damaged change set in the history is reported by check and by since(), but a start succeeds', async () => {
  const directory = leftInDisorder(await written(1e9));
  const path = join(directory, changeSetName(5));
  const whole = readFileSync(path);
  writeFileSync(path, whole.toString().replace('Book 5', 'Book 6'));
  assert.equal(findingsOf(directory).length, 1);
  assert.match(findingsOf(directory)[0] ?? '', `${path} is damaged: its checksum does not match`);
  const store = await open(directory, 1e9);
  const found: number[] = [];
  const reading = async () => {
    for await (const { sequence } of store.since(2)) found.push(sequence);
  };
  const { code, message } = await failureOf(reading);
  assert.is(code, 'store_damaged');
  assert.match(message, /; run catalog-server check, which says what to do$/);
  assert.equal(found, [3, 4]);
  await store.close();
});

test('check reads no further than a thousand damaged change sets of a history', async () => {
  const directory = storeDirectory();
  const last = 800_000;
  const state = State.empty();
  await createStore(quickDisk, directory, { ...state.snapshot(), sequence: last });
  const changes = join(directory, DATA_FILES.changes);
  const names = upTo(last).map((sequence) => basename(changeSetName(sequence)));
  const read = new Set<string>();
  const disk: Disk = {
    ...machineDisk,
    list: (path) => (path === changes ? names : machineDisk.list(path)),
    read(path) {
      if (dirname(path) !== changes) return machineDisk.read(path);
      if (path === join(directory, changeSetName(last + 1))) return null;
      read.add(path);
      return Buffer.from('damaged');
    },
  };
  const { findings } = checkStore(disk, directory);
  assert.equal(read, new Set(upTo(1000).map((nth) => join(directory, changeSetName(nth)))));
  assert.is(findings.length, 1000);
});

test('the remedy that check names for a damaged change set in the history loses no row', async () => {
  const directory = await written(1e9);
  const { state: whole } = checkStore(machineDisk, directory);
  const path = join(directory, changeSetName(5));
  writeFileSync(path, readFileSync(path).toString().replace('Book 5', 'Book 6'));
  const advice =
    'catalog.json contains this change: stop the server, and move this file and all change sets before it out of changes/';
  assert.ok(findingsOf(directory)[0]?.endsWith(`; ${advice}`), findingsOf(directory)[0]);
  for (const sequence of upTo(5)) rmSync(join(directory, changeSetName(sequence)));
  const { findings, state } = checkStore(machineDisk, directory);
  assert.equal(findings, []);
  assert.equal([state?.sequence, state?.digest], [whole?.sequence, whole?.digest]);
  const store = await open(directory, 1e9);
  assert.is((await all(store.since(5))).length, 25);
  await store.close();
});

test('check reports a history that comes from another store, even if only its last change set or one in its middle does', async () => {
  const [directory, other] = [leftInDisorder(await written(1e9)), await written(1e9)];
  const base = baseIn(directory);
  const middle = join(directory, changeSetName(10));
  const own = readFileSync(middle);
  cpSync(join(other, changeSetName(10)), middle);
  assert.equal(findingsOf(directory).length, 1);
  assert.match(findingsOf(directory)[0] ?? '', `${middle} is damaged: it does not follow`);
  writeFileSync(middle, own);
  assert.equal(findingsOf(directory), []);
  for (const sequence of upTo(base)) {
    cpSync(join(other, changeSetName(sequence)), join(directory, changeSetName(sequence)));
  }
  assert.equal(findingsOf(directory).length, 1);
  assert.match(
    findingsOf(directory)[0] ?? '',
    `${join(directory, changeSetName(base))} is damaged: it does not fit catalog.json`,
  );
  await (await open(directory, 0)).close();
  cpSync(join(other, changeSetName(base)), join(directory, changeSetName(base)));
  assert.equal(findingsOf(directory).length, 1);
});

test('since() fails as store_damaged at a change set that does not follow the one before it', async () => {
  const [directory, other] = [leftInDisorder(await written(1e9)), await written(1e9)];
  cpSync(join(other, changeSetName(10)), join(directory, changeSetName(10)));
  const store = await open(directory, 1e9);
  const found: number[] = [];
  const reading = async () => {
    for await (const { sequence } of store.since(7)) found.push(sequence);
  };
  assert.is(await codeOf(reading), 'store_damaged');
  assert.equal(found, [8, 9]);
  await store.close();
});

test('a reader fails as history_gone if its next change set is removed meanwhile', async () => {
  const directory = storeDirectory();
  const store = await open(directory, 5 * BLOCK);
  await commit(store, 6);
  const found: number[] = [];
  const reading = async () => {
    for await (const { sequence } of store.since(0)) {
      found.push(sequence);
      if (sequence > 1) continue;
      while (sequencesIn(directory).includes(2)) await commit(store, 1);
    }
  };
  assert.is(await codeOf(reading), 'history_gone');
  assert.equal(found, [1]);
  await store.close();
});

test('a failed removal of history is reported, and the next checkpoint repeats it', async () => {
  const directory = storeDirectory();
  const failures: unknown[] = [];
  let refusing = true;
  const disk = {
    ...quickDisk,
    async unlink(path: string) {
      if (refusing && path.includes('changes')) throw new Error('EIO: refused');
      await quickDisk.unlink(path);
    },
  };
  const store = await openStore(directory, {
    disk,
    history: 2 * BLOCK,
    smallestCheckpoint: 3 * BLOCK,
    onError: (error) => failures.push(error),
  });
  await until('the failure is reported', async () => {
    await commit(store, 1);
    return failures.length > 0;
  });
  assert.is(sequencesIn(directory)[0], 1);
  // Change sets that could not be removed can still be read.
  assert.is((await all(store.since(0))).length, store.sequence);
  refusing = false;
  const base = baseIn(directory);
  await until('there is another checkpoint', async () => {
    await commit(store, 1);
    return baseIn(directory) > base;
  });
  await store.close();
  assert.equal(sequencesIn(directory), upTo(store.sequence, baseIn(directory) - 1));
});

test('two removals at the same time together remove no more than what is beyond the limit', async () => {
  const removed: string[] = [];
  const disk: Disk = {
    ...quickDisk,
    size: () => BLOCK,
    async unlink(path) {
      removed.push(path);
      await nextTurn();
    },
  };
  const history = new KeptChangeSets(disk, '/data', 6 * BLOCK, upTo(10));
  await Promise.all([history.trim(), history.trim()]);
  assert.equal(
    removed,
    upTo(4).map((sequence) => join('/data', changeSetName(sequence))),
  );
  assert.is(history.oldest, 5);
});

test('a crash after the rename of a base or after any removal leaves a readable history', async () => {
  const directory = storeDirectory();
  const copies: string[] = [];
  const disk = {
    ...quickDisk,
    async rename(from: string, to: string) {
      await quickDisk.rename(from, to);
      copies.push(copyOf(directory));
    },
    async unlink(path: string) {
      await quickDisk.unlink(path);
      copies.push(copyOf(directory));
    },
  };
  await commitAndClose(directory, 2 * BLOCK);
  for (let times = 0; times < 3; times += 1) await commitAndClose(directory, 2 * BLOCK, disk);
  assert.ok(copies.length > 8, `${copies.length} copies`);
  for (const copy of copies) {
    assert.equal(findingsOf(copy), []);
    // With a limit, what is read could be removed meanwhile.
    const again = await open(copy, Number.POSITIVE_INFINITY);
    const [oldest = 0] = sequencesIn(copy);
    assert.is((await all(again.since(oldest - 1))).length, again.sequence - oldest + 1);
    await again.close();
    await (await open(copy, 2 * BLOCK)).close();
    assert.ok((sequencesIn(copy)[0] ?? 0) >= baseIn(copy) - 1);
  }
});

/** What a crash would leave now. */
function copyOf(directory: string): string {
  const copy = storeDirectory();
  for (const name of readdirSync(directory)) {
    cpSync(join(directory, name), join(copy, name), { recursive: true });
  }
  return copy;
}

test('history is the longest run of numbers that ends at the base; the rest before it is left over', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 12 })),
      fc.integer({ min: 0, max: 12 }),
      (numbers, base) => {
        const { kept, leftover } = historyOf(
          [...numbers].sort((a, b) => a - b),
          base,
        );
        const covered = numbers.filter((number) => number <= base).sort((a, b) => a - b);
        assert.equal([...leftover, ...kept], covered);
        let run = 0;
        while (numbers.includes(base - run) && base - run > 0) run += 1;
        assert.is(kept.length, run);
      },
    ),
  );
});

test('a million change sets become history at once', () => {
  const kept = new KeptChangeSets(quickDisk, storeDirectory(), Number.POSITIVE_INFINITY, []);
  kept.add(Array.from({ length: 1_000_000 }, (_, index) => ({ sequence: index + 1, bytes: 0 })));
  assert.is(kept.oldest, 1);
});

test('encodedSince yields the bytes of the files', async () => {
  const directory = storeDirectory();
  const store = await open(directory, 100 * BLOCK);
  await commit(store, 6);
  const files = sequencesIn(directory).map((sequence) =>
    readFileSync(join(directory, changeSetName(sequence))),
  );
  const found = await Array.fromAsync(store.encodedSince(0), ({ bytes }) => Buffer.from(bytes));
  assert.equal(found, files);
  await store.close();
});

test('baseSequence is the sequence of the last checkpoint, also after a start', async () => {
  const directory = storeDirectory();
  const store = await open(directory, 100 * BLOCK);
  assert.is(store.baseSequence, 0);
  await commit(store, 6);
  await until('there was a checkpoint', () => store.baseSequence > 0);
  assert.is(store.baseSequence, baseIn(directory));
  await store.close();
  const again = await open(directory, 100 * BLOCK);
  assert.is(again.baseSequence, baseIn(directory));
  await again.close();
});

test.run();
