/** The values that templates get, by page: docs/pages.md lists them for authors of templates. */
import { choicesOf, type Variant } from '../shop/choices.ts';
import type {
  Brand,
  CategoryPageFacts,
  FrontPageFacts,
  Item,
  Listed,
  ListedCategory,
  Named,
  SkuPageFacts,
  Spu,
  SpuFacts,
  SpuPageFacts,
} from '../shop/facts.ts';
import { type Crumb, product } from './metadata.ts';
import { frontPage, listPage, type PageName, skuPage } from '../shop/names.ts';
import type { PriceFormat } from './price.ts';
import { richText, summaryOf, summaryOfHtml } from './rich-text.ts';
import type { Words } from './words.ts';

/** Characters of a description in search results. */
const MAX_META_DESCRIPTION_LENGTH = 160;

/** How values are shown. */
export interface Presentation {
  readonly prices: PriceFormat;
  /** ISO 4217. */
  readonly currency: string;
  readonly words: Words;
  /** The public address of a page; null if the shop has none. */
  readonly absolute: (page: PageName) => string | null;
}

export interface PageContent {
  readonly title: string;
  readonly description: string;
  /** The pages above this one, without the front page. */
  readonly crumbs: readonly Crumb[];
  /** JSON-LD. */
  readonly metadata: readonly object[];
  /** Further values for the template of the page. */
  readonly [name: string]: unknown;
}

/** The page of a SKU. Only a SKU that is on sale has a price, and an offer for search engines. */
export function skuContent(
  { prices, currency, words, absolute }: Presentation,
  { spu, brand, variants }: SpuFacts,
  { sku, path, specifications }: SkuPageFacts,
): PageContent {
  const { id, name, code } = sku;
  const { price, market_price: market, is_launched: launched } = sku;
  const description = summaryOf(sku.caption, MAX_META_DESCRIPTION_LENGTH) || summaryOfSpu(spu);
  return {
    title: name,
    description,
    crumbs: [...crumbsOf(path), { name: spu.name, page: listPage('goods', spu.id) }],
    // Search engines reject a product without an offer, and a SKU that is off sale has no price.
    metadata: launched
      ? [
          product({
            sku: code ?? String(id),
            name,
            description,
            brand: brand?.name ?? null,
            category: path.map((category) => category.name),
            url: absolute(skuPage(id)),
            offer: { price: prices.exact(price), currency, inStock: sku.stock > 0 },
          }),
        ]
      : [],
    sku,
    spu: shownSpu(spu, words),
    brand: shownBrand(brand),
    price: launched ? prices.shown(price) : null,
    exactPrice: launched ? prices.exact(price) : null,
    marketPrice: launched && market > price ? prices.shown(market) : null,
    stock: launched ? prices.count(sku.stock) : null,
    specifications,
    choices: shownChoices(variants, { id, launched, specifications }),
  };
}

/**
 * A page of an SPU: its texts, and some of its SKUs.
 *
 * @param part of the list of SKUs, from 1; the facts are about this part.
 */
export function spuContent(
  presentation: Presentation,
  { spu, brand, path, items }: SpuPageFacts,
  part: number,
): PageContent {
  return {
    title: spu.name,
    description: summaryOfSpu(spu),
    crumbs: crumbsOf(path),
    metadata: [],
    spu: shownSpu(spu, presentation.words),
    brand: shownBrand(brand),
    items: shownItems(items, presentation),
    ...neighbours((to) => listPage('goods', spu.id, to), part, items),
  };
}

/**
 * A page of a category: the categories below it, and some of its SKUs.
 *
 * @param id of the category.
 * @param part of both lists, from 1; the facts are about this part.
 */
export function categoryContent(
  presentation: Presentation,
  { path, categories, items }: CategoryPageFacts,
  id: number,
  part: number,
): PageContent {
  return {
    title: path.at(-1)?.name ?? '',
    description: path.map(({ name }) => name).join(' › '),
    crumbs: crumbsOf(path.slice(0, -1)),
    metadata: [],
    categories: categories.entries.map(shownCategory),
    items: shownItems(items, presentation),
    ...neighbours((to) => listPage('categories', id, to), part, categories, items),
  };
}

/**
 * A part of the front page.
 *
 * @param part of the list of categories of the first level, from 1.
 * @param shopName the title, and the description in search results.
 */
export function frontContent(
  { categories }: FrontPageFacts,
  part: number,
  shopName: string,
): PageContent {
  return {
    title: shopName,
    description: shopName,
    crumbs: [],
    metadata: [],
    categories: categories.entries.map(shownCategory),
    ...neighbours(frontPage, part, categories),
  };
}

function summaryOfSpu({ detail }: Spu): string {
  return summaryOfHtml(detail, MAX_META_DESCRIPTION_LENGTH);
}

function crumbsOf(path: readonly Named[]): Crumb[] {
  return path.map(({ id, name }) => ({ name, page: listPage('categories', id) }));
}

function shownBrand(brand: Brand | null): (Named & { logo: string | null }) | null {
  return brand && { ...brand, logo: pictureUrl(brand.logo) };
}

/** The SPU with its first page, and with its descriptions as safe HTML. */
function shownSpu(
  { id, name, detail, pack, service }: Spu,
  words: Words,
): Spu & { page: PageName } {
  return {
    id,
    name,
    page: listPage('goods', id),
    detail: richText(detail, words.details),
    pack: richText(pack, words.pack),
    service: richText(service, words.service),
  };
}

function shownChoices(variants: readonly Variant[], own: Variant): object[] {
  return choicesOf(variants, own).map(({ name, options }) => ({
    name,
    options: options.map(({ value, sku, launched: available }) => ({
      value,
      page: sku === null ? null : skuPage(sku),
      available,
    })),
  }));
}

function shownItems({ entries }: Listed<Item>, { prices }: Presentation): object[] {
  return entries.map(({ price, ...item }) => ({
    ...item,
    page: skuPage(item.id),
    price: item.launched ? prices.shown(price) : null,
  }));
}

function shownCategory({ id, name, below }: ListedCategory): object {
  return {
    name,
    page: listPage('categories', id),
    below: below.map((each) => ({ name: each.name, page: listPage('categories', each.id) })),
  };
}

function neighbours(
  page: (part: number) => PageName,
  part: number,
  ...lists: readonly Listed<unknown>[]
): object {
  return {
    part,
    previous: part > 1 ? page(part - 1) : null,
    next: lists.some(({ hasNext }) => hasNext) ? page(part + 1) : null,
  };
}

/** An address that is allowed in `src`: on the same host, or by https; null for any other text. */
function pictureUrl(text: string): string | null {
  if (/[\s\\]/.test(text)) return null;
  if (/^\/(?!\/)/.test(text)) return text;
  return /^https:\/\/[^/]/i.test(text) && URL.canParse(text) ? text : null;
}
