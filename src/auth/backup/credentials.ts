/**
 * What a backup has beside the catalog: accounts and revocations as they are, whose passwords are
 * hashes, and the keys of tokens and webhooks, which are only ever in it encrypted.
 *
 * Invariant: a restored file is the one of the backup, or the one that was there and equals it. None
 * is replaced, and none is mixed.
 */
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { type FileContent, readWithMode } from '../../disk/watched-file.ts';
import { CatalogError } from '../../errors.ts';
import { exclusively } from '../private-file.ts';
import {
  judge,
  judged,
  PRIVATE_NAMES,
  type PrivateContents,
  type PrivateName,
  writeContents,
} from '../sharing/private-contents.ts';
import { decrypt, type DecryptWith, encrypt, type EncryptTo } from './encryption.ts';

/** As the file of a backup holds them. */
export interface BackedUpCredentials {
  /** The content of `access.json`; undefined if there was none. */
  readonly access?: object | undefined;
  /** An armoured age file: JSON with the contents of the key files by their names. */
  readonly encryptedKeys?: string | undefined;
}

const KEY_FILES = ['keys.json', 'webhook-key.json'] as const;

/**
 * Reads what is to go into a backup. A running server and commands may change it meanwhile; each
 * file is as it was at one moment.
 *
 * @param directory the data directory.
 * @param to who may read the keys; null leaves them out.
 * @returns the credentials, and the names of their files: those in it, and those left out.
 * @throws CatalogError `access_file`, `key_file`, `backup_failed`.
 */
export async function backUpCredentials(
  directory: string,
  to: EncryptTo | null,
): Promise<{ credentials: BackedUpCredentials; encrypted: string[]; leftOut: string[] }> {
  // A file in which nobody is says what no file says; hosts with the same accounts have equal backups.
  const access = inUse(contentOf(directory, 'access.json'));
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

/** @returns undefined for lists that are all empty. */
function inUse(access: object | null): object | undefined {
  if (access === null || Object.values(access).every(isEmptyList)) return undefined;
  return access;
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** @returns the parsed file; null if there is none. @throws CatalogError if it is not in order. */
function contentOf(directory: string, name: PrivateName): object | null {
  const path = join(directory, name);
  let content: FileContent | null = null;
  judge(name, path, () => (content = readWithMode(path)));
  return parsed(content);
}

function parsed(content: FileContent | null): object | null {
  return content === null ? null : (JSON.parse(content.bytes.toString()) as object);
}

/**
 * @param name of the backup, for messages.
 * @param using what opens the keys; null leaves them out.
 * @returns the files to restore, each of them judged.
 * @throws CatalogError `backup_failed`, `access_file`, `key_file`.
 */
export async function openCredentials(
  name: string,
  { access, encryptedKeys }: BackedUpCredentials,
  using: DecryptWith | null,
): Promise<PrivateContents> {
  const from = `in ${name}`;
  if (encryptedKeys === undefined || using === null) return judged(from, { 'access.json': access });
  const keys = decryptedKeys(name, await decrypt(encryptedKeys, using));
  const [tokens, webhooks] = KEY_FILES;
  return judged(from, {
    'access.json': access,
    [tokens]: keys[tokens],
    [webhooks]: keys[webhooks],
  });
}

function decryptedKeys(name: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const keys: unknown = JSON.parse(text);
    if (typeof keys === 'object' && keys !== null) return { ...keys };
  } catch {
    // As below: another program has encrypted it.
  }
  throw new CatalogError('backup_failed', `${name}: what is encrypted in it is not a set of keys`);
}

/**
 * Writes the files into a data directory; they survive power loss when this returns. Files that are
 * there already with the same content stay, so that this can be repeated after a crash.
 *
 * @throws CatalogError `store_not_empty` if one is there with another content; then none is written.
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

/** Whether the directory has the file with this content. @throws CatalogError if with another. */
function isThere(directory: string, name: PrivateName, value: unknown): boolean {
  const present = contentOf(directory, name);
  if (present === null) return false;
  if (isDeepStrictEqual(present, value)) return true;
  throw new CatalogError(
    'store_not_empty',
    `${join(directory, name)} is there already and is another than the one to restore; move it away, and put it back after the restore if it is to count`,
  );
}
