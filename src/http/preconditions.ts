/** Conditional requests (RFC 9110, section 13). */
import { CatalogError } from '../errors.ts';
import { header, type Request } from './exchange.ts';

/** `any` is `*`: whichever representation there is. */
type Tags = 'any' | readonly string[];

export interface Conditions {
  readonly ifMatch: Tags | null;
  readonly ifNoneMatch: Tags | null;
}

/** The conditions of a request; null where it has none. */
export function conditionsOf(request: Request): Conditions | null {
  const ifMatch = header(request, 'if-match');
  const ifNoneMatch = header(request, 'if-none-match');
  if (ifMatch === undefined && ifNoneMatch === undefined) return null;
  return { ifMatch: parseTags(ifMatch), ifNoneMatch: parseTags(ifNoneMatch) };
}

/**
 * Judges `If-Match` by strong comparison (section 8.8.3.2).
 *
 * @throws CatalogError `precondition_failed`.
 */
export function requireMatch({ ifMatch }: Conditions, etag: string): void {
  if (ifMatch === null || ifMatch === 'any' || ifMatch.includes(etag)) return;
  throw new CatalogError(
    'precondition_failed',
    'the item has changed since it was read; read it again and repeat the change',
  );
}

/** Whether `If-None-Match` names the representation, by weak comparison. */
export function namesCurrent({ ifNoneMatch }: Conditions, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch === 'any') return true;
  return ifNoneMatch.some((tag) => tag.replace(/^W\//, '') === etag);
}

/** Both conditions of a request that writes. @throws CatalogError `precondition_failed`. */
export function requireWritable(conditions: Conditions, etag: string): void {
  requireMatch(conditions, etag);
  if (namesCurrent(conditions, etag)) {
    throw new CatalogError('precondition_failed', 'If-None-Match names the item as it is');
  }
}

/** One element of a list of entity tags with its separator; the list may have empty elements. */
const ELEMENT = /[ \t]*((?:W\/)?"[\x20\x21\x23-\x7e\x80-\xff]*")?[ \t]*(?:,|$)/y;

/** Entity tags of a list; a malformed list has none, so that `If-Match` fails closed. */
export function parseTags(text: string | undefined): Tags | null {
  if (text === undefined) return null;
  if (text.trim() === '*') return 'any';
  const tags: string[] = [];
  for (ELEMENT.lastIndex = 0; ELEMENT.lastIndex < text.length; ) {
    const element = ELEMENT.exec(text);
    if (element === null) return [];
    if (element[1] !== undefined) tags.push(element[1]);
  }
  return tags;
}
