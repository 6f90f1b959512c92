/**
 * Finds the pages that show a changed row, by following the references of pages backwards.
 *
 * Invariant: once every page that is named for a change has been made from a state that contains
 * the change, no page shows the state before it. The state may be a later one, since later changes
 * name their own pages. A named page may turn out unchanged, but only pages that can reach the row
 * by references are named.
 */
import type { KindName, Scalar } from '../../model/kind.ts';
import { ShardedMap } from '../../store/memory/maps/sharded-map.ts';
import type { Catalog } from '../shop/catalog.ts';
import { MAX_CHOICE_SKUS } from '../shop/gather.ts';
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
import { RECORDS, type RowSummary } from './row-summaries.ts';

/** The attributes of a SKU or a category that lists show. */
const LISTED = ['name', 'caption', 'price', 'stock', 'is_launched', RECORDS];

/** The attributes of a SKU that the pages of the other SKUs of its SPU show. */
const CHOSEN = ['goods_id', 'is_launched', RECORDS];

/**
 * A row that many pages show, such as `brands/3`; `choices/7` stands for what the pages of SPU 7
 * offer to choose from.
 */
export type FanOut =
  `${'brands' | 'goods' | 'categories' | 'specs' | 'options' | 'choices'}/${number}`;

export interface Dependents {
  /** Names of pages, some of them more than once. */
  readonly pages: Iterable<PageName>;
  /** To be expanded by {@link expand}, step by step. */
  readonly fanOuts: readonly FanOut[];
}

/**
 * The lists whose ends are named, from which part on: a row that enters or leaves a list changes
 * all parts after it. If thousands of rows leave a long list, its end is named once for all of them.
 */
export class NamedEnds {
  /** By attribute and value of the list. */
  readonly #firstParts = new ShardedMap<string, number>();

  /**
   * Notes that the parts of a list from `first` on are named.
   *
   * @returns the part before which naming may end; undefined if none is named yet.
   */
  add({ attribute, value }: List, first: number): number | undefined {
    const key = `${attribute} ${value}`;
    const named = this.#firstParts.get(key);
    if (named === undefined || first < named) this.#firstParts.set(key, first);
    return named;
  }
}

/**
 * The pages that show a changed row.
 *
 * @param catalog the state after the change, or a later one; iterating `pages` reads it as well.
 * @param ends what was named for other rows, if the changes of all of them were committed before the
 *   first of these calls.
 */
export function dependentsOf(catalog: Catalog, summary: RowSummary, ends: NamedEnds): Dependents {
  const { kind, id } = summary;
  switch (kind) {
    case 'skus': {
      const fanOuts = choicesWith(catalog, summary);
      return { pages: pagesOfSku(catalog, summary, ends, fanOuts), fanOuts };
    }
    case 'goods':
      return { pages: sitemapFilesOf(kind, summary), fanOuts: [`goods/${id}`] };
    case 'categories':
      return { pages: pagesOfCategory(catalog, summary, ends), fanOuts: [`categories/${id}`] };
    case 'brands':
    case 'specs':
    case 'options':
      return { pages: [], fanOuts: [`${kind}/${id}`] };
    case 'sku_specs':
      throw new Error('a specification record is summarised with its SKU');
  }
}

/**
 * Names of the pages that show a row, some of them more than once.
 *
 * @returns what else is to be expanded: many rows may have the same one.
 */
export function* expand(catalog: Catalog, fanOut: FanOut): Generator<PageName, readonly FanOut[]> {
  const [kind, digits] = fanOut.split('/') as [
    FanOut extends `${infer Kind}/${number}` ? Kind : never,
    string,
  ];
  const id = Number(digits);
  switch (kind) {
    case 'brands':
      for (const spu of idsOf(catalog, 'goods', 'brand_id', id)) yield* pagesOfSpu(catalog, spu);
      break;
    case 'goods':
      yield* pagesOfSpu(catalog, id);
      break;
    case 'choices':
      for (const sku of idsOf(catalog, 'skus', 'goods_id', id)) yield skuPage(sku);
      break;
    case 'categories':
      yield* pagesBelow(catalog, id);
      break;
    case 'specs':
      return yield* pagesWithRecords(catalog, idsOf(catalog, 'sku_specs', 'spec_id', id));
    case 'options':
      return yield* pagesWithRecords(catalog, idsOf(catalog, 'sku_specs', 'option_id', id));
  }
  return [];
}

/** @param choices fan-outs that name the SKU's own page as well if its SPU is among them. */
function* pagesOfSku(
  catalog: Catalog,
  summary: RowSummary,
  ends: NamedEnds,
  choices: readonly FanOut[],
): Generator<PageName> {
  const row = catalog.get('skus', summary.id);
  const isNamed = row !== undefined && choices.includes(`choices/${row.goods_id}`);
  if (!isNamed) yield skuPage(summary.id);
  for (const spu of summary.valuesOf('goods_id', row)) {
    yield* partsShowing(catalog, skusOfSpu(spu), summary, ends);
  }
  for (const category of summary.valuesOf('category_id', row)) {
    yield* partsShowing(catalog, skusOfCategory(category), summary, ends);
  }
  yield* sitemapFilesOf('skus', summary);
}

/** The SPUs whose pages offer a SKU as a choice, if something that they show of it has changed. */
function choicesWith(catalog: Catalog, summary: RowSummary): FanOut[] {
  if (!summary.hasAny(CHOSEN)) return [];
  return [...summary.valuesOf('goods_id', catalog.get('skus', summary.id))]
    .filter((spu) => isChoice(catalog, spu, summary.id))
    .map((spu) => `choices/${Number(spu)}` as const);
}

