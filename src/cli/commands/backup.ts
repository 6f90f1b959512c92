/** `backup` and `restore`: the whole catalog as one file, beside a running server too. */
import { CatalogError, messageOf } from '../../errors.ts';
import {
  encodeBackup,
  receiveBackup,
  restoreBackup,
  verifyBackup,
  writeBackup,
} from '../../store/backup.ts';
import type { State } from '../../store/state.ts';
import { readable } from '../../store/files/files.ts';
import { recover } from '../../store/files/recovery.ts';
import { recordBackup } from '../../store/files/last-backup.ts';
import { missing } from '../../store/store.ts';
import type { Context } from '../../app/context.ts';
import { describeState } from './describe.ts';
import { outputPath } from './output-path.ts';

/** Standard input or output instead of a file. */
const STREAM = '-';

export interface BackupOptions {
  readonly data: string;
  /** A path, or "-" for standard output; null for a name with the time in it. */
  readonly file: string | null;
}

/** @throws CatalogError `store_missing`, `store_damaged`, `backup_failed`. */
export async function backup({ data, file }: BackupOptions, context: Context): Promise<void> {
  const recovered = recover(context.disk, data);
  if (recovered === null) throw missing(data);
  const { state } = recovered;
  if (file === STREAM) {
    await refusing('standard output', async () => {
      for (const slice of encodeBackup(state)) await context.write(slice);
    });
    await remember(data, state, context);
    return;
  }
  const path = file ?? `catalog-${timestamp(new Date())}.json`;
  const target = outputPath(path, data, 'backup_failed');
  await refusing(path, () => writeBackup(context.disk, state, target));
  await remember(data, state, context);
  context.print(`backed up ${data} to ${path}: ${describeState(state)}`);
}

/** What the system says to a user who may read the directory, and not write there. */
const MAY_ONLY_READ = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Keeps the time of the backup, which is complete whether or not that succeeds. A backup needs no
 * right but to read, so a user who has no other makes one without a warning.
 */
async function remember(data: string, state: State, { disk, warn }: Context): Promise<void> {
  try {
    await recordBackup(disk, data, new Date(), state.sequence);
  } catch (error) {
    if (MAY_ONLY_READ.has((error as NodeJS.ErrnoException).code ?? '')) return;
    warn(`warning: the backup is complete, but its time cannot be kept: ${messageOf(error)}`);
  }
}

/** @throws CatalogError `backup_failed` if the disk or a pipe does not take the backup. */
async function refusing(target: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(
      'backup_failed',
      `${target} did not take the backup: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}

export interface RestoreOptions {
  readonly data: string;
  /** A path, or "-" for standard input. */
  readonly file: string;
}

/** @throws CatalogError `backup_failed`, `store_damaged`, `store_not_empty`, `schema_version`. */
export async function restore({ data, file }: RestoreOptions, context: Context): Promise<void> {
  const state = await readBackup(file, context);
  await restoreBackup(context.disk, state, data, 'restore');
  context.print(`restored ${data}: ${describeState(state)}`);
}

async function readBackup(file: string, context: Context): Promise<State> {
  if (file === STREAM) return receiveBackup('standard input', context.input());
  const pieces = readable(file, () => context.disk.pieces(file));
  if (pieces === null) {
    throw new CatalogError('backup_failed', `there is no file ${file}; name a backup`);
  }
  return readable(file, () => verifyBackup(file, pieces));
}

/** `20261121T142737Z`: it sorts by time, and is a valid name in every file system. */
function timestamp(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, '');
}
