/** The files with which an operator encrypts and decrypts the keys in a backup. */
import type { Disk } from '../../../disk/disk.ts';
import { CatalogError, messageOf } from '../../../errors.ts';

/** Bytes: more than any passphrase or list of identities has; it bounds the reading of a device. */
const MAX_BYTES = 64 * 1024;

/**
 * @returns the text of the file without the line feed at its end.
 * @throws CatalogError `backup_failed` if it cannot be read, or is empty.
 */
export function readPassphrase(disk: Disk, path: string): string {
  const passphrase = readSecret(disk, path).replace(/\r?\n$/, '');
  if (passphrase !== '') return passphrase;
  throw new CatalogError('backup_failed', `${path} is empty; write the passphrase into it`);
}

/**
 * @returns the identities in a file as `age-keygen` writes it; a line that begins with `#` is a
 *   comment.
 * @throws CatalogError `backup_failed` if it cannot be read, or holds none.
 */
export function readIdentities(disk: Disk, path: string): string[] {
  const lines = readSecret(disk, path).split('\n');
  const identities = lines.map((line) => line.trim()).filter((line) => /^[^#]/.test(line));
  if (identities.length > 0) return identities;
  throw new CatalogError('backup_failed', `${path} holds no age identity`);
}

/** It may be a pipe, so it is read once, to its end. @throws CatalogError `backup_failed`. */
function readSecret(disk: Disk, path: string): string {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for (const piece of disk.input(path) ?? absent()) {
      size += piece.length;
      if (size > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES / 1024} KiB`);
      pieces.push(Buffer.from(piece));
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch (cause) {
    throw new CatalogError('backup_failed', `${path} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function absent(): never {
  throw new Error('there is no such file');
}
