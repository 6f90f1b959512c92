/**
 * What a page shows, as plain values. gather.ts reads them from the store; renderer.ts makes the
 * page from them, in another thread. They travel as JSON.
 */
import type { RowOf } from '../../model/rows.ts';
import type { Specification, Variant } from './choices.ts';
import type { PageName } from './names.ts';

/** A row with a name. */
export interface Named {
  readonly id: number;
  readonly name: string;
}

export interface Brand extends Named {
  readonly logo: string;
}

/** An SPU with its descriptions as they were written. */
export interface Spu extends Named {
  readonly detail: string;
  readonly pack: string;
  readonly service: string;
}

/** A SKU as lists show it. */
export interface Item extends Named {
  readonly caption: string;
  readonly launched: boolean;
  readonly inStock: boolean;
  /** In the smallest unit of the currency. */
  readonly price: number;
  /** Values of its options, in the order of the specifications. */
  readonly options: readonly string[];
}

/** A category as lists show it. */
export interface ListedCategory extends Named {
  readonly below: readonly Named[];
}

/** One part of a list. */
export interface Listed<T> {
  readonly entries: readonly T[];
  readonly hasNext: boolean;
}

/** What the pages of all SKUs of an SPU have in common. */
export interface SpuFacts {
  readonly spu: Spu;
  readonly brand: Brand | null;
  /** The SKUs to choose from, by ascending id. */
  readonly variants: readonly Variant[];
}

export interface SkuPageFacts {
  readonly sku: Omit<RowOf<'skus'>, 'cost_price'>;
  readonly path: readonly Named[];
  readonly specifications: readonly Specification[];
}

export interface SpuPageFacts {
  readonly spu: Spu;
  readonly brand: Brand | null;
  readonly path: readonly Named[];
  readonly items: Listed<Item>;
}

export interface CategoryPageFacts {
  /** The ancestors of the category, from the first level down, then the category itself. */
  readonly path: readonly Named[];
  readonly categories: Listed<ListedCategory>;
  readonly items: Listed<Item>;
}

export interface FrontPageFacts {
  readonly categories: Listed<ListedCategory>;
}

export interface SitemapFacts {
  readonly pages: readonly PageName[];
}

/** The facts of one page. */
export interface PageFacts {
  readonly name: PageName;
  /** JSON of {@link SpuFacts} on the page of a SKU; null on other pages. */
  readonly shared: string | null;
  /** JSON of the type that belongs to the page; null if there is no such page. */
  readonly own: string | null;
}

/** The facts of pages with the same {@link PageFacts.shared}, which is sent once. */
export interface FactGroup {
  readonly shared: string | null;
  readonly pages: readonly Pick<PageFacts, 'name' | 'own'>[];
}

/** @param facts pages that share facts are next to each other. */
export function grouped(facts: readonly PageFacts[]): FactGroup[] {
  const groups: { shared: string | null; pages: PageFacts[] }[] = [];
  for (const page of facts) {
    const last = groups.at(-1);
    if (last !== undefined && last.shared === page.shared) last.pages.push(page);
    else groups.push({ shared: page.shared, pages: [page] });
  }
  return groups.map(({ shared, pages }) => ({
    shared,
    pages: pages.map(({ name, own }) => ({ name, own })),
  }));
}
