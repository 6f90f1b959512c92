/**
 * The files of an earlier version that a migration keeps until the next checkpoint: a whole store
 * that the earlier program can open.
 */
import { join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { withOpen } from '../../disk/durable-file.ts';
import { BASE, CHANGES, HEAD, readFile } from './files.ts';
import { HEAD_SINCE } from './schema.ts';

const KEPT = /^migrated-from-\d+$/;

/** The directory in which the files of a version are kept. */
export function migrationBackupDirectory(directory: string, schema: number): string {
  return join(directory, `migrated-from-${schema}`);
}

/**
 * Gives base, change sets and, from the version on that has one, the head a second name each in a
 * directory of their own, and returns once that survives power loss. What an earlier attempt has left there goes first.
 *
 * @param files change sets by name.
 */
export async function writeMigrationBackup(
  disk: Disk,
  directory: string,
  schema: number,
  files: readonly string[],
): Promise<void> {
  const kept = migrationBackupDirectory(directory, schema);
  await remove(disk, kept);
  disk.mkdir(join(kept, CHANGES));
  const head = schema >= HEAD_SINCE ? [HEAD] : [];
  for (const name of [BASE, ...head, ...files]) {
    await duplicate(disk, join(directory, name), join(kept, name));
  }
  for (const path of [join(kept, CHANGES), kept, directory]) {
    await withOpen(disk, path, (fd) => disk.fsync(fd));
  }
}

/** Removes what migrations have kept. */
export async function removeMigrationBackups(disk: Disk, directory: string): Promise<void> {
  for (const name of disk.list(directory)) {
    if (KEPT.test(name)) await remove(disk, join(directory, name));
  }
}

async function remove(disk: Disk, kept: string): Promise<void> {
  const changes = join(kept, CHANGES);
  const names = disk.list(changes);
  // First, and for good, so that what an interruption leaves is not taken for a whole store.
  await disk.unlink(join(kept, BASE));
  if (names.length > 0) await withOpen(disk, kept, (fd) => disk.fsync(fd));
  await disk.unlink(join(kept, HEAD));
  for (const name of names) await disk.unlink(join(changes, name));
  for (const path of [changes, kept]) disk.rmdir(path);
}

/** A file that is replaced and never changed may have two names; where the file system has no links, it is copied. */
async function duplicate(disk: Disk, from: string, to: string): Promise<void> {
  try {
    disk.link(from, to);
  } catch {
    await disk.writeNew(to, readFile(disk, from) ?? Buffer.alloc(0), true);
  }
}
