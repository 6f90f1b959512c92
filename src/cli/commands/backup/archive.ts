/** `restore --from` and `check --archive`: the commands for archives. */
import { ArchiveObjects } from '../../../archive/archive-objects.ts';
import { checkArchive } from '../../../archive/check.ts';
import { readArchive, type Target } from '../../../archive/replay.ts';
import { type ArchiveAddress, openObjectStore } from '../../../archive/storage/address.ts';
import { restoreCredentials } from '../../../auth/backup/credentials.ts';
import { privateFilesIn } from '../../../auth/backup/private-files.ts';
import type { PrivateContents } from '../../../auth/sharing/private-contents.ts';
import { readShortOnce } from '../../../disk/watched-file.ts';
import { readKeyFile } from '../../../encryption/key-file.ts';
import { CatalogError } from '../../../errors.ts';
import { requireNoStore, restoreBackup } from '../../../store/backup.ts';
import type { Context } from '../../../app/context.ts';
import { describeState } from '../describe.ts';

interface ArchiveOptions {
  readonly archive: ArchiveAddress;
  /** The path of its key file; null if it is not encrypted. */
  readonly key: string | null;
}

export interface RestoreArchiveOptions extends ArchiveOptions {
  readonly data: string;
  readonly target: Target;
}

/**
 * Makes a store from the state of the archive at the target, with the newest accounts and keys.
 *
 * @throws CatalogError `archive_failed`, `encryption`, `store_not_empty`, `store_damaged`,
 *   `schema_version`, `access_file`, `usage`.
 */
export async function restoreArchive(
  { archive, key, data, target }: RestoreArchiveOptions,
  context: Context,
): Promise<void> {
  // Checked first, because reading the archive takes a while.
  requireNoStore(context.disk, data);
  const objects = openObjects({ archive, key }, context);
  const state = await readArchive(objects, target);
  const files = key === null ? null : await readPrivate(objects);
  const names = Object.keys(files ?? {});
  await restoreBackup(context.disk, state, data, () =>
    restoreCredentials(context.disk, data, files ?? {}),
  );
  const also = names.length === 0 ? '' : `; with ${names.join(', ')}`;
  context.print(`restored ${data}: ${describeState(state)}${also}`);
  if (key === null) {
    context.warn('the archive is not encrypted, so accounts and keys are not in it');
  } else if (files === null) {
    context.warn(`${objects.url} has lost its accounts and keys: add accounts, and log in again`);
  }
}

/**
 * Prints every finding.
 *
 * @throws CatalogError `check_failed` if there are findings; `archive_failed`, `encryption`, `usage`.
 */
export async function checkArchiveCommand(
  options: ArchiveOptions,
  context: Context,
): Promise<void> {
  const objects = openObjects(options, context);
  const { findings: found, gaps, bases, first, state } = await checkArchive(objects);
  const findings = [...found, ...(options.key === null ? [] : await privateFaults(objects))];
  for (const gap of gaps) context.print(`${objects.url} does not contain ${gap}`);
  for (const finding of findings) context.print(finding);
  if (findings.length > 0 || state === null) {
    const count = findings.length === 1 ? 'one finding' : `${findings.length} findings`;
    throw new CatalogError(
      'check_failed',
      `${objects.url} is not in order: ${count}, listed on standard output`,
    );
  }
  const count = bases === 1 ? 'one base' : `${bases} bases`;
  context.print(
    `${objects.url} is in order: ${describeState(state)}; ${count}, from change set ${first} on`,
  );
}

/**
 * @returns the accounts and keys of an encrypted archive; null if they are missing.
 * @throws CatalogError `archive_failed`; `encryption`, `access_file`, `key_file` if they are damaged.
 */
async function readPrivate(objects: ArchiveObjects): Promise<PrivateContents | null> {
  try {
    const copy = await objects.readPrivate();
    return copy === null ? null : privateFilesIn(copy);
  } catch (cause) {
    if (!(cause instanceof CatalogError) || cause.code === 'archive_failed') throw cause;
    throw new CatalogError(
      cause.code,
      `${objects.url} has damaged accounts and keys (${cause.message}); to restore the catalog without them, move the object named "private" elsewhere`,
      { cause },
    );
  }
}

/** @returns what is wrong with the accounts and keys. @throws CatalogError `archive_failed`. */
async function privateFaults(objects: ArchiveObjects): Promise<string[]> {
  try {
    if ((await readPrivate(objects)) !== null) return [];
    return [
      `${objects.url}: accounts and keys are missing; restart the server of this archive, which archives them again`,
    ];
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code === 'archive_failed') throw error;
    return [error.message];
  }
}

function openObjects(
  { archive, key }: ArchiveOptions,
  { env }: Pick<Context, 'env'>,
): ArchiveObjects {
  const bytes = key === null ? null : readKeyFile(key, readShortOnce);
  return new ArchiveObjects(openObjectStore(archive, env), bytes);
}
