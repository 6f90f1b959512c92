/** Links to the other pages of a list (RFC 8288). */
import type { PagedQuery } from '../../resources/query/paging.ts';

/**
 * Characters of all links of a response together. A link repeats the filters of the request, which
 * may be long, and a proxy refuses a response with too many bytes of headers.
 */
const MAX_LINKS = 4096;

/**
 * Link values for the pages `first`, `prev`, `next` and `last`, as far as they exist. If the links
 * would be longer than {@link MAX_LINKS}, only `prev` and `next`, or none.
 *
 * @param path of the collection, as in the request.
 * @param total rows in all pages.
 */
export function pageLinks(path: string, query: PagedQuery, total: number): string[] {
  const { form, selection } = query;
  if (form === 'all') return [];
  const { offset, limit } = selection;
  const last = Math.max(Math.ceil(total / limit) - 1, 0) * limit;
  const targets: (readonly [string, number])[] = [['first', 0]];
  if (offset > 0) targets.push(['prev', Math.max(Math.min(offset - limit, last), 0)]);
  if (offset + limit < total) targets.push(['next', offset + limit]);
  targets.push(['last', last]);
  const search = unpaged(query.others);
  const links = targets.map(
    ([rel, at]) => [rel, `<${path}?${search}${pagingAt(query, at)}>; rel="${rel}"`] as const,
  );
  const neighbours = links.filter(([rel]) => rel === 'prev' || rel === 'next');
  const shown = [links, neighbours].find((some) => lengthOf(some) <= MAX_LINKS) ?? [];
  return shown.map(([, link]) => link);
}

function lengthOf(links: readonly (readonly [rel: string, link: string])[]): number {
  return links.reduce((sum, [, link]) => sum + link.length, 0);
}

/** What follows the question mark of every link, up to the parameters that page. */
function unpaged(others: PagedQuery['others']): string {
  return others
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}&`)
    .join('');
}

function pagingAt({ form, selection: { limit } }: PagedQuery, offset: number): string {
  if (form === 'offset') return `limit=${limit}&offset=${offset}`;
  return `page=${offset / limit + 1}&per_page=${limit}`;
}
