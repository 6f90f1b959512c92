/**
 * The backup that a migration makes: the files of the earlier version, a whole store that the
 * earlier program can open. It is kept until the next checkpoint.
 */
import { join } from 'node:path';
import { DATA_FILES, isMigrationBackup, migrationBackupName } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { removeTemporaries, replaceFile, syncDirectory } from '../../disk/durable-file.ts';
import { readable, readFile } from '../../disk/read-file.ts';
import { listChanges } from './files.ts';
import { HEAD_SINCE } from './schema.ts';

/** @returns the directory for the files of a version. */
export function migrationBackupDirectory(directory: string, schema: number): string {
  return join(directory, migrationBackupName(schema));
}

/**
 * Gives base, change sets and head (in the versions that have one) a second name each in a
 * directory of their own, and returns once that survives power loss. It first removes the remains
 * of an earlier attempt.
 *
 * @param files change sets by name; the last one of the store among them, for {@link lastMigrated}.
 */
export async function writeMigrationBackup(
  disk: Disk,
  directory: string,
  schema: number,
  files: readonly string[],
): Promise<void> {
  const kept = migrationBackupDirectory(directory, schema);
  await remove(disk, kept);
  disk.mkdir(join(kept, DATA_FILES.changes));
  const head = schema >= HEAD_SINCE ? [DATA_FILES.head] : [];
  for (const name of [DATA_FILES.base, ...head, ...files]) {
    await duplicate(disk, join(directory, name), join(kept, name));
  }
  for (const path of [join(kept, DATA_FILES.changes), kept, directory]) {
    await syncDirectory(disk, path);
  }
}

/** Removes the backups of all migrations. */
export async function removeMigrationBackups(disk: Disk, directory: string): Promise<void> {
  for (const name of disk.list(directory)) {
    if (isMigrationBackup(name)) await remove(disk, join(directory, name));
  }
}

/**
 * A crash may come between a migration and the removal of the change sets that it has replaced.
 *
 * @param schema of the store. A migration from it has failed, and has replaced nothing.
 * @returns the last change set in the backups of migrations; 0 if there is none.
 * @throws CatalogError `store_unreadable`.
 */
export function lastMigrated(disk: Disk, directory: string, schema: number): number {
  const names = readable(directory, () => disk.list(directory));
  let last = 0;
  for (let version = 1; version < schema; version += 1) {
    if (!names.includes(migrationBackupName(version))) continue;
    const { sequences } = listChanges(disk, migrationBackupDirectory(directory, version));
    last = Math.max(last, sequences.at(-1) ?? 0);
  }
  return last;
}

async function remove(disk: Disk, kept: string): Promise<void> {
  const changes = join(kept, DATA_FILES.changes);
  const names = disk.list(changes);
  // The base first, durably, so that the rest is not taken for a whole store after a crash.
  await disk.unlink(join(kept, DATA_FILES.base));
  if (names.length > 0) await syncDirectory(disk, kept);
  await disk.unlink(join(kept, DATA_FILES.head));
  await removeTemporaries(disk, kept);
  for (const name of names) await disk.unlink(join(changes, name));
  for (const path of [changes, kept]) disk.rmdir(path);
}

/** A migration replaces files and modifies none, so they can be linked. Without links it copies. */
async function duplicate(disk: Disk, from: string, to: string): Promise<void> {
  try {
    disk.link(from, to);
  } catch {
    await replaceFile(disk, to, readFile(disk, from) ?? Buffer.alloc(0));
  }
}
