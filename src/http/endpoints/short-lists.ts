/** Lists of about a hundred entries. A response has all of them, unless the query asks for a page. */
import { PAGING_NAMES, parsePaging, unpagedOf } from '../../resources/query/paging.ts';
import { parseParameters } from '../../resources/query/parameters.ts';
import type { HttpResponse } from '../message.ts';
import type { RequestContext } from '../operations/operation.ts';
import { pageOf } from './kinds/collections.ts';

/** A list and what it contains. */
export interface ShortList {
  /** What is listed, in the plural, for messages. */
  readonly owner: string;
  readonly all: readonly object[];
  /** See `upLink` (rules/paging.ts). */
  readonly segments: string;
}

/**
 * The response to GET of the list.
 *
 * @throws CatalogError `malformed_query`.
 */
export function shortListOf(
  context: Pick<RequestContext<unknown>, 'request' | 'mediaType'>,
  { owner, all, segments }: ShortList,
): HttpResponse {
  const sent = parseParameters({ owner, names: PAGING_NAMES }, context.request.search);
  const { form, offset, limit } = parsePaging(sent, true);
  const query = { form, selection: { offset, limit }, others: unpagedOf(sent) };
  const listing = {
    text: JSON.stringify(all.slice(offset, offset + limit)),
    total: all.length,
  };
  return pageOf(context, query, listing, segments);
}
