/** The pages of a shop: which there are, and each of them from the rows that it shows. */
import { type Catalog, Contents } from './contents.ts';
import { breadcrumbs, type Crumb, scriptJson } from './metadata.ts';
import {
  FRONT,
  frontPage,
  listPage,
  type Page,
  type PageName,
  PART_SIZE,
  parseName,
  rootOf,
  skuPage,
  STYLE,
} from './names.ts';
import { PriceFormat } from './price.ts';
import type { PageSettings } from './settings.ts';
import {
  categoryContent,
  frontContent,
  type PageContent,
  type Presentation,
  skuContent,
  spuContent,
} from './presentation.ts';
import { sitemapPages, sitemapParts, sitemaps } from './sitemap.ts';
import type { Templates } from './templates.ts';

/** A page that shows rows by a template of its own. */
type ContentPage = Extract<Page, { type: 'sku' | 'spu' | 'category' | 'front' }>;

interface Content {
  readonly template: string;
  readonly content: PageContent;
}

export class Site {
  readonly #templates: Templates;
  readonly #settings: PageSettings;
  readonly #presentation: Presentation;
  #contents: Contents | null = null;

  /** @throws RangeError where the currency or the locale is malformed. */
  constructor(templates: Templates, settings: PageSettings) {
    this.#templates = templates;
    this.#settings = settings;
    this.#presentation = {
      prices: new PriceFormat(settings.currency, settings.locale),
      currency: settings.currency,
      absolute: (page) => this.#absolute(page),
    };
  }

  /**
   * @returns the text of the file; null where the store has nothing for such a page.
   * @throws CatalogError `page_failed` from a template.
   */
  render(catalog: Catalog, name: PageName): string | null {
    const page = parseName(name);
    if (page === null) return null;
    if (page.type === 'style') return this.#templates.style;
    if (page.type === 'sitemap' || page.type === 'sitemap-part') return this.#map(catalog, page);
    const found = this.#content(this.#contentsOf(catalog), page);
    return found && this.#templates.render(found.template, this.#complete(name, found.content));
  }

  /** Every page that there should be, pages that show the same rows next to each other. */
  *all(catalog: Catalog): Generator<PageName> {
    yield STYLE;
    yield* parts(frontPage, countOf(catalog, 'categories', 'parent_id', null));
    for (const id of Array.from(catalog.ids('categories'))) {
      yield* parts((part) => listPage('categories', id, part), entriesOf(catalog, id));
    }
    for (const id of Array.from(catalog.ids('goods'))) {
      const skus = [...catalog.matching('skus', 'goods_id', id)];
      yield* parts((part) => listPage('goods', id, part), skus.length);
      for (const sku of skus) yield skuPage(sku);
    }
    if (this.#settings.publicUrl !== null) yield* sitemaps(catalog);
  }

  /** How many {@link all} gives, without naming them. */
  count(catalog: Catalog): number {
    let count = 1 + partsOf(countOf(catalog, 'categories', 'parent_id', null));
    for (const id of catalog.ids('categories')) count += partsOf(entriesOf(catalog, id));
    for (const id of catalog.ids('goods')) {
      count += partsOf(countOf(catalog, 'skus', 'goods_id', id));
    }
    count += catalog.count('skus');
    if (this.#settings.publicUrl !== null) for (const _ of sitemaps(catalog)) count += 1;
    return count;
  }

  /** Whether a page is one of {@link all}. */
  has(catalog: Catalog, name: PageName): boolean {
    const page = parseName(name);
    if (page === null) return false;
    switch (page.type) {
      case 'style':
        return true;
      case 'sku':
        return catalog.get('skus', page.id) !== undefined;
      case 'spu':
        return (
          catalog.get('goods', page.id) !== undefined &&
          page.part <= partsOf(countOf(catalog, 'skus', 'goods_id', page.id))
        );
      case 'category':
        return (
          catalog.get('categories', page.id) !== undefined &&
          page.part <= partsOf(entriesOf(catalog, page.id))
        );
      case 'front':
        return page.part <= partsOf(countOf(catalog, 'categories', 'parent_id', null));
      case 'sitemap':
        return this.#settings.publicUrl !== null;
      case 'sitemap-part':
        return (
          this.#settings.publicUrl !== null && sitemapPages(catalog, page.of, page.part).length > 0
        );
    }
  }

  /** What was gathered of one state of the store serves until there is another. */
  #contentsOf(catalog: Catalog): Contents {
    if (this.#contents?.isOf(catalog) !== true) this.#contents = new Contents(catalog);
    return this.#contents;
  }

  #content(contents: Contents, page: ContentPage): Content | null {
    const presentation = this.#presentation;
    switch (page.type) {
      case 'sku':
        return from('sku.njk', skuContent(contents, presentation, page.id));
      case 'spu':
        return from('spu.njk', spuContent(contents, presentation, page.id, page.part));
      case 'category':
        return from('category.njk', categoryContent(contents, presentation, page.id, page.part));
      case 'front':
        return from('front.njk', frontContent(contents, page.part, this.#settings.shopName));
    }
  }

  /** Adds what every page has around its content. */
  #complete(name: PageName, content: PageContent): object {
    const { shopName, locale, currency, publicUrl } = this.#settings;
    const crumbs: readonly Crumb[] =
      name === FRONT ? [] : [{ name: 'Home', page: FRONT }, ...content.crumbs];
    const metadata: object[] = [...content.metadata];
    if (publicUrl !== null && crumbs.length > 0) {
      metadata.push(
        breadcrumbs([...crumbs, { name: content.title, page: name }], (page) =>
          String(this.#absolute(page)),
        ),
      );
    }
    // The content was made for this page alone: a copy would cost as much as the rest of this.
    return Object.assign(content, {
      crumbs,
      shop: { name: shopName, locale, currency },
      root: rootOf(name),
      style: `${STYLE}?v=${this.#templates.styleVersion}`,
      canonical: this.#absolute(name),
      jsonLd: metadata.map(scriptJson),
    });
  }

  #map(catalog: Catalog, page: Extract<Page, { type: `sitemap${string}` }>): string | null {
    if (this.#settings.publicUrl === null) return null;
    const isIndex = page.type === 'sitemap';
    const pages = isIndex ? [...sitemapParts(catalog)] : sitemapPages(catalog, page.of, page.part);
    if (!isIndex && pages.length === 0) return null;
    const addresses = pages.map((each) => this.#absolute(each));
    return this.#templates.render(isIndex ? 'sitemap-index.njk' : 'sitemap.njk', { addresses });
  }

  /** The public address of a page, that of its folder for the front page; null where none is known. */
  #absolute(name: PageName): string | null {
    const { publicUrl } = this.#settings;
    return publicUrl === null ? null : `${publicUrl}/${name === FRONT ? '' : name}`;
  }
}

function from(template: string, content: PageContent | null): Content | null {
  return content && { template, content };
}

function countOf(
  catalog: Catalog,
  kind: 'skus' | 'categories',
  attribute: string,
  value: number | null,
): number {
  const none = { sortby: 'id', order: 'asc', offset: 0, limit: 0 } as const;
  return catalog.select(kind, { filters: [[attribute, value]], ...none }).total;
}

/** What the page of a category lists. */
function entriesOf(catalog: Catalog, category: number): number {
  return (
    countOf(catalog, 'categories', 'parent_id', category) +
    countOf(catalog, 'skus', 'category_id', category)
  );
}

function* parts(page: (part: number) => PageName, entries: number): Generator<PageName> {
  for (let part = 1; part <= partsOf(entries); part += 1) yield page(part);
}

/** Parts of a list; one of nothing has its first. */
function partsOf(entries: number): number {
  return Math.max(Math.ceil(entries / PART_SIZE), 1);
}
