/**
 * Reads what a page shows from the store. `cost_price` is left out here, so no page can show it.
 *
 * The work is done in steps, since it shares the thread with requests: a generator yields after
 * each step, and none takes longer than reading {@link MAX_RECORDS} records. If a commit comes
 * between two steps, the page may show a part from before it and a part from after it. That commit
 * names the page again.
 */
import type { KindName, Scalar } from '../../model/kind.ts';
import { existingRow, type RowOf, type RowSource } from '../../model/rows.ts';
import { withAncestors } from '../../model/rules.ts';
import type { Catalog, ShownRows } from './catalog.ts';
import type { Specification, Variant } from './choices.ts';
import type { Brand, Item, Named, PageFacts, Spu } from './facts.ts';
import { type Page, type PageName, PART_SIZE, parseName } from './names.ts';
import { cutDescription } from './description.ts';
import { sitemapPages, sitemapParts } from './sitemap.ts';

/** SKUs of an SPU, from the first, that its pages offer as choices. */
export const MAX_CHOICE_SKUS = 200;

/** Specification records of a SKU that are read for its page, from the newest. */
const MAX_RECORDS = 1000;

/** Specifications of a SKU that pages show. */
const MAX_SPECIFICATIONS = 100;

/** Child categories that the entry of a category in a list names. */
const MAX_CHILD_NAMES = 8;

/** The kinds that have most of the rows. */
const NUMEROUS: ReadonlySet<KindName> = new Set<KindName>(['skus', 'sku_specs']);

/** Work that is done step by step. */
type Steps<T> = Generator<void, T>;

export class Gatherer {
  readonly #catalog: ShownRows;
  readonly #ofSitemap: Catalog | null;
  /**
   * SKUs and their records. Those that are text in memory stay text: the pages after a write read
   * all SKUs of an SPU, and would soon leave an object for every row. The garbage collector would
   * visit them all while requests wait.
   */
  readonly #numerous: RowSource;

  /** @param ofSitemap the catalog that the sitemap lists; null if there is no sitemap. */
  constructor(catalog: ShownRows, ofSitemap: Catalog | null) {
    this.#catalog = catalog;
    this.#ofSitemap = ofSitemap;
    this.#numerous = { get: (kind, id) => catalog.peek(kind, id) };
  }

