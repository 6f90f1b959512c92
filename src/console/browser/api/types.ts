/** The objects of the API, by the names of its own description, which generates these types. */
import type { components } from '../../../../dist/console/api.d.ts';

type Schemas = components['schemas'];

export interface Items {
  readonly books: Schemas['Book'];
  readonly goods: Schemas['Spu'];
  readonly skus: Schemas['Sku'];
  readonly brands: Schemas['Brand'];
  readonly categories: Schemas['Category'];
  readonly specs: Schemas['Spec'];
  readonly options: Schemas['Option'];
}

interface Inputs {
  readonly books: Schemas['BookInput'];
  readonly goods: Schemas['SpuInput'];
  readonly skus: Schemas['SkuInput'];
  readonly brands: Schemas['BrandInput'];
  readonly categories: Schemas['CategoryInput'];
  readonly specs: Schemas['SpecInput'];
  readonly options: Schemas['OptionInput'];
}

export type CollectionName = keyof Items;

/** The name of an attribute of a collection as responses call it. */
export type AttributeOf<N extends CollectionName> = keyof Items[N] & string;

/** The name of an attribute of a collection as requests call it. */
export type InputOf<N extends CollectionName> = keyof Inputs[N] & string;

export type Value = string | number | boolean | null;

/** One element of the specifications of a SKU. */
export type Pair = Items['skus']['specs'][number];

/** An item whose collection is known at run time only. */
export interface Item {
  readonly id: number;
  readonly [attribute: string]: Value | readonly Pair[] | undefined;
}

export type Role = 'viewer' | 'editor' | 'admin';
