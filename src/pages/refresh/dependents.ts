/**
 * Which pages show a changed row: the references that pages follow, backwards.
 *
 * Invariant: when every page that is named for a change has been made from a state that contains
 * the change, no page shows what was before it. The state may be a later one: what else has changed
 * until then names its own pages. Pages that turn out the same may be among those named, but only
 * where the row is within reach of them.
 */
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import type { RowOf } from '../../model/rows.ts';
import type { Change } from '../../model/change.ts';
import { type Catalog, MAX_CHOICE_SKUS } from '../shop/contents.ts';
import {
  frontPage,
  listPage,
  type PageName,
  PART_SIZE,
  SITEMAP,
  type ShownKind,
  sitemapOf,
  skuPage,
} from '../shop/names.ts';

/** What pages show of the rows of a kind; rows of other kinds are on no page. */
const SHOWN: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  skus: 'name goods_id caption category_id price market_price stock sales is_launched'.split(' '),
  goods: ['name', 'brand_id', 'category3_id', 'desc_detail', 'desc_pack', 'desc_service'],
  brands: ['name', 'logo'],
  categories: ['name', 'parent_id'],
  specs: ['name', 'goods_id'],
  options: ['value', 'spec_id'],
  sku_specs: ['sku_id', 'spec_id', 'option_id'],
};

/** What lists show of a SKU. */
const LISTED = ['name', 'caption', 'price', 'stock', 'is_launched'];

/**
 * Rows through which many pages show a change, such as `brands/3`; `choices/7` stands for what the
 * pages of SPU 7 offer to choose from.
 */
export type FanOut =
  `${'brands' | 'goods' | 'categories' | 'specs' | 'options' | 'choices'}/${number}`;

export interface Affected {
  /** Names of pages, some of them more than once. */
  readonly pages: Iterable<PageName>;
  /** To be followed by {@link pagesOf}, at leisure. */
  readonly fans: readonly FanOut[];
}

/**
 * What shows a row that has changed.
 *
 * @param catalog the state after the change, or a later one; `pages` is read from it as well.
 */
export function affectedBy(catalog: Catalog, { kind, id, before, after }: Change): Affected {
  const shown = SHOWN[kind];
  if (shown === undefined || !differ(before, after, shown)) return { pages: [], fans: [] };
  switch (kind) {
    case 'skus':
      return { pages: ofSku(catalog, id, before, after), fans: choicesOf(catalog, before, after) };
    case 'sku_specs': {
      const sku = (after ?? before)?.sku_id ?? null;
      const row = catalog.get('skus', sku) ?? null;
      return {
        pages: row === null ? [] : withOptions(catalog, row),
        fans: row === null ? [] : choicesOf(catalog, null, row),
      };
    }
    case 'goods':
      return { pages: mapped(kind, id, before, after), fans: [`goods/${id}`] };
    case 'categories':
      return { pages: ofCategory(catalog, id, before, after), fans: [`categories/${id}`] };
    case 'brands':
    case 'specs':
    case 'options':
      return { pages: [], fans: [`${kind}/${id}`] };
    case 'books':
    case 'audits':
    case 'idempotency_keys':
      return { pages: [], fans: [] };
  }
}

/** Names of the pages behind a row, some of them more than once. */
export function* pagesOf(catalog: Catalog, fan: FanOut): Generator<PageName> {
  const [kind, digits] = fan.split('/') as [
    FanOut extends `${infer Kind}/${number}` ? Kind : never,
    string,
  ];
  const id = Number(digits);
  switch (kind) {
    case 'brands':
      for (const spu of idsOf(catalog, 'goods', 'brand_id', id)) yield* ofSpu(catalog, spu);
      break;
    case 'goods':
      yield* ofSpu(catalog, id);
      break;
    case 'choices':
      for (const sku of idsOf(catalog, 'skus', 'goods_id', id)) yield skuPage(sku);
      break;
    case 'categories':
      yield* belowCategory(catalog, id);
      break;
    case 'specs':
      yield* ofRecords(catalog, idsOf(catalog, 'sku_specs', 'spec_id', id));
      break;
    case 'options':
      yield* ofRecords(catalog, idsOf(catalog, 'sku_specs', 'option_id', id));
      break;
  }
}

function* ofSku(
  catalog: Catalog,
  id: number,
  before: RowOf<'skus'> | null,
  after: RowOf<'skus'> | null,
): Generator<PageName> {
  yield skuPage(id);
  for (const spu of valuesOf('goods_id', before, after)) {
    yield* inList(catalog, spuList(spu), id, before, after);
  }
  for (const category of valuesOf('category_id', before, after)) {
    yield* inList(catalog, skuList(category), id, before, after);
  }
  yield* mapped('skus', id, before, after);
}

/** The SPUs whose pages offer a SKU, where it comes, goes, or is put on sale or off. */
function choicesOf(
  catalog: Catalog,
  before: RowOf<'skus'> | null,
  after: RowOf<'skus'> | null,
): FanOut[] {
  const id = (after ?? before)?.id ?? 0;
  if (!differ(before, after, ['goods_id', 'is_launched'])) return [];
  return [...valuesOf('goods_id', before, after)]
    .filter((spu) => catalog.rank('skus', 'goods_id', spu, id) < MAX_CHOICE_SKUS)
    .map((spu) => `choices/${spu}` as const);
}