  /**
   * The facts of a page; `own` is null if there is no such page.
   *
   * @param known the facts of SPUs, by id, that are shared by the pages gathered together with this
   *   one. A commit that changes one of them names all of these pages again.
   */
  *facts(name: PageName, known = new Map<number, string>()): Steps<PageFacts> {
    const page = parseName(name);
    switch (page?.type) {
      case 'sku':
        return yield* this.#sku(name, page.id, known);
      case 'spu':
        return { name, shared: null, own: yield* this.#spu(page.id, page.part) };
      case 'category':
        return { name, shared: null, own: yield* this.#category(page.id, page.part) };
      case 'front':
        return { name, shared: null, own: yield* this.#front(page.part) };
      case 'sitemap':
      case 'sitemap-part':
        return { name, shared: null, own: yield* this.#sitemap(page) };
      case 'style':
        return { name, shared: null, own: '{}' };
      case undefined:
        return { name, shared: null, own: null };
    }
  }

  *#sku(name: PageName, id: number, known: Map<number, string>): Steps<PageFacts> {
    const row = this.#numerous.get('skus', id);
    if (row === undefined) return { name, shared: null, own: null };
    const { cost_price: _, ...sku } = row;
    const path = this.#path(row.category_id);
    const own = JSON.stringify({ sku, path, specifications: this.#specifications(id) });
    let shared = known.get(row.goods_id);
    if (shared === undefined) {
      shared = yield* this.#shared(row.goods_id);
      known.set(row.goods_id, shared);
    }
    return { name, shared, own };
  }

  *#shared(id: number): Steps<string> {
    const variants: string[] = [];
    for (const row of this.#rows('skus', 'goods_id', id, 0, MAX_CHOICE_SKUS)) {
      const variant: Variant = {
        id: row.id,
        launched: row.is_launched,
        specifications: this.#specifications(row.id),
      };
      variants.push(JSON.stringify(variant));
      yield;
    }
    return object({ ...this.#texts(id), variants: array(variants) });
  }

  *#spu(id: number, part: number): Steps<string | null> {
    const items = yield* this.#items('goods_id', id, part);
    const row = this.#catalog.get('goods', id);
    if (row === undefined || (part > 1 && items.isEmpty)) return null;
    const path = JSON.stringify(this.#path(row.category3_id));
    return object({ ...this.#texts(id), path, items: items.text });
  }

  *#category(id: number, part: number): Steps<string | null> {
    const path = this.#path(id);
    const categories = yield* this.#categories(id, part);
    const items = yield* this.#items('category_id', id, part);
    const isEmpty = categories.isEmpty && items.isEmpty;
    if (path.length === 0 || (part > 1 && isEmpty)) return null;
    return object({
      path: JSON.stringify(path),
      categories: categories.text,
      items: items.text,
    });
  }

  *#front(part: number): Steps<string | null> {
    const categories = yield* this.#categories(null, part);
    return part > 1 && categories.isEmpty ? null : object({ categories: categories.text });
  }

  *#sitemap(page: Page): Steps<string | null> {
    const catalog = this.#ofSitemap;
    if (catalog === null) return null;
    if (page.type === 'sitemap-part') {
      const pages = sitemapPages(catalog, page.of, page.part);
      return pages.length === 0 ? null : JSON.stringify({ pages });
    }
    const pages: PageName[] = [];
    for (const part of sitemapParts(catalog)) {
      pages.push(part);
      yield;
    }
    return JSON.stringify({ pages });
  }

  /** The SPU and its brand, as JSON for {@link object}. */
  #texts(id: Scalar): { spu: string; brand: string } {
    const row = this.#catalog.get('goods', id);
    const brand = this.#catalog.get('brands', row?.brand_id ?? null);
    return {
      spu: JSON.stringify(row === undefined ? null : spuOf(row)),
      brand: JSON.stringify(brand === undefined ? null : brandOf(brand)),
    };
  }

  /** A category's ancestors from the first level down, then itself; empty if it does not exist. */
  #path(id: Scalar): Named[] {
    return withAncestors(id, this.#catalog).map(named);
  }

  /** One line for each specification, by its newest record. */
  #specifications(sku: number): Specification[] {
    const lines: Specification[] = [];
    for (const record of this.#rows('sku_specs', 'sku_id', sku, 0, MAX_RECORDS, 'desc')) {
      if (lines.length === MAX_SPECIFICATIONS) break;
      if (lines.some(({ id }) => id === record.spec_id)) continue;
      const spec = this.#catalog.get('specs', record.spec_id);
      const option = this.#catalog.get('options', record.option_id);
      if (spec === undefined || option === undefined) continue;
      lines.push({ id: spec.id, name: spec.name, optionId: option.id, value: option.value });
    }
    return lines.sort((a, b) => a.id - b.id);
  }

  /** SKUs that refer to a row. @param part from 1. */
  *#items(attribute: 'goods_id' | 'category_id', id: number, part: number): Steps<ListText> {
    return yield* this.#list('skus', attribute, id, part, (row): Item => {
      return {
        ...named(row),
        caption: row.caption,
        launched: row.is_launched,
        inStock: row.stock > 0,
        price: row.price,
        options: this.#specifications(row.id).map(({ value }) => value),
      };
    });
  }

  /** The children of a category, or the categories of the first level. @param part from 1. */
  *#categories(parent: number | null, part: number): Steps<ListText> {
    return yield* this.#list('categories', 'parent_id', parent, part, (row) => ({
      ...named(row),
      below: this.#rows('categories', 'parent_id', row.id, 0, MAX_CHILD_NAMES).map(named),
    }));
  }

  *#list<K extends KindName>(
    kind: K,
    attribute: string,
    value: Scalar,
    part: number,
    show: (row: RowOf<K>) => object,
  ): Steps<ListText> {
    const rows = this.#rows(kind, attribute, value, (part - 1) * PART_SIZE, PART_SIZE + 1);
    const entries: string[] = [];
    for (const row of rows.slice(0, PART_SIZE)) {
      entries.push(JSON.stringify(show(row)));
      yield;
    }
    const hasNext = JSON.stringify(rows.length > PART_SIZE);
    return { isEmpty: rows.length === 0, text: object({ entries: array(entries), hasNext }) };
  }

  #rows<K extends KindName>(
    kind: K,
    attribute: string,
    value: Scalar,
    offset: number,
    limit: number,
    order: 'asc' | 'desc' = 'asc',
  ): readonly RowOf<K>[] {
    const filters = [[attribute, value]] as const;
    const selection = { filters, sortby: 'id', order, offset, limit };
    const source = NUMEROUS.has(kind) ? this.#numerous : this.#catalog;
    return this.#catalog.select(kind, selection).ids.map((id) => existingRow(source, kind, id));
  }
}

/** JSON of a part of a list. */
interface ListText {
  readonly isEmpty: boolean;
  readonly text: string;
}

function array(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}

/** JSON of an object. @param members JSON of its members. */
function object(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`;
}

function spuOf({ id, name, desc_detail, desc_pack, desc_service }: RowOf<'goods'>): Spu {
  return {
    id,
    name,
    detail: cutDescription(desc_detail),
    pack: cutDescription(desc_pack),
    service: cutDescription(desc_service),
  };
}

function brandOf({ id, name, logo }: RowOf<'brands'>): Brand {
  return { id, name, logo };
}

function named({ id, name }: Named): Named {
  return { id, name };
}
