/** The sitemap (https://www.sitemaps.org/protocol.html): an index, and files of a range of ids each. */
import type { Catalog } from './catalog.ts';
import {
  FRONT,
  listPage,
  type PageName,
  SHOWN_KINDS,
  SITEMAP,
  SITEMAP_PART,
  type ShownKind,
  sitemapPage,
  skuPage,
} from './names.ts';

/** Names of all files of the sitemap. */
export function* sitemaps(catalog: Catalog): Generator<PageName> {
  yield SITEMAP;
  yield* sitemapParts(catalog);
}

/**
 * Names of the files that the index lists: those that are not empty. There is always one, as the
 * protocol requires: the one that lists the front page.
 */
export function* sitemapParts(catalog: Catalog): Generator<PageName> {
  for (const of of SHOWN_KINDS) {
    let part = isWithFront(of, 1) ? 1 : nextPart(catalog, of, 0);
    // Not every id up to the last one: a shop may have deleted millions.
    for (; part !== undefined; part = nextPart(catalog, of, part)) yield sitemapPage(of, part);
  }
}

/** The next file after one that lists a row; undefined if there is none. */
function nextPart(catalog: Catalog, of: ShownKind, part: number): number | undefined {
  const id = catalog.firstId(of, part * SITEMAP_PART + 1);
  return id === undefined ? undefined : Math.ceil(id / SITEMAP_PART);
}

/** Names of the pages that a file lists; none if there is no such file. */
export function sitemapPages(catalog: Catalog, of: ShownKind, part: number): PageName[] {
  const pages = [...idsOf(catalog, of, part)].map((id) =>
    of === 'skus' ? skuPage(id) : listPage(of, id),
  );
  return isWithFront(of, part) ? [FRONT, ...pages] : pages;
}

/** The front page, which belongs to no row, is listed with the first categories. */
function isWithFront(of: ShownKind, part: number): boolean {
  return of === 'categories' && part === 1;
}

function* idsOf(catalog: Catalog, of: ShownKind, part: number): Generator<number> {
  const last = Math.min(part * SITEMAP_PART, catalog.lastId(of));
  for (let id = (part - 1) * SITEMAP_PART + 1; id <= last; id += 1) {
    if (catalog.has(of, id)) yield id;
  }
}
