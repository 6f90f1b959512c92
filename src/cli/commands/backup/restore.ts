/** `restore`: a data directory from a backup. */
import { dirname, join } from 'node:path';
import type { Context } from '../../../app/context.ts';
import {
  type BackedUpCredentials,
  openCredentials,
  restoreCredentials,
} from '../../../auth/backup/credentials.ts';
import type { DecryptWith } from '../../../auth/backup/encryption.ts';
import { CatalogError, messageOf, shellWord } from '../../../errors.ts';
import { type Backup, receiveBackup, restoreBackup, verifyBackup } from '../../../store/backup.ts';
import { changeSetName, DamagedFile } from '../../../store/files/files.ts';
import { describeState } from '../describe.ts';
import { readIdentities, readPassphrase } from './secrets.ts';
import { inputName, readInput, STANDARD_STREAM } from '../../standard-stream.ts';

export interface RestoreOptions {
  readonly data: string;
  /** A path, or "-" for standard input. */
  readonly file: string;
  /** A file with the passphrase of the keys. */
  readonly passphraseFile?: string;
  /** A file with age identities. */
  readonly identityFile?: string;
  /** Does not restore encrypted keys. */
  readonly withoutKeys?: true;
}

/**
 * @throws CatalogError `backup_failed`, `store_damaged`, `store_not_empty`, `schema_version`,
 *   `access_file`, `key_file`.
 */
export async function restore(options: RestoreOptions, context: Context): Promise<void> {
  const { data, file } = options;
  const { disk } = context;
  const { state, members } = await readBackup(file, context).catch((error: unknown) => {
    throw error instanceof DamagedFile ? error.advising('use another backup') : error;
  });
  const name = inputName(file);
  const credentials = { access: members.access, encryptedKeys: members.encrypted_keys };
  const using = decryptionOf(name, options, credentials, context);
  const files = await openCredentials(name, credentials, using);
  await restoreBackup(disk, state, data, () => restoreCredentials(disk, data, files));
  const also = Object.keys(files).map((restored) => `with ${restored}`);
  context.print(`restored ${data}: ${[describeState(state), ...also].join('; ')}`);
  if (file !== STANDARD_STREAM) warnOfChangesBeside(file, state.sequence, context);
}

async function readBackup(file: string, context: Context): Promise<Required<Backup>> {
  if (file === STANDARD_STREAM) {
    return receiveBackup(inputName(file), readInput(file, context.input(), 'backup_failed'));
  }
  const pieces = reading(file, () => context.disk.input(file));
  if (pieces === null) {
    throw new CatalogError('backup_failed', `there is no file ${file}; name a backup`);
  }
  return reading(file, () => verifyBackup(file, pieces));
}

/** The base of a data directory has the form and the name of a backup, and lacks later changes. */
function warnOfChangesBeside(file: string, sequence: number, { disk, warn }: Context): void {
  const directory = dirname(file);
  if (!hasChangeSet(directory, sequence + 1, disk)) return;
  warn(
    `warning: ${file} is not a backup but the base of a store: the changes after it were not restored; to restore them too, first run: catalog-server backup <file> --data ${shellWord(directory)}`,
  );
}

function hasChangeSet(directory: string, sequence: number, disk: Context['disk']): boolean {
  try {
    return disk.size(join(directory, changeSetName(sequence))) !== null;
  } catch {
    // The directory of a backup may have anything of this name, also what may not be read.
    return false;
  }
}

/** The advice about a file of a store is not for a file that the operator has named. */
function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    const message = `${file} cannot be read: ${messageOf(cause)}`;
    throw new CatalogError('backup_failed', message, { cause });
  }
}

/**
 * @returns how to decrypt the keys; null if there are none, or they are not to be restored.
 * @throws CatalogError `backup_failed`.
 */
function decryptionOf(
  name: string,
  { passphraseFile, identityFile, withoutKeys }: RestoreOptions,
  { encryptedKeys }: BackedUpCredentials,
  { warn }: Context,
): DecryptWith | null {
  if (withoutKeys === true) return null;
  if (encryptedKeys === undefined) {
    if (passphraseFile !== undefined || identityFile !== undefined) {
      warn(`warning: ${name} holds no keys to decrypt, so the restored store has none`);
    }
    return null;
  }
  if (passphraseFile !== undefined) return { passphrase: readPassphrase(passphraseFile) };
  if (identityFile !== undefined) return { identities: readIdentities(identityFile) };
  throw new CatalogError(
    'backup_failed',
    `${name} holds encrypted keys; give their passphrase with --passphrase-file or an age identity with --identity-file, or leave them out with --without-keys`,
  );
}
