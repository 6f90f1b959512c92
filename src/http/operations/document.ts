/** Documents that are sent as a whole: the index, the description, its viewer, pages. */
import { entityTag } from '../../resources/entity-tag.ts';
import type { HttpResponse } from '../message.ts';
import { textContent } from './content.ts';
import type { Validators } from './validators.ts';

export interface ServedDocument {
  readonly body: string | Uint8Array;
  /** Media type, parameters included. */
  readonly type: string;
  readonly modified?: Date | undefined;
  /** Link values (RFC 8288) beyond those that every response has. */
  readonly links?: string;
  /** Content-Security-Policy of a page. */
  readonly policy?: string;
}

export const HTML_TYPE = 'text/html; charset=utf-8';

export const HTML_CONTENT = textContent('text/html', {
  Page: () => ({ summary: 'A page', value: '<!doctype html>\n<html lang="en">…</html>\n' }),
});

/** The validators of a document, for conditional requests. */
export function validatorsOf(document: ServedDocument): Validators {
  return { etag: etagOf(document), modified: document.modified };
}

/** The response to GET. @param type the media type that `Accept` chose. */
export function documentResponse(document: ServedDocument, type = document.type): HttpResponse {
  const { body, modified, links, policy } = document;
  const headers: Record<string, string> = {
    'Content-Type': type,
    ETag: etagOf(document),
    'Cache-Control': 'no-cache',
  };
  if (links !== undefined) headers['Link'] = links;
  if (policy !== undefined) headers['Content-Security-Policy'] = policy;
  if (modified !== undefined) headers['Last-Modified'] = modified.toUTCString();
  return { status: 200, headers, body };
}

/** A document that stays in memory is hashed only once. */
const etags = new WeakMap<ServedDocument, string>();

function etagOf(document: ServedDocument): string {
  let etag = etags.get(document);
  if (etag === undefined) {
    etag = entityTag(document.body);
    etags.set(document, etag);
  }
  return etag;
}
