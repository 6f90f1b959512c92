/**
 * A backup is one base document: the whole catalog as of one change set, plain JSON, sealed. It
 * holds no keys and no pages.
 */
import { dirname, join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { withOpen } from '../disk/durable-file.ts';
import { acquireOwnership } from '../disk/lock.ts';
import { CatalogError } from '../errors.ts';
import { baseSlices, decodeBase } from './files/base.ts';
import { checkDocument } from './check.ts';
import { writeBase } from './files/checkpoint.ts';
import { createStore } from './files/create.ts';
import { type StoreState, snapshotOf } from './state.ts';
import { CHANGES, damaged, HEAD, listChanges, LOCK, readFile, unwritable } from './files/files.ts';

/** What may lie in a directory into which a backup is restored. */
const NO_STORE = new Set([
  LOCK,
  'pages.lock',
  'keys.json',
  'access.json',
  'pages.json',
  'access.lock',
  'lost+found',
  CHANGES,
  HEAD,
]);

/**
 * Writes a backup to a file, which appears whole or not at all, and only once it has been read
 * back and verified. A file that is there is replaced.
 *
 * @throws CatalogError `store_damaged` where the state itself would not pass; what the disk throws.
 */
export async function writeBackup(disk: Disk, document: StoreState, path: string): Promise<void> {
  await withOpen(disk, dirname(path), (fd) =>
    writeBase(disk, path, fd, snapshotOf(document), (temporary) => {
      verifyBackup(path, readFile(disk, temporary) ?? Buffer.alloc(0));
    }),
  );
}

/** @returns the bytes of a backup, verified as {@link writeBackup} does. */
export function encodeBackup(document: StoreState): Buffer {
  const bytes = Buffer.concat([...baseSlices(snapshotOf(document))]);
  verifyBackup('the backup', bytes);
  return bytes;
}

/**
 * @param name of the file, for messages.
 * @returns the state that it holds, every row judged.
 * @throws CatalogError `store_damaged`, `schema_version`.
 */
export function verifyBackup(name: string, bytes: Buffer): StoreState {
  const { document } = decodeBase(name, bytes);
  const [first, ...more] = checkDocument(document);
  if (first === undefined) return document;
  throw damaged(name, more.length === 0 ? first : `${first}; and ${more.length} more`);
}

/**
 * Makes a store of a backup in a directory that holds none. A crash leaves the store whole, or
 * none; the restore may be run again.
 *
 * @param command that runs it, for whoever finds the directory locked.
 * @throws CatalogError `store_locked`, `store_not_empty`, `durability_unknown`, `write_refused`.
 */
export async function restoreBackup(
  disk: Disk,
  document: StoreState,
  directory: string,
  command: string,
): Promise<void> {
  // Before a lock file is made in what is somebody else's, and again once we hold the lock.
  requireNoStore(disk, directory);
  const lock = acquireOwnership(join(directory, LOCK), command);
  try {
    requireNoStore(disk, directory);
    await createStore(disk, directory, document);
  } catch (error) {
    throw unwritable(directory, error);
  } finally {
    lock.close();
  }
}

function requireNoStore(disk: Disk, directory: string): void {
  const { sequences, unexpected: strangers } = listChanges(disk, directory);
  const found = disk.list(directory).find((name) => !NO_STORE.has(name) && !name.startsWith('.'));
  if (sequences.length === 0 && strangers.length === 0 && found === undefined) return;
  throw new CatalogError(
    'store_not_empty',
    `${directory} is not empty, it holds ${found ?? CHANGES}; name an empty directory with --data`,
  );
}
