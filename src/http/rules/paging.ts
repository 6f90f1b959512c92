/** Links to the other pages of a list, and from an item to its list (RFC 8288). */
import type { PagedQuery } from '../../resources/query/paging.ts';

/**
 * Characters of all links of a response together. A link repeats the filters of the request, which
 * may be long, and a proxy refuses a response with too many bytes of headers.
 */
const MAX_LINKS = 4096;

/** By importance to a client that reads on. */
const FIRST_TO_KEEP = ['next', 'prev', 'first', 'last'];

/**
 * Link values for those of the pages `first`, `prev`, `next` and `last` that exist. If they exceed
 * {@link MAX_LINKS}, the last ones of {@link FIRST_TO_KEEP} are left out.
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
  const lengths = new Map(links.map(([rel, link]) => [rel, link.length]));
  const kept = new Set<string>();
  let room = MAX_LINKS;
  for (const rel of FIRST_TO_KEEP) {
    room -= lengths.get(rel) ?? 0;
    if (room >= 0) kept.add(rel);
  }
  return links.filter(([rel]) => kept.has(rel)).map(([, link]) => link);
}

/** The Link value of an item. @param path of the item, as in the request. */
export function itemLinks(path: string): string {
  const collection = path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
  return `<${collection}>; rel="collection", <${collection}>; rel="up"`;
}

/**
 * The Link value of a list.
 *
 * @param path of the list, as in the request.
 * @param segments the end of the path, after the path of its parent: `admin/imports/`.
 */
export function upLink(path: string, segments: string): string {
  return `<${path.slice(0, -segments.length)}>; rel="up"`;
}

/** The query of every link, without the paging parameters. */
function unpaged(others: PagedQuery['others']): string {
  return others
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}&`)
    .join('');
}

function pagingAt({ form, selection: { limit } }: PagedQuery, offset: number): string {
  if (form === 'offset') return `limit=${limit}&offset=${offset}`;
  return `page=${offset / limit + 1}&per_page=${limit}`;
}
