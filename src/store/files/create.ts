/**
 * Writing a whole store where none is, or where one of an earlier version is.
 *
 * Order of steps: the directories, without what a crash left in them; the head; the base. The base makes it a store: a crash before
 * leaves what was there, and a head that is not looked at or names nothing that was answered.
 */
import { dirname, join, resolve } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { removeTemporaries, withOpen, writeDurably } from '../../disk/durable-file.ts';
import { writeBase } from './checkpoint.ts';
import { type StoreState, snapshotOf } from '../state.ts';
import { BASE, CHANGES, HEAD } from './files.ts';
import { encodeHead } from './head.ts';

/**
 * @returns the size of the base in bytes.
 * @throws what the disk throws; CatalogError `durability_unknown`.
 */
export async function createStore(
  disk: Disk,
  directory: string,
  document: StoreState,
): Promise<number> {
  await makeDirectories(disk, directory);
  await removeTemporaries(disk, directory);
  await writeHead(disk, directory, document);
  return withOpen(disk, directory, (fd) =>
    writeBase(disk, join(directory, BASE), fd, snapshotOf(document)),
  );
}

/** Writes a head that names the last change set of a document, which is durable. */
export async function writeHead(
  disk: Disk,
  directory: string,
  { sequence, previous }: StoreState,
): Promise<void> {
  const bytes = encodeHead({ sequence, digest: previous });
  await withOpen(disk, directory, (fd) => writeDurably(disk, join(directory, HEAD), bytes, fd));
}

/** Makes the directories where they are missing; they, and what is in them, survive power loss. */
export async function makeDirectories(disk: Disk, directory: string): Promise<void> {
  disk.mkdir(join(directory, CHANGES));
  await withOpen(disk, join(directory, CHANGES), (fd) => disk.fsync(fd));
  await withOpen(disk, directory, (fd) => disk.fsync(fd));
  try {
    await withOpen(disk, dirname(resolve(directory)), (fd) => disk.fsync(fd));
  } catch (error) {
    // A parent that we may not even read is somebody else's, who made our directory in it.
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
}
