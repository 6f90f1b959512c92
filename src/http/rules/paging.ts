/** Links to the other pages of a list (RFC 8288). */
import type { CollectionQuery } from '../../resources/query.ts';

/**
 * Characters of all links of a response together. A link repeats the filters of the request, which
 * may be long, and a proxy refuses a response with too many bytes of headers.
 */
const MAX_LINKS = 4096;

/**
 * Link values for the pages `first`, `prev`, `next` and `last`, as far as they exist; none if the
 * links would be longer than {@link MAX_LINKS}.
 *
 * @param path of the collection, as in the request.
 * @param total rows in all pages.
 */
export function pageLinks(path: string, query: CollectionQuery, total: number): string[] {
  const { form, selection } = query;
  if (form === 'all') return [];
  const { offset, limit } = selection;
  const last = Math.max(Math.ceil(total / limit) - 1, 0) * limit;
  const targets: (readonly [string, number])[] = [['first', 0]];
  if (offset > 0) targets.push(['prev', Math.max(Math.min(offset - limit, last), 0)]);
  if (offset + limit < total) targets.push(['next', offset + limit]);
  targets.push(['last', last]);
  const links = targets.map(([rel, at]) => `<${path}?${searchAt(query, at)}>; rel="${rel}"`);
  const length = links.reduce((sum, link) => sum + link.length, 0);
  return length > MAX_LINKS ? [] : links;
}

function searchAt({ form, selection, others }: CollectionQuery, offset: number): string {
  const { limit } = selection;
  const paging: [string, number][] =
    form === 'offset'
      ? [
          ['limit', limit],
          ['offset', offset],
        ]
      : [
          ['page', offset / limit + 1],
          ['per_page', limit],
        ];
  return [...others, ...paging]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
}
