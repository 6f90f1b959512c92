/** Links to the other pages of a list, and from an item to its list (RFC 8288). */
import type { PagedQuery } from '../../resources/query/paging.ts';

/**
 * Characters of all links of a response together. A link repeats the filters of the request, which
 * may be long, and a proxy refuses a response with too many bytes of headers.
 */
const MAX_LINKS = 4096;

/**
 * Link values for those of the pages `first`, `prev`, `next` and `last` that exist. If they exceed
 * {@link MAX_LINKS}, the ones that are least important to a client that reads on are left out.
 *
 * @param path of the collection, as in the request.
 * @param total rows in all pages.
 */
export function pageLinks(path: string, query: PagedQuery, total: number): string[] {
  const { form, selection } = query;
  if (form === 'all') return [];
  const { offset, limit } = selection;
  const lastAt = Math.max(Math.ceil(total / limit) - 1, 0) * limit;
  const begin = `<${path}?${unpaged(query.others)}`;
  let room = MAX_LINKS;
  const linkTo = (rel: string, at: number): string | null => {
    const link = `${begin}${pagingAt(query, at)}>; rel="${rel}"`;
    room -= link.length;
    return room >= 0 ? link : null;
  };
  // By importance.
  const next = offset + limit < total ? linkTo('next', offset + limit) : null;
  const prev = offset > 0 ? linkTo('prev', Math.max(Math.min(offset - limit, lastAt), 0)) : null;
  const first = linkTo('first', 0);
  const last = linkTo('last', lastAt);
  return [first, prev, next, last].filter((link) => link !== null);
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
