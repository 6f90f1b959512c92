/** `backup`: the whole catalog as one file, also while a server runs. */
import type { Context } from '../../../app/context.ts';
import { backUpCredentials } from '../../../auth/backup/credentials.ts';
import type { EncryptTo } from '../../../auth/backup/encryption.ts';
import { messageOf, systemErrorCode } from '../../../errors.ts';
import { encodeBackup, writeBackup } from '../../../store/backup.ts';
import { recordBackup } from '../../../store/files/last-backup.ts';
import { recover } from '../../../store/files/recovery.ts';
import type { State } from '../../../store/state.ts';
import { CatalogError } from '../../../errors.ts';
import { missing } from '../../../store/directory.ts';
import { describeState } from '../describe.ts';
import { outputPath, writeOutput } from '../output.ts';
import { readPassphrase } from './secrets.ts';
import { STANDARD_STREAM } from '../../standard-stream.ts';

export interface BackupOptions {
  readonly data: string;
  /** A path, or "-" for standard output; null for a name with the time in it. */
  readonly file: string | null;
  /** A file with the passphrase for the keys. */
  readonly passphraseFile?: string;
  /** age recipients of the keys. */
  readonly recipient?: readonly string[];
}

/**
 * @throws CatalogError `store_missing`, `store_damaged`, `access_file`, `key_file`,
 *   `backup_failed`.
 */
export async function backup(options: BackupOptions, context: Context): Promise<void> {
  const { data, file } = options;
  const to = encryptionOf(options);
  const recovered = recover(context.disk, data);
  if (recovered === null) throw missing(data);
  const { state } = recovered;
  const { credentials, encrypted, leftOut } = await backUpCredentials(data, to);
  const members = { access: credentials.access, encrypted_keys: credentials.encryptedKeys };
  if (file === STANDARD_STREAM) {
    await writeBackupTo('standard output', async () => {
      for (const slice of encodeBackup({ state, members })) await context.write(slice);
    });
    await remember(data, state, context);
    return;
  }
  const path = file ?? `catalog-${timestamp(new Date())}.json`;
  const target = outputPath(path, data, 'backup_failed', true);
  await writeBackupTo(path, () => writeBackup(context.disk, { state, members }, target));
  await remember(data, state, context);
  const also = [
    ...(credentials.access === undefined ? [] : ['with access.json']),
    ...encrypted.map((name) => `with ${name}, encrypted`),
    ...leftOut.map((name) => `without ${name}`),
  ];
  context.print(`backed up ${data} to ${path}: ${[describeState(state), ...also].join('; ')}`);
}

/**
 * @returns how the keys are encrypted; null if they are left out.
 * @throws CatalogError `backup_failed`.
 */
function encryptionOf({
  passphraseFile,
  recipient: recipients = [],
}: BackupOptions): EncryptTo | null {
  if (passphraseFile !== undefined) {
    const passphrase = readPassphrase(passphraseFile);
    // Who restores may have it only on paper, and age asks for one line.
    if (!/[\r\n]/.test(passphrase)) return { passphrase };
    const message = `${passphraseFile} has more than one line; write only the passphrase into it`;
    throw new CatalogError('backup_failed', message);
  }
  return recipients.length === 0 ? null : { recipients };
}

/** The errors of a user who may read the directory, but not write to it. */
const MAY_ONLY_READ = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Records the time of the backup, which is complete even if that fails. A backup needs only the
 * right to read, so a user who has no other right gets no warning.
 */
async function remember(data: string, state: State, { disk, warn }: Context): Promise<void> {
  try {
    await recordBackup(disk, data, new Date(), state.sequence);
  } catch (error) {
    if (MAY_ONLY_READ.has(systemErrorCode(error) ?? '')) return;
    warn(
      `warning: the backup is complete, but its time could not be recorded: ${messageOf(error)}`,
    );
  }
}

function writeBackupTo(target: string, write: () => Promise<void>): Promise<void> {
  return writeOutput('the backup', target, 'backup_failed', write);
}

/** `20261121T142737Z`: it sorts by time, and is a valid name in every file system. */
function timestamp(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, '');
}
