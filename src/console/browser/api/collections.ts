/** What the console knows of each collection. The compiler holds every name to the API's own types. */
import type { paths } from '../../../../dist/console/api.d.ts';
import type { AttributeOf, CollectionName, InputOf } from './types.ts';

export interface Collection<N extends CollectionName = CollectionName> {
  readonly name: N;
  readonly path: keyof paths & `/${string}/`;
  /** The attribute by which people know an item. */
  readonly title: AttributeOf<N>;
  /** In the order of the table. */
  readonly columns: readonly AttributeOf<N>[];
  /** Columns that are shown until the user chooses others. */
  readonly shown: readonly AttributeOf<N>[];
  /** Attributes of requests that hold the id of an item of another collection. */
  readonly references: Readonly<Partial<Record<InputOf<N>, CollectionName>>>;
  /** Attributes of responses whose names differ from those of requests. */
  readonly renamed: Readonly<Partial<Record<InputOf<N>, AttributeOf<N>>>>;
  /** Attributes that only the server sets, shown below the form. */
  readonly facts: readonly AttributeOf<N>[];
  /** Whether it has `bulk/`, `export/`, `imports/` and an audit trail. */
  readonly administered: boolean;
  /** What refers to an item of it: the collection, and its filter. */
  readonly dependents: readonly (readonly [CollectionName, string])[];
}

type Declared = { readonly [N in CollectionName]: Collection<N> };

const ADMINISTERED = { administered: true, renamed: {}, facts: [], references: {} } as const;

export const COLLECTIONS: Declared = {
  books: {
    ...ADMINISTERED,
    name: 'books',
    path: '/books/',
    title: 'name',
    columns: ['id', 'name', 'pub_date', 'commentcount', 'readcount'],
    shown: ['id', 'name', 'pub_date', 'commentcount', 'readcount'],
    facts: ['commentcount', 'readcount', 'image'],
    administered: false,
    dependents: [],
  },
  goods: {
    ...ADMINISTERED,
    name: 'goods',
    path: '/admin/goods/',
    title: 'name',
    columns: ['id', 'name', 'brand', 'category3_id', 'sales', 'comments'],
    shown: ['id', 'name', 'brand', 'category3_id', 'sales'],
    references: {
      brand_id: 'brands',
      category1_id: 'categories',
      category2_id: 'categories',
      category3_id: 'categories',
    },
    facts: ['sales', 'comments'],
    dependents: [
      ['skus', 'spu_id'],
      ['specs', 'spu_id'],
    ],
  },
  skus: {
    ...ADMINISTERED,
    name: 'skus',
    path: '/admin/skus/',
    title: 'name',
    columns: [
      'id',
      'name',
      'code',
      'goods',
      'category',
      'price',
      'cost_price',
      'market_price',
      'stock',
      'sales',
      'is_launched',
    ],
    shown: ['id', 'name', 'code', 'goods', 'price', 'stock', 'is_launched'],
    references: { spu_id: 'goods', category_id: 'categories' },
    renamed: { spu_id: 'goods_id' },
    facts: ['sales'],
    dependents: [],
  },
  brands: {
    ...ADMINISTERED,
    name: 'brands',
    path: '/admin/brands/',
    title: 'name',
    columns: ['id', 'name', 'first_letter', 'logo'],
    shown: ['id', 'name', 'first_letter', 'logo'],
    dependents: [['goods', 'brand_id']],
  },
  categories: {
    ...ADMINISTERED,
    name: 'categories',
    path: '/admin/categories/',
    title: 'name',
    columns: ['id', 'name', 'parent_id'],
    shown: ['id', 'name', 'parent_id'],
    references: { parent_id: 'categories' },
    dependents: [
      ['categories', 'parent_id'],
      ['goods', 'category1_id'],
      ['goods', 'category2_id'],
      ['goods', 'category3_id'],
      ['skus', 'category_id'],
    ],
  },
  specs: {
    ...ADMINISTERED,
    name: 'specs',
    path: '/admin/specs/',
    title: 'name',
    columns: ['id', 'name', 'goods'],
    shown: ['id', 'name', 'goods'],
    references: { spu_id: 'goods' },
    renamed: { spu_id: 'goods_id' },
    dependents: [['options', 'spec_id']],
  },
  options: {
    ...ADMINISTERED,
    name: 'options',
    path: '/admin/options/',
    title: 'value',
    columns: ['id', 'value', 'spec'],
    shown: ['id', 'value', 'spec'],
    references: { spec_id: 'specs' },
    dependents: [],
  },
};

/** In the order of the navigation. */
export const COLLECTION_NAMES: readonly CollectionName[] = [
  'skus',
  'goods',
  'brands',
  'categories',
  'specs',
  'options',
  'books',
];

/** The collection that an address names; undefined if there is none. */
export function collectionNamed(name: string): Collection | undefined {
  return Object.hasOwn(COLLECTIONS, name) ? collectionOf(name as CollectionName) : undefined;
}

/** A collection whose name is known at run time only. */
export function collectionOf(name: CollectionName): Collection {
  return COLLECTIONS[name] as unknown as Collection;
}

/** The attribute of responses for one of requests, or of filters. */
export function responseName(collection: Collection, attribute: string): string {
  return (collection.renamed as Readonly<Record<string, string>>)[attribute] ?? attribute;
}

/** The references of a collection: attribute of requests, and the collection it refers to. */
export function referencesOf(collection: Collection): [string, CollectionName][] {
  return Object.entries<CollectionName>(collection.references);
}
