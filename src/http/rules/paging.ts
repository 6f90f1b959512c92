/** Paging facts as headers: `X-Total-Count`, and `Link` (RFC 8288) to the other pages. */
import type { CollectionQuery } from '../../resources/query.ts';

/**
 * Link values for the `first`, `prev`, `next` and `last` pages that there are.
 *
 * @param path of the collection as the client called it.
 * @param total rows of all pages together.
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
  return targets.map(([rel, at]) => `<${path}?${searchAt(query, at)}>; rel="${rel}"`);
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
