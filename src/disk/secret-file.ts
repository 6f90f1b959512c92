/** A file with one secret on one line, such as a token, that only its owner may read. */
import { CatalogError } from '../errors.ts';
import { requirePrivate } from './modes.ts';
import { readShort } from './watched-file.ts';

/** Bytes. */
const MAX_BYTES = 16 * 1024;

/**
 * @returns the secret, without white space at its ends.
 * @throws CatalogError `usage` if the file cannot be read, is too long, has no secret, or others may read it.
 */
export function readSecretFile(path: string): string {
  const content = readShort(path, MAX_BYTES, 'usage');
  if (content === null) throw new CatalogError('usage', `there is no file ${path}`);
  requirePrivate(path, content.mode, 'usage');
  const text = content.bytes.toString().trim();
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new CatalogError('usage', `${path} must hold one token, and nothing else`);
}
