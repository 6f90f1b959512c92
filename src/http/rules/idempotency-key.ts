/** The `Idempotency-Key` header of a request that creates objects. */
import { CatalogError } from '../../errors.ts';
import { header, type HttpRequest } from '../message.ts';

/** A string of a structured field (RFC 8941, section 3.3.3), or the same without quotes. */
export const KEY = /^(?:"((?:[ !#-[\]-~]|\\["\\]){1,255})"|([!#-[\]-~]{1,255}))$/;

/**
 * @returns the key; null if none was sent.
 * @throws CatalogError `malformed_request`.
 */
export function idempotencyKey(request: HttpRequest): string | null {
  const text = header(request, 'idempotency-key');
  if (text === undefined) return null;
  const [, quoted, plain] = KEY.exec(text.trim()) ?? [];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? plain;
  if (key !== undefined) return key;
  throw new CatalogError(
    'malformed_request',
    'Idempotency-Key must be 1 to 255 visible ASCII characters, with or without quotes',
  );
}
