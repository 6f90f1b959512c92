/** docs/storage.md, "Checking": a directory is read while a server writes it. */
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { type Disk, machineDisk } from '../../../../src/disk/disk.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { createStore } from '../../../../src/store/files/create.ts';
import { inspect, recover } from '../../../../src/store/files/recovery.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';

/** Change sets after each base. */
const BEHIND = 2;

/** The directories of a store after each of its checkpoints, with change sets after each base. */
async function checkpoints(count: number): Promise<string[]> {
  const directories: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const directory = storeDirectory();
    const before = directories.at(-1);
    const state = before === undefined ? null : recover(quickDisk, before)?.state;
    if (state) await createStore(quickDisk, directory, state.snapshot());
    const store = await openStore(directory, { disk: quickDisk });
    for (let nth = 0; nth < BEHIND; nth += 1) {
      await store.transact((all) => {
        const id = all.nextId('brands');
        all.put('brands', { id, name: `Brand ${id}`, logo: '', first_letter: '' });
      });
    }
    await store.close();
    directories.push(directory);
  }
  return directories;
}

/** When a checkpoint overtakes a reader: before it reads change sets, or while it reads a base. */
type Moment = 'change sets' | 'base';

/**
 * A disk on which the first directory is replaced by the next one once in every attempt, up to the
 * last. `bases` counts how often a base was read.
 */
function overtaking(moment: Moment, [shown = '', ...later]: readonly string[]) {
  let [now, bases, due] = [shown, 0, false];
  const at = (path: string) => path.replace(shown, now);
  const overtake = (reached: Moment) => {
    if (!due || reached !== moment) return;
    now = later.shift() ?? now;
    due = false;
  };
  const disk: Disk = {
    ...machineDisk,
    list: (path) => machineDisk.list(at(path)),
    read(path) {
      if (dirname(path) === join(shown, DATA_FILES.changes)) overtake('change sets');
      return machineDisk.read(at(path));
    },
    pieces(path, memory) {
      const pieces = machineDisk.pieces(at(path), memory);
      if (path !== join(shown, DATA_FILES.base) || pieces === null) return pieces;
      // An attempt reads the base; then, if it has found a problem, again to compare it.
      bases += 1;
      due = bases % 2 === 1;
      return (function* () {
        yield* pieces;
        overtake('base');
      })();
    },
  };
  return { shown, disk, bases: () => bases };
}

test('a reader that 25 checkpoints overtake tries again until none does', async () => {
  const { shown, disk, bases } = overtaking('change sets', await checkpoints(26));
  const { recovered, problems } = inspect(disk, shown, undefined, 60_000);
  assert.equal(problems, []);
  assert.is(recovered?.state.sequence, 26 * BEHIND);
  assert.is(bases(), 2 * 25 + 1, 'it was not overtaken each time');
});

test('a reader that was overtaken reads the change sets before the base in its next attempt', async () => {
  const { shown, disk, bases } = overtaking('base', await checkpoints(26));
  const { recovered, problems } = inspect(disk, shown);
  assert.equal(problems, []);
  // The state of the second attempt, although its files were removed while the base was read.
  assert.is(recovered?.state.sequence, 2 * BEHIND);
  assert.is(recovered?.files.length, BEHIND);
  assert.is(bases(), 3);
});

test('a snapshot is read again if a checkpoint overtakes its reader', async () => {
  const { shown, disk } = overtaking('change sets', await checkpoints(2));
  assert.is(readSnapshot(shown, disk).sequence, 2 * BEHIND);
});

test('a store that is created after a reader has looked for its head is not damaged', async () => {
  const [directory = ''] = await checkpoints(1);
  let heads = 0;
  const disk: Disk = {
    ...machineDisk,
    read(path) {
      const isHead = path === join(directory, DATA_FILES.head);
      if (isHead) heads += 1;
      return isHead && heads === 1 ? null : machineDisk.read(path);
    },
  };
  assert.is(readSnapshot(directory, disk).sequence, BEHIND);
});

test('a store that is removed while it is read is missing, not damaged', async () => {
  // As the files of an earlier version, which a checkpoint removes.
  const [directory = ''] = await checkpoints(1);
  let isGone = false;
  const disk: Disk = {
    ...machineDisk,
    list: (path) => (isGone ? [] : machineDisk.list(path)),
    read: (path) => (isGone ? null : machineDisk.read(path)),
    pieces(path, memory) {
      const pieces = isGone ? null : machineDisk.pieces(path, memory);
      isGone = true;
      return pieces;
    },
  };
  assert.equal(inspect(disk, directory), { recovered: null, problems: [] });
});

test('a reader that is overtaken until its time is over fails as busy, not as store_damaged', async () => {
  const { shown, disk } = overtaking('change sets', await checkpoints(12));
  try {
    inspect(disk, shown, undefined, 0);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, CatalogError);
    const { code, message } = error as CatalogError;
    assert.is(code, 'busy');
    assert.is(
      message,
      `${shown} changes faster than it can be read: its server replaced catalog.json during each of 10 attempts; try again when less is written`,
    );
  }
});

test.run();
