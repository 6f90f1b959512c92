/**
 * The parts of a backup besides the catalog: accounts and revocations, which contain passwords as
 * hashes, and the keys of tokens and webhooks, which are always encrypted.
 *
 * Invariant: a restore never replaces a file. Each file afterwards is the one of the backup, or was
 * there before with the same content.
 */
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { CatalogError } from '../../errors.ts';
import { exclusively, PRIVATE_NAMES, type PrivateName } from '../private-file.ts';
import { judge, judged, type PrivateContents, writeContents } from '../sharing/private-contents.ts';
import { decrypt, type DecryptWith, encrypt, type EncryptTo } from './encryption.ts';

/** The credentials in the file of a backup. */
export interface BackedUpCredentials {
  /** The content of `access.json`; undefined if there was none. */
  readonly access?: object | undefined;
  /** An armoured age file: JSON with the contents of the key files by their names. */
  readonly encryptedKeys?: string | undefined;
}

const KEY_FILES = [DATA_FILES.keys, DATA_FILES.webhookKey] as const;

/**
 * Reads the credentials for a backup. A running server and commands may change them meanwhile: each
 * file is consistent, but the files may be of different moments.
 *
 * @param directory the data directory.
 * @param to what can decrypt the keys; null leaves the keys out.
 * @returns the credentials, and the names of the key files that were encrypted or left out.
 * @throws CatalogError `access_file`, `key_file`, `backup_failed`.
 */
export async function backUpCredentials(
  directory: string,
  to: EncryptTo | null,
): Promise<{ credentials: BackedUpCredentials; encrypted: string[]; leftOut: string[] }> {
  // A file without entries counts as no file, so hosts with the same accounts have equal backups.
  const access = inUse(contentOf(directory, DATA_FILES.access));
  const keys: Partial<Record<PrivateName, object>> = {};
  for (const name of KEY_FILES) {
    const content = contentOf(directory, name);
    if (content !== null) keys[name] = content;
  }
  const names = Object.keys(keys);
  if (to === null) return { credentials: { access }, encrypted: [], leftOut: names };
  if (names.length === 0) return { credentials: { access }, encrypted: [], leftOut: [] };
  const encryptedKeys = await encrypt(JSON.stringify(keys), to);
  return { credentials: { access, encryptedKeys }, encrypted: names, leftOut: [] };
}

/** @returns undefined if all lists are empty. */
function inUse(access: object | null): object | undefined {
  if (access === null || Object.values(access).every(isEmptyList)) return undefined;
  return access;
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** @returns the parsed file; null if there is no file. @throws CatalogError if it is not valid. */
function contentOf(directory: string, name: PrivateName): object | null {
  return judge(name, join(directory, name));
}

/**
 * @param name of the backup, for messages.
 * @param using what decrypts the keys; null leaves the keys out.
 * @returns the files to restore, all of which are valid.
 * @throws CatalogError `backup_failed`, `access_file`, `key_file`.
 */
export async function openCredentials(
  name: string,
  { access, encryptedKeys }: BackedUpCredentials,
  using: DecryptWith | null,
): Promise<PrivateContents> {
  const from = `in ${name}`;
  if (encryptedKeys === undefined || using === null) {
    return judged(from, { [DATA_FILES.access]: access });
  }
  const keys = decryptedKeys(name, await decrypt(encryptedKeys, using));
  const [tokens, webhooks] = KEY_FILES;
  return judged(from, {
    [DATA_FILES.access]: access,
    [tokens]: keys[tokens],
    [webhooks]: keys[webhooks],
  });
}

function decryptedKeys(name: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const keys: unknown = JSON.parse(text);
    if (typeof keys === 'object' && keys !== null) return { ...keys };
  } catch {
    // Not JSON: another program encrypted it. Refused below.
  }
  throw new CatalogError('backup_failed', `${name}: its encrypted part does not contain keys`);
}

/**
 * Writes the files into a data directory; they survive power loss when this returns. Files that
 * already exist with the same content stay, so this can be repeated after a crash.
 *
 * @throws CatalogError `store_not_empty` if one exists with other content; then none is written.
 */
export async function restoreCredentials(
  disk: Disk,
  directory: string,
  files: PrivateContents,
): Promise<void> {
  const names = PRIVATE_NAMES.filter((name) => files[name] !== undefined);
  if (names.length === 0) return;
  await exclusively(directory, async () => {
    const missing = names.filter((name) => !isThere(directory, name, files[name]));
    await writeContents(
      disk,
      directory,
      Object.fromEntries(missing.map((name) => [name, files[name]])),
    );
  });
}

/**
 * Whether the file exists with this content.
 *
 * @throws CatalogError `store_not_empty` if it has other content.
 */
function isThere(directory: string, name: PrivateName, value: unknown): boolean {
  const present = contentOf(directory, name);
  if (present === null) return false;
  if (isDeepStrictEqual(present, value)) return true;
  throw new CatalogError(
    'store_not_empty',
    `${join(directory, name)} already exists with other content; move it away before the restore, and put it back afterwards if you want to keep it`,
  );
}
