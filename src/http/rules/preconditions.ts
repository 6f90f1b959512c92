/** Conditional requests (RFC 9110, section 13). */
import { CatalogError } from '../../errors.ts';
import { header, type HttpRequest } from '../message.ts';

/** `any` is `*`: whichever representation there is. */
type Tags = 'any' | readonly string[];

export interface Conditions {
  readonly ifMatch: Tags | null;
  readonly ifNoneMatch: Tags | null;
  /** Milliseconds since the epoch; null as well where `If-None-Match`, which is exact, was sent. */
  readonly ifModifiedSince: number | null;
}

/** The conditions of a request; null where it has none. */
export function conditionsOf(request: HttpRequest): Conditions | null {
  const ifMatch = header(request, 'if-match');
  const ifNoneMatch = header(request, 'if-none-match');
  const since = header(request, 'if-modified-since');
  if (ifMatch === undefined && ifNoneMatch === undefined && since === undefined) return null;
  return {
    ifMatch: parseTags(ifMatch),
    ifNoneMatch: parseTags(ifNoneMatch),
    ifModifiedSince: ifNoneMatch === undefined ? parseDate(since) : null,
  };
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

/** Whether a representation is no newer than `If-Modified-Since`, which knows whole seconds. */
export function isUnmodified({ ifModifiedSince }: Conditions, modified: Date | undefined): boolean {
  if (ifModifiedSince === null || modified === undefined) return false;
  return Math.floor(modified.getTime() / 1000) * 1000 <= ifModifiedSince;
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

/** The form of dates that is sent today (RFC 9110, section 5.6.7). */
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Null for what is no date: the condition is then not there (section 13.1.3). */
function parseDate(text: string | undefined): number | null {
  const time = text !== undefined && DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

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
