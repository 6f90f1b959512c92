/** What pages show, gathered from the store's rows as plain values. `cost_price` never comes in. */
import type { KindName, Scalar } from '../../model/kind.ts';
import type { RowOf } from '../../model/rows.ts';
import type { ReadableStore } from '../../store/state.ts';
import { type Choice, choicesOf, type Specification, type Variant } from './choices.ts';
import { PART_SIZE } from './names.ts';

/** What pages need of a store. */
export type Catalog = Pick<
  ReadableStore,
  'get' | 'matching' | 'select' | 'rank' | 'ids' | 'count' | 'lastId' | 'sequence'
>;

/** The SKUs of an SPU, from the first, among which its pages let people choose. */
export const MAX_CHOICE_SKUS = 200;

/** Categories that the entry of a category names of those below it, at most. */
const MAX_CHILD_NAMES = 8;

/** SPUs and categories whose contents are kept for the pages that come next. */
const MAX_CACHED_CONTENTS = 4096;

/** A row with a name and a page. */
export interface Named {
  readonly id: number;
  readonly name: string;
}

/** A SKU as lists show it. */
export interface Item {
  readonly id: number;
  readonly name: string;
  readonly caption: string;
  readonly launched: boolean;
  readonly inStock: boolean;
  /** In the smallest unit of the currency. */
  readonly price: number;
  /** Values of its options, in the order of the specifications. */
  readonly options: readonly string[];
}

/** Part of a list. */
export interface Listed<T> {
  readonly entries: readonly T[];
  readonly total: number;
  readonly hasNext: boolean;
}

/** What the pages of one state of the store show; each is gathered once. */
export class Contents {
  readonly catalog: Catalog;
  readonly #sequence: number;
  readonly #categories = new Map<Scalar, readonly Named[]>();
  readonly #variants = new Map<number, readonly Variant[]>();

  constructor(catalog: Catalog) {
    this.catalog = catalog;
    this.#sequence = catalog.sequence;
  }

  /** Whether this is what the catalog holds now. */
  isOf(catalog: Catalog): boolean {
    return this.catalog === catalog && this.#sequence === catalog.sequence;
  }

  /** The category with all above it, from the first level down; empty where there is none. */
  categoryPath(id: Scalar): readonly Named[] {
    return kept(this.#categories, id, () => {
      const row = this.catalog.get('categories', id);
      if (row === undefined) return [];
      return [...this.categoryPath(row.parent_id), named(row)];
    });
  }

  /** One line a specification; a later record of the same one takes the place of an earlier. */
  specifications(sku: number): readonly Specification[] {
    const lines = new Map<Scalar, Specification>();
    for (const recordId of this.catalog.matching('sku_specs', 'sku_id', sku)) {
      const record = this.catalog.get('sku_specs', recordId);
      const spec = this.catalog.get('specs', record?.spec_id ?? null);
      const option = this.catalog.get('options', record?.option_id ?? null);
      if (spec === undefined || option === undefined) continue;
      lines.set(spec.id, { ...named(spec), optionId: option.id, value: option.value });
    }
    return [...lines.values()].toSorted((a, b) => a.id - b.id);
  }

  /** What there is to choose for a SKU of an SPU; see {@link choicesOf}. */
  choices(spu: number, specifications: readonly Specification[]): readonly Choice[] {
    const variants = kept(this.#variants, spu, () => this.#variantsOf(spu));
    return choicesOf(variants, specifications);
  }

  /** SKUs that refer to a row. @param part from 1. */
  items(attribute: 'goods_id' | 'category_id', id: number, part: number): Listed<Item> {
    return this.#list('skus', attribute, id, part, (row) => this.#item(row));
  }

  /** The categories right below one, or those of the first level. @param part from 1. */
  categories(parent: number | null, part: number): Listed<Named & { below: readonly Named[] }> {
    return this.#list('categories', 'parent_id', parent, part, (row) => ({
      ...named(row),
      below: this.#select('categories', 'parent_id', row.id, 0, MAX_CHILD_NAMES).rows.map(named),
    }));
  }

  #list<K extends KindName, T>(
    kind: K,
    attribute: string,
    value: Scalar,
    part: number,
    show: (row: RowOf<K>) => T,
  ): Listed<T> {
    const { rows, total } = this.#select(kind, attribute, value, (part - 1) * PART_SIZE, PART_SIZE);
    return { entries: rows.map(show), total, hasNext: total > part * PART_SIZE };
  }

  #select<K extends KindName>(
    kind: K,
    attribute: string,
    value: Scalar,
    offset: number,
    limit: number,
  ) {
    const filters = [[attribute, value]] as const;
    return this.catalog.select(kind, { filters, sortby: 'id', order: 'asc', offset, limit });
  }

  #item(row: RowOf<'skus'>): Item {
    return {
      ...named(row),
      caption: row.caption,
      launched: row.is_launched,
      inStock: row.stock > 0,
      price: row.price,
      options: this.specifications(row.id).map(({ value }) => value),
    };
  }

  #variantsOf(spu: number): Variant[] {
    const { rows } = this.#select('skus', 'goods_id', spu, 0, MAX_CHOICE_SKUS);
    return rows.map((row) => ({
      id: row.id,
      launched: row.is_launched,
      specifications: this.specifications(row.id),
    }));
  }
}

function named({ id, name }: Named): Named {
  return { id, name };
}

function kept<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  const found = values.get(key);
  if (found !== undefined) return found;
  const made = make();
  if (values.size >= MAX_CACHED_CONTENTS) values.clear();
  values.set(key, made);
  return made;
}