/** The pages, but for the other SKUs' own, that show the options of a SKU. */
function* withOptions(catalog: Catalog, sku: RowOf<'skus'>): Generator<PageName> {
  yield skuPage(sku.id);
  yield placed(catalog, spuList(sku.goods_id), sku.id);
  yield placed(catalog, skuList(sku.category_id), sku.id);
}

function* ofRecords(catalog: Catalog, records: Iterable<number>): Generator<PageName> {
  const spus = new Set<number>();
  for (const id of records) {
    const record = catalog.get('sku_specs', id);
    const sku = catalog.get('skus', record?.sku_id ?? null);
    if (sku === undefined) continue;
    yield* withOptions(catalog, sku);
    spus.add(sku.goods_id);
  }
  for (const spu of spus) yield* pagesOf(catalog, `choices/${spu}`);
}

/** Everything that shows an SPU, its brand or its texts. */
function* ofSpu(catalog: Catalog, id: number): Generator<PageName> {
  yield* allParts(catalog, spuList(id));
  yield* pagesOf(catalog, `choices/${id}`);
}

function* ofCategory(
  catalog: Catalog,
  id: number,
  before: RowOf<'categories'> | null,
  after: RowOf<'categories'> | null,
): Generator<PageName> {
  for (const parent of valuesOf('parent_id', before, after)) {
    yield* inList(catalog, categoryList(parent), id, before, after);
    // The entry of the parent names what is below it.
    const above = catalog.get('categories', parent);
    if (above !== undefined) {
      yield placed(catalog, categoryList(above.parent_id), above.id);
    }
  }
  yield* mapped('categories', id, before, after);
}

/** Everything on the way to which a category is. */
function* belowCategory(catalog: Catalog, id: number): Generator<PageName> {
  yield* allParts(catalog, categoryList(id));
  yield* allParts(catalog, skuList(id));
  for (const sku of idsOf(catalog, 'skus', 'category_id', id)) yield skuPage(sku);
  for (const spu of idsOf(catalog, 'goods', 'category3_id', id)) {
    yield* allParts(catalog, spuList(spu));
  }
  for (const below of idsOf(catalog, 'categories', 'parent_id', id)) {
    yield* belowCategory(catalog, below);
  }
}

/** What the sitemap tells of a row that comes or goes. */
function mapped(
  kind: ShownKind,
  id: number,
  before: Row | null,
  after: Row | null,
): readonly PageName[] {
  return before !== null && after !== null ? [] : [SITEMAP, sitemapOf(kind, id)];
}

/** A list that pages show in parts. */
interface List {
  readonly kind: 'skus' | 'categories';
  readonly attribute: string;
  readonly value: Scalar;
  /** @param part from 1. */
  readonly page: (part: number) => PageName;
}

function spuList(spu: number): List {
  const page = (part: number) => listPage('goods', spu, part);
  return { kind: 'skus', attribute: 'goods_id', value: spu, page };
}

function skuList(category: number): List {
  const page = (part: number) => listPage('categories', category, part);
  return { kind: 'skus', attribute: 'category_id', value: category, page };
}

function categoryList(parent: number | null): List {
  const page = (part: number) =>
    parent === null ? frontPage(part) : listPage('categories', parent, part);
  return { kind: 'categories', attribute: 'parent_id', value: parent, page };
}

/** The parts that change when a row of a list does, or comes, or goes. */
function* inList(
  catalog: Catalog,
  list: List,
  id: number,
  before: Row | null,
  after: Row | null,
): Generator<PageName> {
  if (differ(before, after, [list.attribute])) yield* shifted(catalog, list, id);
  else if (differ(before, after, LISTED)) yield placed(catalog, list, id);
}

/** The part that a row of the list is on. */
function placed(catalog: Catalog, { kind, attribute, value, page }: List, id: number): PageName {
  return page(partOf(catalog.rank(kind, attribute, value, id)));
}

/**
 * The parts that change when a row enters or leaves: from the one before its own, which may get or
 * lose the way to the next, to one behind the last, which may have to go.
 */
function* shifted(catalog: Catalog, list: List, id: number): Generator<PageName> {
  const { kind, attribute, value, page } = list;
  const first = Math.max(partOf(catalog.rank(kind, attribute, value, id)) - 1, 1);
  const last = lastPart(catalog, list) + 1;
  for (let part = first; part <= last; part += 1) yield page(part);
}

function* allParts(catalog: Catalog, list: List): Generator<PageName> {
  const last = lastPart(catalog, list);
  for (let part = 1; part <= last; part += 1) yield list.page(part);
}

function lastPart(catalog: Catalog, { kind, attribute, value }: List): number {
  const entries = catalog.rank(kind, attribute, value, Number.POSITIVE_INFINITY);
  return partOf(Math.max(entries - 1, 0));
}

/** @param rank entries before, so 0 for the first. */
function partOf(rank: number): number {
  return Math.floor(rank / PART_SIZE) + 1;
}

/** A copy: what it is read from may change before the last one is taken. */
function idsOf(catalog: Catalog, kind: KindName, attribute: string, value: Scalar): number[] {
  return [...catalog.matching(kind, attribute, value)];
}

/** The values that a row had and has. */
function valuesOf<R extends Row, A extends keyof R>(
  attribute: A,
  ...rows: readonly (R | null)[]
): Set<R[A]> {
  return new Set(rows.flatMap((row) => (row === null ? [] : [row[attribute]])));
}

function differ(before: Row | null, after: Row | null, attributes: readonly string[]): boolean {
  if (before === null || after === null) return before !== after;
  return attributes.some((attribute) => before[attribute] !== after[attribute]);
}