/** Whether the pages of an SPU's SKUs offer a SKU as a choice. */
function isChoice(catalog: Catalog, spu: Scalar, sku: number): boolean {
  return catalog.rank('skus', 'goods_id', spu, sku) < MAX_CHOICE_SKUS;
}

function* pagesWithRecords(
  catalog: Catalog,
  records: Iterable<number>,
): Generator<PageName, readonly FanOut[]> {
  const choices = new Set<FanOut>();
  for (const id of records) {
    const sku = catalog.get('skus', catalog.get('sku_specs', id)?.sku_id ?? null);
    if (sku === undefined) continue;
    const { goods_id: spu, category_id: category } = sku;
    if (isChoice(catalog, spu, sku.id)) choices.add(`choices/${spu}`);
    else yield skuPage(sku.id);
    yield partWith(catalog, skusOfSpu(spu), sku.id);
    yield partWith(catalog, skusOfCategory(category), sku.id);
  }
  return [...choices];
}

/** All pages that show an SPU, its brand or its descriptions. */
function* pagesOfSpu(catalog: Catalog, id: number): Generator<PageName> {
  yield* allParts(catalog, skusOfSpu(id));
  yield* expand(catalog, `choices/${id}`);
}

function* pagesOfCategory(
  catalog: Catalog,
  summary: RowSummary,
  ends: NamedEnds,
): Generator<PageName> {
  const row = catalog.get('categories', summary.id);
  for (const parent of summary.valuesOf('parent_id', row)) {
    yield* partsShowing(catalog, categoriesBelow(parent), summary, ends);
    // The entry of the parent in its own list names its children.
    const above = catalog.get('categories', parent);
    if (above !== undefined) {
      yield partWith(catalog, categoriesBelow(above.parent_id), above.id);
    }
  }
  yield* sitemapFilesOf('categories', summary);
}

/** Every page whose breadcrumbs contain a category. */
function* pagesBelow(catalog: Catalog, id: number): Generator<PageName> {
  yield* allParts(catalog, categoriesBelow(id));
  yield* allParts(catalog, skusOfCategory(id));
  for (const sku of idsOf(catalog, 'skus', 'category_id', id)) yield skuPage(sku);
  for (const spu of idsOf(catalog, 'goods', 'category3_id', id)) {
    yield* allParts(catalog, skusOfSpu(spu));
  }
  for (const below of idsOf(catalog, 'categories', 'parent_id', id)) {
    yield* pagesBelow(catalog, below);
  }
}

/** The files of the sitemap that name a row, if it is new or gone. */
function sitemapFilesOf(kind: ShownKind, { isNewOrGone, id }: RowSummary): readonly PageName[] {
  return isNewOrGone ? [SITEMAP, sitemapOf(kind, id)] : [];
}

/** A list that pages show in parts. */
interface List {
  readonly kind: 'skus' | 'categories';
  readonly attribute: string;
  readonly value: Scalar;
  /** @param part from 1. */
  readonly page: (part: number) => PageName;
}

function skusOfSpu(spu: Scalar): List {
  const page = (part: number) => listPage('goods', Number(spu), part);
  return { kind: 'skus', attribute: 'goods_id', value: spu, page };
}

function skusOfCategory(category: Scalar): List {
  const page = (part: number) => listPage('categories', Number(category), part);
  return { kind: 'skus', attribute: 'category_id', value: category, page };
}

function categoriesBelow(parent: Scalar): List {
  const page = (part: number) =>
    parent === null ? frontPage(part) : listPage('categories', Number(parent), part);
  return { kind: 'categories', attribute: 'parent_id', value: parent, page };
}

/** The parts of a list that change when a row of it changes, enters or leaves. */
function* partsShowing(
  catalog: Catalog,
  list: List,
  summary: RowSummary,
  ends: NamedEnds,
): Generator<PageName> {
  if (summary.hasAny([list.attribute])) yield* partsAfter(catalog, list, summary.id, ends);
  else if (summary.hasAny(LISTED)) yield partWith(catalog, list, summary.id);
}

/** The part that shows a row of the list. */
function partWith(catalog: Catalog, { kind, attribute, value, page }: List, id: number): PageName {
  return page(partOf(catalog.rank(kind, attribute, value, id)));
}

/**
 * The parts that change when a row enters or leaves: from the one before its own, which may get or
 * lose its link to the next part, to one after the last part, which may have to be removed.
 */
function* partsAfter(
  catalog: Catalog,
  list: List,
  id: number,
  ends: NamedEnds,
): Generator<PageName> {
  const { kind, attribute, value, page } = list;
  const first = Math.max(partOf(catalog.rank(kind, attribute, value, id)) - 1, 1);
  const end = ends.add(list, first) ?? lastPart(catalog, list) + 2;
  for (let part = first; part < end; part += 1) yield page(part);
}

function* allParts(catalog: Catalog, list: List): Generator<PageName> {
  const last = lastPart(catalog, list);
  for (let part = 1; part <= last; part += 1) yield list.page(part);
}

function lastPart(catalog: Catalog, { kind, attribute, value }: List): number {
  const entries = catalog.rank(kind, attribute, value, Number.POSITIVE_INFINITY);
  return partOf(Math.max(entries - 1, 0));
}

/** @param rank the number of entries before it. */
function partOf(rank: number): number {
  return Math.floor(rank / PART_SIZE) + 1;
}

/** A copy: the index may change before the last id is taken. */
function idsOf(catalog: Catalog, kind: KindName, attribute: string, value: Scalar): number[] {
  return [...catalog.matching(kind, attribute, value)];
}
