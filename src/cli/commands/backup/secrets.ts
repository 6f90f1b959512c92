/** The files with which an operator encrypts and decrypts the keys in a backup. */
import { readShortOnce } from '../../../disk/watched-file.ts';
import { CatalogError } from '../../../errors.ts';

/** Bytes: more than any passphrase or list of identities has; it bounds the reading of a device. */
const MAX_BYTES = 64 * 1024;

/**
 * @returns the text of the file without the end of its line.
 * @throws CatalogError `backup_failed` if it cannot be read, or is empty.
 */
export function readPassphrase(path: string): string {
  const passphrase = readSecret(path, 'a passphrase').replace(/\r?\n$/, '');
  if (passphrase !== '') return passphrase;
  throw new CatalogError('backup_failed', `${path} is empty; write the passphrase into it`);
}

/**
 * @returns the identities in a file as `age-keygen` writes it; a line that begins with `#` is a
 *   comment.
 * @throws CatalogError `backup_failed` if it cannot be read, or holds none.
 */
export function readIdentities(path: string): string[] {
  const lines = readSecret(path, 'age identities').split('\n');
  const identities = lines.map((line) => line.trim()).filter((line) => /^[^#]/.test(line));
  if (identities.length > 0) return identities;
  throw new CatalogError(
    'backup_failed',
    `${path} holds no age identity; name a file that age-keygen has written`,
  );
}

/**
 * It may be a pipe, so it is read once, to its end.
 *
 * @param what the file holds, for messages.
 * @throws CatalogError `backup_failed`.
 */
function readSecret(path: string, what: string): string {
  const content = readShortOnce(path, MAX_BYTES, 'backup_failed');
  if (content === null) {
    throw new CatalogError('backup_failed', `there is no file ${path}; name a file with ${what}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content.bytes);
  } catch (cause) {
    const message = `${path} is not text in UTF-8; name a file with ${what}`;
    throw new CatalogError('backup_failed', message, { cause });
  }
}
