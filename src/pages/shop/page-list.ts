/** Which pages a shop has. */
import { type Catalog, idsIn } from './catalog.ts';
import {
  frontPage,
  listPage,
  type PageName,
  PART_SIZE,
  parseName,
  skuPage,
  STYLE,
} from './names.ts';
import { sitemapPages, sitemapParts, sitemaps } from './sitemap.ts';

export class PageList {
  readonly hasSitemap: boolean;

  /** @param hasSitemap whether the shop has a public address. */
  constructor(hasSitemap: boolean) {
    this.hasSitemap = hasSitemap;
  }

  /** Every page of the shop; pages that show the same rows are next to each other. */
  *all(catalog: Catalog): Generator<PageName> {
    yield STYLE;
    yield* parts(frontPage, countOf(catalog, 'categories', 'parent_id', null));
    for (const id of idsIn(catalog, 'categories')) {
      yield* parts((part) => listPage('categories', id, part), entriesOf(catalog, id));
    }
    for (const id of idsIn(catalog, 'goods')) {
      const skus = [...catalog.matching('skus', 'goods_id', id)];
      yield* parts((part) => listPage('goods', id, part), skus.length);
      for (const sku of skus) yield skuPage(sku);
    }
    if (this.hasSitemap) yield* sitemaps(catalog);
  }

  /** How many pages {@link all} gives, without naming them. Yields between rows. */
  *count(catalog: Catalog): Generator<undefined, number> {
    let count = 1 + partsOf(countOf(catalog, 'categories', 'parent_id', null));
    for (const id of idsIn(catalog, 'categories')) {
      count += partsOf(entriesOf(catalog, id));
      yield;
    }
    for (const id of idsIn(catalog, 'goods')) {
      count += partsOf(countOf(catalog, 'skus', 'goods_id', id));
      yield;
    }
    count += catalog.count('skus');
    if (this.hasSitemap) count += 1 + [...sitemapParts(catalog)].length;
    return count;
  }

  /** Whether a page is one of {@link all}. */
  has(catalog: Catalog, name: PageName): boolean {
    const page = parseName(name);
    switch (page?.type) {
      case undefined:
        return false;
      case 'style':
        return true;
      case 'sku':
        return catalog.has('skus', page.id);
      case 'spu': {
        const skus = countOf(catalog, 'skus', 'goods_id', page.id);
        return catalog.has('goods', page.id) && page.part <= partsOf(skus);
      }
      case 'category': {
        const entries = entriesOf(catalog, page.id);
        return catalog.has('categories', page.id) && page.part <= partsOf(entries);
      }
      case 'front':
        return page.part <= partsOf(countOf(catalog, 'categories', 'parent_id', null));
      case 'sitemap':
        return this.hasSitemap;
      case 'sitemap-part':
        return this.hasSitemap && sitemapPages(catalog, page.of, page.part).length > 0;
    }
  }
}

/** How many rows refer to a row. */
function countOf(
  catalog: Catalog,
  kind: 'skus' | 'categories',
  attribute: string,
  value: number | null,
): number {
  return catalog.rank(kind, attribute, value, Number.POSITIVE_INFINITY);
}

/** The entries of the longer of the two lists on the page of a category. */
function entriesOf(catalog: Catalog, category: number): number {
  return Math.max(
    countOf(catalog, 'categories', 'parent_id', category),
    countOf(catalog, 'skus', 'category_id', category),
  );
}

function* parts(page: (part: number) => PageName, entries: number): Generator<PageName> {
  for (let part = 1; part <= partsOf(entries); part += 1) yield page(part);
}

/** Parts of a list; an empty list has one. */
function partsOf(entries: number): number {
  return Math.max(Math.ceil(entries / PART_SIZE), 1);
}
