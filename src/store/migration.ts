/**
 * Bringing a store of an earlier version to the current one.
 *
 * Order of steps: judge every row as `check` does; give the old files a second name each; write the
 * head and a base of the current version, which contains every change set; remove the change sets.
 * The rename of the base is the commit point: a crash before it leaves the earlier version whole, a
 * crash after it the current one. The next checkpoint removes the second names. The history begins
 * again: change sets of the earlier version are not offered to readers of changes. If a crash leaves
 * some of them, the next start removes them: it knows them by the last change set in the backup.
 */
import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { stateFault } from './check.ts';
import { createStore } from './files/create.ts';
import { changeSetName, damaged, unwritable } from './files/files.ts';
import { writeMigrationBackup, migrationBackupDirectory } from './files/migration-backup.ts';
import { recover, type Recovered } from './files/recovery.ts';
import { migrationsFrom, SCHEMA_VERSION } from './files/schema.ts';

/** What a migration did or would do. */
export interface Migrated {
  readonly steps: readonly { readonly to: number; readonly what: string }[];
  /** The directory with the files of the earlier version, until the next checkpoint. */
  readonly backup: string;
}

/**
 * Reports what {@link migrateStore} would do, without doing it.
 *
 * @returns null if the directory holds no store; no steps if it is at the current version.
 * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`.
 */
export function planMigration(directory: string, disk: Disk): Migrated | null {
  const recovered = recoverSound(disk, directory);
  return recovered && planFor(directory, recovered);
}

/** Reads a store of any version, and judges the rows of an older one in their current form. */
function recoverSound(disk: Disk, directory: string): Recovered | null {
  const recovered = recover(disk, directory, 'older');
  if (recovered === null || recovered.schema === SCHEMA_VERSION) return recovered;
  const fault = stateFault(recovered.state);
  if (fault === null) return recovered;
  throw damaged(directory, fault).advising(
    'nothing was changed: correct this with the version of catalog-server that has written it, or restore a backup',
  );
}

function planFor(directory: string, { schema }: Recovered): Migrated {
  return {
    steps: migrationsFrom(schema),
    backup: migrationBackupDirectory(directory, schema),
  };
}

/**
 * Migrates a store. The caller owns the directory.
 *
 * @returns as {@link planMigration}.
 * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`, `durability_unknown`,
 *   `write_refused`.
 */
export async function migrateStore(directory: string, disk: Disk): Promise<Migrated | null> {
  try {
    const recovered = recoverSound(disk, directory);
    if (recovered === null) return null;
    const { schema, state, files, kept, leftover } = recovered;
    if (schema !== SCHEMA_VERSION) {
      const names = files.map(({ sequence }) => changeSetName(sequence));
      // The history has the form of the earlier version, and could not be read after the migration.
      const history = [...leftover, ...kept].map(changeSetName);
      const backedUp = names.length > 0 ? names : history.slice(-1);
      await writeMigrationBackup(disk, directory, schema, backedUp);
      await createStore(disk, directory, state.snapshot());
      for (const name of [...history, ...names]) await disk.unlink(join(directory, name));
    }
    return planFor(directory, recovered);
  } catch (error) {
    throw unwritable(directory, error);
  }
}
