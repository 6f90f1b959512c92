/** A data directory: read by any process, even while another one owns it; and owned by this one. */
import { DATA_FILES } from '../data-files.ts';
import { type Disk, machineDisk } from '../disk/disk.ts';
import { acquireOwnership, type FileLock } from '../disk/lock.ts';
import { CatalogError, shellWord } from '../errors.ts';
import { recover } from './files/recovery.ts';
import type { State } from './state.ts';

/**
 * Reads a consistent snapshot of a directory, which another process may own.
 *
 * @throws CatalogError `store_missing`, `store_damaged`, `store_unreadable`, `schema_version`.
 */
export function readSnapshot(directory: string, disk: Disk = machineDisk): State {
  const recovered = recover(disk, directory);
  if (recovered === null) throw missing(directory);
  return recovered.state;
}

/**
 * Checks that a directory holds a store, without reading it.
 *
 * @throws CatalogError `store_missing`.
 */
export function requireStore(directory: string, disk: Disk): void {
  if (!hasStore(directory, disk)) throw missing(directory);
}

/** @returns whether a directory holds a store, without reading it. */
export function hasStore(directory: string, disk: Disk): boolean {
  const names = disk.list(directory);
  return names.includes(DATA_FILES.base) || names.includes(DATA_FILES.head);
}

/**
 * Makes this process the owner of a data directory.
 *
 * @param command for the message of another process that finds it locked.
 * @throws CatalogError `store_locked`.
 */
export function ownDirectory(directory: string, command: string): FileLock {
  return acquireOwnership(directory, DATA_FILES.lock, command);
}

/**
 * Does some work while this process owns a data directory.
 *
 * @param command as for {@link ownDirectory}.
 * @throws CatalogError `store_locked`; what `work` throws.
 */
export async function withOwnership<T>(
  directory: string,
  command: string,
  work: () => Promise<T>,
): Promise<T> {
  const lock = ownDirectory(directory, command);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/** @returns the error for a directory without a store. */
export function missing(directory: string): CatalogError {
  return new CatalogError(
    'store_missing',
    `${directory} holds no store; name another directory with --data, or run: catalog-server migrate --data ${shellWord(directory)}`,
  );
}
