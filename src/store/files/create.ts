/**
 * Writing a whole store into a directory that holds none, or one of an earlier version.
 *
 * Order of steps: make the directories and remove what a crash left in them; write the head; write
 * the base. The base makes it a store. A crash before that leaves the former files, and a head that
 * is ignored without a base, or that names a change set in the former files.
 */
import { dirname, join, resolve } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import {
  ignoreUnreadable,
  removeTemporaries,
  replaceFile,
  syncDirectory,
  withOpen,
} from '../../disk/durable-file.ts';
import type { Snapshot } from '../state.ts';
import { reusedBaseSlices } from './base.ts';
import { writeOutline } from './base/outline.ts';
import { encodeHead } from './head.ts';
import { writeBase } from './base/write-base.ts';

/**
 * @returns the size of the base in bytes.
 * @throws what the disk throws; CatalogError `durability_unknown`.
 */
export async function createStore(
  disk: Disk,
  directory: string,
  snapshot: Snapshot,
): Promise<number> {
  await makeDirectories(disk, directory);
  await removeTemporaries(disk, directory);
  await writeHead(disk, directory, snapshot);
  const path = join(directory, DATA_FILES.base);
  const slices = reusedBaseSlices(snapshot);
  return withOpen(disk, directory, (fd) =>
    writeBase(disk, path, fd, slices, (_, outline) => writeOutline(disk, directory, outline)),
  );
}

/** Writes a head that names a durable change set. @throws what the disk throws. */
export async function writeHead(
  disk: Disk,
  directory: string,
  { sequence, digest }: Pick<Snapshot, 'sequence' | 'digest'>,
): Promise<void> {
  const bytes = encodeHead({ sequence, digest });
  await replaceFile(disk, join(directory, DATA_FILES.head), bytes);
}

/** Makes the directories if they are missing. They, and the names in them, survive power loss. */
export async function makeDirectories(disk: Disk, directory: string): Promise<void> {
  disk.mkdir(join(directory, DATA_FILES.changes));
  await syncDirectory(disk, join(directory, DATA_FILES.changes));
  await syncDirectory(disk, directory);
  await syncDirectory(disk, dirname(resolve(directory))).catch(ignoreUnreadable);
}
