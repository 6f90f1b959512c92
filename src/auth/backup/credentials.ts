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
import { readAccess } from '../access.ts';
import { readKeys } from '../keys.ts';
import { exclusively, type PrivateFile, writePrivate } from '../private-file.ts';
import { readWebhookKey } from '../webhook-key.ts';
import { decrypt, type DecryptWith, encrypt, type EncryptTo } from './encryption.ts';

/** As the file of a backup holds them. */
export interface BackedUpCredentials {
  /** The content of `access.json`; undefined if there was none. */
  readonly access?: object | undefined;
  /** An armoured age file: JSON with the contents of the key files by their names. */
  readonly encryptedKeys?: string | undefined;
}

type KeyFileName = 'keys.json' | 'webhook-key.json';
type FileName = 'access.json' | KeyFileName;

/** The contents of files of the data directory by their names. */
export type CredentialFiles = Readonly<Partial<Record<FileName, object>>>;

interface CredentialFile {
  readonly code: PrivateFile['code'];
  /** Reads and judges the file. @throws CatalogError with `code`. */
  readonly read: (path: string, read: () => FileContent | null) => unknown;
}

const FILES: Readonly<Record<FileName, CredentialFile>> = {
  'access.json': { code: 'access_file', read: readAccess },
  'keys.json': { code: 'key_file', read: readKeys },
  'webhook-key.json': { code: 'key_file', read: readWebhookKey },
};

const KEY_FILES: readonly KeyFileName[] = ['keys.json', 'webhook-key.json'];

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
  const keys: Partial<Record<KeyFileName, object>> = {};
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
function contentOf(directory: string, name: FileName): object | null {
  const path = join(directory, name);
  let content: FileContent | null = null;
  FILES[name].read(path, () => (content = readWithMode(path)));
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
): Promise<CredentialFiles> {
  const files: Partial<Record<FileName, object>> = {};
  if (access !== undefined) files['access.json'] = judged(name, 'access.json', access);
  if (encryptedKeys === undefined || using === null) return files;
  const keys = decryptedKeys(name, await decrypt(encryptedKeys, using));
  for (const file of KEY_FILES) {
    const content = keys[file];
    if (content !== undefined) files[file] = judged(name, file, content);
  }
  return files;
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

function judged(backup: string, name: FileName, value: unknown): object {
  const bytes = Buffer.from(JSON.stringify(value));
  FILES[name].read(`${name} in ${backup}`, () => ({ bytes, mode: 0o600 }));
  return value as object;
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
  files: CredentialFiles,
): Promise<void> {
  const entries = Object.entries(files) as [FileName, object][];
  if (entries.length === 0) return;
  await exclusively(directory, async () => {
    const missing = entries.filter(([name, value]) => !isThere(directory, name, value));
    for (const [name, value] of missing) {
      await writePrivate(disk, { path: join(directory, name), code: FILES[name].code }, value);
    }
  });
}

/** Whether the directory has the file with this content. @throws CatalogError if with another. */
function isThere(directory: string, name: FileName, value: object): boolean {
  const present = contentOf(directory, name);
  if (present === null) return false;
  if (isDeepStrictEqual(present, value)) return true;
  throw new CatalogError(
    'store_not_empty',
    `${join(directory, name)} is there already and is not that of the backup; move it away, and put it back after the restore if it is to count`,
  );
}
