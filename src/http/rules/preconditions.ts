/** Conditional requests (RFC 9110, section 13). */
import { CatalogError } from '../../errors.ts';
import { parseHttpDate } from '../../http-date.ts';
import { header, type HttpRequest } from '../message.ts';

/** `any` is `*`: any current representation. */
type Tags = 'any' | readonly string[];

export interface Conditions {
  readonly ifMatch: Tags | null;
  readonly ifNoneMatch: Tags | null;
  /** Milliseconds since the epoch; null also if `If-None-Match`, which is more exact, was sent. */
  readonly ifModifiedSince: number | null;
  /** The same; null also if `If-Match`, which is more exact, was sent. */
  readonly ifUnmodifiedSince: number | null;
}

/** The conditions of a request; null if it has none. */
export function conditionsOf(request: HttpRequest): Conditions | null {
  const ifMatch = header(request, 'if-match');
  const ifNoneMatch = header(request, 'if-none-match');
  const since = header(request, 'if-modified-since');
  const until = header(request, 'if-unmodified-since');
  if ((ifMatch ?? ifNoneMatch ?? since ?? until) === undefined) return null;
  return {
    ifMatch: parseTags(ifMatch),
    ifNoneMatch: parseTags(ifNoneMatch),
    ifModifiedSince: ifNoneMatch === undefined ? dateOf(since) : null,
    ifUnmodifiedSince: ifMatch === undefined ? dateOf(until) : null,
  };
}

/**
 * Checks `If-Match` by strong comparison (section 8.8.3.2).
 *
 * @param etag null if the path has none: then only `*` matches.
 * @throws CatalogError `precondition_failed`.
 */
export function requireMatch({ ifMatch }: Conditions, etag: string | null): void {
  if (ifMatch === null || ifMatch === 'any') return;
  if (etag === null) {
    throw failed('this path has no ETag, so it accepts only If-Match: *');
  }
  if (ifMatch.includes(etag)) return;
  // To read the item again and to repeat the request would not help in these two cases.
  if (ifMatch.length === 0) {
    throw failed('If-Match must contain the ETag of the item with its quotes');
  }
  if (ifMatch.includes(`W/${etag}`)) {
    throw failed(
      'If-Match must contain the ETag as the server sends it; a proxy that compresses responses adds W/',
    );
  }
  throw changed();
}

/**
 * Checks `If-Unmodified-Since`. It is ignored without a date of the representation (section 13.1.4).
 *
 * @throws CatalogError `precondition_failed`.
 */
export function requireUnmodified(
  { ifUnmodifiedSince }: Conditions,
  modified: Date | undefined,
): void {
  if (ifUnmodifiedSince === null || modified === undefined) return;
  if (modified.getTime() > ifUnmodifiedSince) throw changed();
}

function changed(): CatalogError {
  return failed('the item has changed since it was read; read it again and repeat the change');
}

function failed(message: string): CatalogError {
  return new CatalogError('precondition_failed', message);
}

/** Whether `If-None-Match` matches the representation, by weak comparison. */
export function namesCurrent({ ifNoneMatch }: Conditions, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch === 'any') return true;
  return ifNoneMatch.some((tag) => tag.replace(/^W\//, '') === etag);
}

/** Whether a representation is not newer than `If-Modified-Since`. */
export function isUnmodified({ ifModifiedSince }: Conditions, modified: Date | undefined): boolean {
  if (ifModifiedSince === null || modified === undefined) return false;
  return modified.getTime() <= ifModifiedSince;
}

/** Checks the conditions of a write. @throws CatalogError `precondition_failed`. */
export function requireWritable(conditions: Conditions, etag: string): void {
  requireMatch(conditions, etag);
  if (namesCurrent(conditions, etag)) {
    throw failed('If-None-Match matches the current version of the item');
  }
}

/** Null also if it is not a date: then the condition is ignored (sections 13.1.3 and 13.1.4). */
function dateOf(text: string | undefined): number | null {
  return text === undefined ? null : parseHttpDate(text, Date.now());
}

/** White space and separators: a list may have empty elements (RFC 9110, section 5.6.1). */
const GAP = /[ \t,]*/y;

/** An entity tag (RFC 9110, section 8.8.3); spaces in it are accepted. */
const TAG = /(?:W\/)?"[\x20\x21\x23-\x7e\x80-\xff]*"/y;

/** What follows a tag: white space, then a separator or the end of the list. */
const AFTER_TAG = /[ \t]*(?:,|$)/y;

/** Entity tags of a list; a malformed list has none, so that `If-Match` fails closed. */
export function parseTags(text: string | undefined): Tags | null {
  if (text === undefined) return null;
  if (text.trim() === '*') return 'any';
  const tags: string[] = [];
  for (let at = endOf(GAP, text, 0); at < text.length; at = endOf(GAP, text, at)) {
    const end = endOf(TAG, text, at);
    const next = end < 0 ? -1 : endOf(AFTER_TAG, text, end);
    if (next < 0) return [];
    tags.push(text.slice(at, end));
    at = next;
  }
  return tags;
}

/** @returns where the match that begins at a position ends; -1 if there is none. */
function endOf(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : -1;
}
