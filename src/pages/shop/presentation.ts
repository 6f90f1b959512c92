/** What the templates are given, by page: docs/pages.md lists it for people who write their own. */
import { existingRow, type RowOf } from '../../model/rows.ts';
import type { Contents, Item, Listed, Named } from './contents.ts';
import { type Crumb, product } from './metadata.ts';
import { frontPage, listPage, type PageName, skuPage } from './names.ts';
import type { PriceFormat } from './price.ts';
import { richText, summaryOf, summaryOfHtml } from './rich-text.ts';

/** Characters of a description in search results. */
const MAX_META_DESCRIPTION_LENGTH = 160;

/** How values are put for the world. */
export interface Presentation {
  readonly prices: PriceFormat;
  /** ISO 4217. */
  readonly currency: string;
  /** The public address of a page; null where none is known. */
  readonly absolute: (page: PageName) => string | null;
}

export interface PageContent {
  readonly title: string;
  readonly description: string;
  /** The way to the page, without the front page. */
  readonly crumbs: readonly Crumb[];
  /** JSON-LD. */
  readonly metadata: readonly object[];
  /** What the template of the page shows besides. */
  readonly [name: string]: unknown;
}

/** @returns null where there is no such SKU. */
export function skuContent(
  contents: Contents,
  { prices, currency, absolute }: Presentation,
  id: number,
): PageContent | null {
  const row = contents.catalog.get('skus', id);
  if (row === undefined) return null;
  const { cost_price: _, ...sku } = row;
  const spu = existingRow(contents.catalog, 'goods', row.goods_id);
  const brand = shownBrand(contents, spu);
  const path = contents.categoryPath(row.category_id);
  const specifications = contents.specifications(id);
  const { name, price, market_price: market, is_launched: launched } = row;
  const inStock = row.stock > 0;
  const caption = summaryOf(row.caption, MAX_META_DESCRIPTION_LENGTH);
  const description = caption || summaryOfHtml(spu.desc_detail, MAX_META_DESCRIPTION_LENGTH);
  return {
    title: name,
    description,
    crumbs: [...crumbsOf(path), { name: spu.name, page: listPage('goods', spu.id) }],
    // Search engines refuse a product without an offer, and what is off sale shows no price.
    metadata: launched
      ? [
          product({
            id,
            name,
            description,
            brand: brand?.name ?? null,
            category: path.map((category) => category.name),
            url: absolute(skuPage(id)),
            offer: { price: prices.exact(price), currency, inStock },
          }),
        ]
      : [],
    sku,
    spu: { ...named(spu), page: listPage('goods', spu.id), ...descriptions(spu) },
    brand,
    price: launched ? prices.shown(price) : null,
    exactPrice: launched ? prices.exact(price) : null,
    marketPrice: launched && market > price ? prices.shown(market) : null,
    specifications,
    choices: contents.choices(spu.id, specifications).map((choice) => ({
      name: choice.name,
      options: choice.options.map(({ value, sku: other, launched: available }) => ({
        value,
        page: other === null ? null : skuPage(other),
        available,
      })),
    })),
  };
}

/** @returns null where there is no such SPU, or no such part of its list. */
export function spuContent(
  contents: Contents,
  presentation: Presentation,
  id: number,
  part: number,
): PageContent | null {
  const row = contents.catalog.get('goods', id);
  const items = contents.items('goods_id', id, part);
  if (row === undefined || (part > 1 && items.entries.length === 0)) return null;
  return {
    title: row.name,
    description: summaryOfHtml(row.desc_detail, MAX_META_DESCRIPTION_LENGTH),
    crumbs: crumbsOf(contents.categoryPath(row.category3_id)),
    metadata: [],
    spu: { ...named(row), ...descriptions(row) },
    brand: shownBrand(contents, row),
    items: shownItems(items, presentation),
    ...neighbours((to) => listPage('goods', id, to), part, items),
  };
}

/** @returns null where there is no such category, or no such part of its list. */
export function categoryContent(
  contents: Contents,
  presentation: Presentation,
  id: number,
  part: number,
): PageContent | null {
  const path = contents.categoryPath(id);
  const own = path.at(-1);
  const categories = contents.categories(id, part);
  const items = contents.items('category_id', id, part);
  const entries = categories.entries.length + items.entries.length;
  if (own === undefined || (part > 1 && entries === 0)) return null;
  return {
    title: own.name,
    description: path.map(({ name }) => name).join(' › '),
    crumbs: crumbsOf(path.slice(0, -1)),
    metadata: [],
    categories: categories.entries.map(shownCategory),
    items: shownItems(items, presentation),
    ...neighbours((to) => listPage('categories', id, to), part, categories, items),
  };
}

/** @returns null where there is no such part of the list of categories. */
export function frontContent(
  contents: Contents,
  part: number,
  shopName: string,
): PageContent | null {
  const categories = contents.categories(null, part);
  if (part > 1 && categories.entries.length === 0) return null;
  return {
    title: shopName,
    description: shopName,
    crumbs: [],
    metadata: [],
    categories: categories.entries.map(shownCategory),
    ...neighbours(frontPage, part, categories),
  };
}

function named({ id, name }: Named): Named {
  return { id, name };
}

function crumbsOf(path: readonly Named[]): Crumb[] {
  return path.map(({ id, name }) => ({ name, page: listPage('categories', id) }));
}

function shownBrand(
  contents: Contents,
  spu: RowOf<'goods'>,
): (Named & { logo: string | null }) | null {
  const brand = contents.catalog.get('brands', spu.brand_id);
  return brand === undefined ? null : { ...named(brand), logo: pictureUrl(brand.logo) };
}

/** HTML, safe as it is. */
function descriptions(spu: RowOf<'goods'>): object {
  return {
    detail: richText(spu.desc_detail),
    pack: richText(spu.desc_pack),
    service: richText(spu.desc_service),
  };
}

function shownItems({ entries }: Listed<Item>, { prices }: Presentation): object[] {
  return entries.map(({ price, ...item }) => ({
    ...item,
    page: skuPage(item.id),
    price: item.launched ? prices.shown(price) : null,
  }));
}

function shownCategory({ id, name, below }: Named & { below: readonly Named[] }): object {
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

/** An address that may stand in `src`: of this host, or by https; null for any other text. */
function pictureUrl(text: string): string | null {
  if (/[\s\\]/.test(text)) return null;
  if (/^\/(?!\/)/.test(text)) return text;
  return /^https:\/\/[^/]/i.test(text) && URL.canParse(text) ? text : null;
}
