/** A store that is opened without a copy of its base, and copies it later (Store.copyBase). */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import type { Disk } from '../../../src/disk/disk.ts';
import type { MappedFile } from '../../../src/disk/system/mapped-file.ts';
import { CatalogError } from '../../../src/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { leftInDisorder, openStore, storeDirectory } from '../../support/checked.ts';
import { quickDisk } from '../../support/disk.ts';
import { openFiles } from '../../support/linux.ts';
import { until } from '../../support/until.ts';

const BOOKS = 12_000;

/** A disk that keeps what it has mapped, null for a file that it could not map. */
function mappingDisk(): { readonly disk: Disk; readonly mapped: (MappedFile | null)[] } {
  const mapped: (MappedFile | null)[] = [];
  const map = (path: string): MappedFile | null => {
    const file = quickDisk.map(path);
    mapped.push(file);
    return file;
  };
  return { disk: { ...quickDisk, map }, mapped };
}

/** A store whose base contains {@link BOOKS} books, and a change set after it. */
async function storeWithBase(): Promise<string> {
  const directory = storeDirectory();
  const store = await openStore(directory, { disk: quickDisk, smallestCheckpoint: 1 });
  await addBooks(store, BOOKS);
  // The commit after the one that made a checkpoint due.
  await addBooks(store, 1);
  await store.close();
  assert.ok(
    statSync(join(directory, DATA_FILES.base)).size > 2 ** 20,
    'the base is large enough to be mapped',
  );
  const again = await openStore(directory, { disk: quickDisk });
  await addBooks(again, 1);
  await again.close();
  return directory;
}

function addBooks(store: Store, count: number): Promise<void> {
  return store.transact((transaction) => {
    for (let nth = 0; nth < count; nth += 1) {
      const id = transaction.nextId('books');
      const rest = { pub_date: '1815-12-23', commentcount: 0, readcount: 0, image: '' };
      transaction.put('books', { id, name: `Book ${id}`, ...rest });
    }
  });
}

function names(store: Store): unknown[] {
  return [...store.ids('books')].map((id) => store.get('books', id)?.name);
}

const NAMES = Array.from({ length: BOOKS + 2 }, (_, at) => `Book ${at + 1}`);

/** Writes into the base in place, as an editor might. */
function damage(directory: string): void {
  const fd = openSync(join(directory, DATA_FILES.base), 'r+');
  writeSync(fd, 'x', statSync(join(directory, DATA_FILES.base)).size - 2000);
  closeSync(fd);
}

test('a store that maps its base has the same rows as one that reads it, before and after the copy', async () => {
  const directory = await storeWithBase();
  const { disk, mapped } = mappingDisk();
  const store = await openStore(directory, { disk, mapsBase: true });
  assert.is(mapped.length, 1);
  assert.equal(names(store), NAMES);
  await store.copyBase();
  assert.equal(names(store), NAMES);
  await addBooks(store, 1);
  assert.is(store.get('books', BOOKS + 3)?.name, `Book ${BOOKS + 3}`);
  await store.close();
});

test('after the copy, rows that were not read yet do not depend on the file', async () => {
  const directory = await storeWithBase();
  const store = await openStore(directory, { disk: quickDisk, mapsBase: true });
  await store.copyBase();
  damage(leftInDisorder(directory));
  assert.equal(names(store), NAMES);
  await store.close();
});

test('after the copy, the store keeps no memory of the base beyond that of its rows', async () => {
  const { disk, mapped } = mappingDisk();
  const store = await openStore(await storeWithBase(), { disk, mapsBase: true });
  const [file] = mapped.splice(0);
  const kept = new WeakRef(file as MappedFile);
  await store.copyBase();
  await until('it is collected', () => {
    Bun.gc(true);
    return kept.deref() === undefined;
  });
  assert.is(store.get('books', 1)?.name, 'Book 1');
  await store.close();
});

test('a checkpoint waits for the copy', async () => {
  const directory = await storeWithBase();
  const { disk, mapped } = mappingDisk();
  const store = await openStore(directory, { disk, mapsBase: true, smallestCheckpoint: 1 });
  const inode = () => statSync(join(directory, DATA_FILES.base)).ino;
  const before = inode();
  // Twice as much as makes a checkpoint due.
  for (let nth = 0; nth < 4; nth += 1) await addBooks(store, BOOKS);
  // A system that cannot map a file has read it, and has made its checkpoint.
  if (mapped[0] !== null) assert.is(inode(), before);
  await store.copyBase();
  await addBooks(store, 1);
  await store.close();
  assert.is.not(inode(), before);
  const again = await openStore(directory, { disk: quickDisk });
  assert.is(again.count('books'), NAMES.length + 4 * BOOKS + 1);
  await again.close();
});

test('the copy fails if the base was written to since the store was opened', async () => {
  const directory = await storeWithBase();
  const { disk, mapped } = mappingDisk();
  const store = await openStore(directory, { disk, mapsBase: true });
  damage(leftInDisorder(directory));
  let failure: unknown = null;
  await store.copyBase().catch((error: unknown) => {
    failure = error;
  });
  // A system that cannot map a file has read it.
  if (mapped[0] === null) assert.is(failure, null);
  else assert.match(String(failure), /catalog\.json was written to while the program started/);
  await store.close();
});

test('a damaged base that is mapped is refused as one that is read', async () => {
  const directory = await storeWithBase();
  damage(leftInDisorder(directory));
  try {
    await openStore(directory, { disk: quickDisk, mapsBase: true });
    assert.unreachable();
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    assert.is(error.code, 'store_damaged');
    assert.match(error.message, /catalog\.json.*its checksum does not match its content/);
  }
});

test('a store that is closed before the copy, or not opened because of its base, leaves no file open', async () => {
  const directory = await storeWithBase();
  const before = openFiles();
  const store = await openStore(directory, { disk: quickDisk, mapsBase: true });
  await store.close();
  assert.is(openFiles(), before);
  await store.copyBase();
  assert.is(openFiles(), before, 'a copy after the end does nothing');
  damage(leftInDisorder(directory));
  await openStore(directory, { disk: quickDisk, mapsBase: true }).catch(() => null);
  assert.is(openFiles(), before);
});

test('a small base is read, and there is nothing to copy', async () => {
  const directory = storeDirectory();
  const { disk, mapped } = mappingDisk();
  const store = await openStore(directory, { disk, mapsBase: true });
  await addBooks(store, 3);
  await store.close();
  const again = await openStore(directory, { disk, mapsBase: true });
  assert.ok(mapped.every((file) => file === null));
  await again.copyBase(new Promise(() => {}));
  assert.is(again.count('books'), 3, 'nothing was waited for');
  await again.close();
});

test.run();
