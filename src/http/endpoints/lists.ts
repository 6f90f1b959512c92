/** The responses to GET of lists. */
import { type PagedQuery, PAGING_NAMES, parsePaging } from '../../resources/query/paging.ts';
import { parseParameters } from '../../resources/query/parameters.ts';
import type { Listing } from '../../resources/records.ts';
import type { HttpResponse } from '../message.ts';
import type { RequestContext } from '../operations/operation.ts';
import { pageLinks, upLink } from '../rules/links.ts';

type ListContext = Pick<RequestContext<unknown>, 'request' | 'mediaType'>;

/** A page of a list. @param segments see {@link upLink}. */
export function pageOf(
  { request, mediaType }: ListContext,
  query: PagedQuery,
  { text, total }: Listing,
  segments: string,
): HttpResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': mediaType,
      'X-Total-Count': String(total),
      Link: [...pageLinks(request.path, query, total), upLink(request.path, segments)].join(', '),
    },
    body: text,
  };
}

/** A page of a list whose entries are all in memory. @param segments see {@link upLink}. */
export function pageOfAll(
  context: ListContext,
  query: PagedQuery,
  all: readonly object[],
  segments: string,
): HttpResponse {
  const { offset, limit } = query.selection;
  const text = JSON.stringify(all.slice(offset, offset + limit));
  return pageOf(context, query, { text, total: all.length }, segments);
}

/** A list of about a hundred entries. */
interface ShortList {
  /** What is listed, in the plural, for messages. */
  readonly owner: string;
  readonly all: readonly object[];
  /** See {@link upLink}. */
  readonly segments: string;
}

/**
 * All entries of a short list, unless the query asks for a page.
 *
 * @throws CatalogError `malformed_query`.
 */
export function shortListOf(
  context: ListContext,
  { owner, all, segments }: ShortList,
): HttpResponse {
  const sent = parseParameters({ owner, names: PAGING_NAMES }, context.request.search);
  return pageOfAll(context, parsePaging(sent, true), all, segments);
}
