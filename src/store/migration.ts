/**
 * Bringing a store of an earlier version to the current one.
 *
 * Order of steps: keep the old files under a second name each; write the head and a base of the
 * current version, which contains every change set; remove the change sets. The base's rename
 * decides: a crash before it leaves the earlier version whole, a crash after it the current one.
 * The kept files go at the next checkpoint.
 */
import { join } from 'node:path';
import { type Disk, machineDisk } from '../disk/disk.ts';
import { acquireOwnership } from '../disk/lock.ts';
import { createStore } from './files/create.ts';
import { LOCK, unwritable } from './files/files.ts';
import { writeMigrationBackup, migrationBackupDirectory } from './files/migration-backup.ts';
import { load, type Loaded } from './files/load.ts';
import { migrationsFrom, SCHEMA_VERSION } from './files/schema.ts';

/** What was done, or would be. */
export interface Migrated {
  readonly from: number;
  readonly steps: readonly { readonly to: number; readonly what: string }[];
  /** Where the files of the earlier version are until the next checkpoint. */
  readonly backup: string;
}

/**
 * Says what {@link migrateStore} would do, without doing it.
 *
 * @returns null where the directory holds no store; no steps where it is at the current version.
 * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`.
 */
export function planMigration(directory: string, disk: Disk = machineDisk): Migrated | null {
  const loaded = load(disk, directory, 'older');
  return loaded && planFor(directory, loaded);
}

function planFor(directory: string, { schema }: Loaded): Migrated {
  return {
    from: schema,
    steps: migrationsFrom(schema),
    backup: migrationBackupDirectory(directory, schema),
  };
}

/**
 * @param command that runs it, for whoever finds the directory locked.
 * @returns as {@link planMigration}.
 * @throws CatalogError `store_locked`, `store_damaged`, `store_unreadable`, `schema_version`,
 *   `durability_unknown`, `write_refused`.
 */
export async function migrateStore(
  directory: string,
  command: string,
  disk: Disk = machineDisk,
): Promise<Migrated | null> {
  const lock = acquireOwnership(join(directory, LOCK), command);
  try {
    const loaded = load(disk, directory, 'older');
    if (loaded === null) return null;
    if (loaded.schema !== SCHEMA_VERSION) {
      await writeMigrationBackup(disk, directory, loaded.schema, loaded.files);
      await createStore(disk, directory, loaded.document);
      for (const name of loaded.files) await disk.unlink(join(directory, name));
    }
    return planFor(directory, loaded);
  } catch (error) {
    throw unwritable(directory, error);
  } finally {
    lock.close();
  }
}
