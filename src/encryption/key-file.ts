/** The key of encrypted archives: a file of one line that only its owner may read. */
import { createHash, randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { type Disk } from '../disk/disk.ts';
import { withOpen, writeDurably } from '../disk/durable-file.ts';
import { requirePrivate } from '../disk/modes.ts';
import { type FileContent, readShort } from '../disk/watched-file.ts';
import { CatalogError, hasCode, messageOf, shellWord, systemErrorCode } from '../errors.ts';
import { KEY_BYTES } from './encrypted-stream.ts';

const PREFIX = 'catalog-key-';
const LINE = /^catalog-key-([A-Za-z0-9_-]{43})$/;

/** More than a key file has; it bounds the reading of a device. */
const MAX_BYTES = 1024;

/** Hexadecimal digits of the id of a key. */
const ID_LENGTH = 16;

/**
 * Creates a key file, mode 0600.
 *
 * @returns the id of the key.
 * @throws CatalogError `encryption` if the file already exists or cannot be written.
 */
export async function createKeyFile(disk: Disk, path: string): Promise<string> {
  const key = randomBytes(KEY_BYTES);
  const bytes = Buffer.from(`${PREFIX}${key.toString('base64url')}\n`);
  try {
    await withOpen(disk, dirname(path), (fd) =>
      writeDurably(disk, path, bytes, fd, { exclusive: true }),
    );
  } catch (cause) {
    // The link call of the system says EEXIST of a symbolic link to nothing, such as an unmounted disk.
    const isTaken = hasCode(cause, 'second_writer') || systemErrorCode(cause) === 'EEXIST';
    const why = isTaken
      ? 'the file exists already, and a key is never overwritten'
      : messageOf(cause);
    throw new CatalogError('encryption', `${path} cannot be created: ${why}`, { cause });
  }
  return keyId(key);
}

/**
 * @param read reads the file: `readShortOnce` if it is read only once, and may be a pipe.
 * @returns the key, 32 bytes.
 * @throws CatalogError `encryption` if the file is missing, is not a key file, or others may read
 *   it.
 */
export function readKeyFile(path: string, read = readShort): Uint8Array {
  const { bytes, mode } = contentOf(path, read);
  requirePrivate(path, mode, 'encryption');
  const text = LINE.exec(bytes.toString().trim())?.[1];
  if (text !== undefined) return new Uint8Array(Buffer.from(text, 'base64url'));
  throw new CatalogError(
    'encryption',
    `${path} is not a key file; move it away, and ${keyAdvice(path)}`,
  );
}

function contentOf(path: string, read: typeof readShort): FileContent {
  const content = read(path, MAX_BYTES, 'encryption');
  if (content !== null) return content;
  if (LINE.test(path)) {
    const message = 'the path of the key file is a key; write the key to a file, and give its path';
    throw new CatalogError('encryption', message);
  }
  throw new CatalogError('encryption', `there is no key file ${path}; ${keyAdvice(path)}`);
}

/** A new key opens no archive that exists. */
function keyAdvice(path: string): string {
  return `put the key of the archive there, or, for a new archive, make one with: catalog-server keys generate ${shellWord(path)}`;
}

/** @returns the id of a key, which does not help to find the key. */
export function keyId(key: Uint8Array): string {
  return createHash('sha256')
    .update('catalog-key-id ')
    .update(key)
    .digest('hex')
    .slice(0, ID_LENGTH);
}
