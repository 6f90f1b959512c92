/**
 * The collections (spec 1.5 to 1.8), one declaration each, attributes in the order in which objects
 * show them. The handlers of the API are generic: how collections differ is declared here.
 */
import { serverSet, DEFAULTS, id, lookup, reference, input } from './declare.ts';
import { audits, idempotency_keys, webhooks } from './system-kinds.ts';
import type { Kind, KindName } from './kind.ts';
import { KIND_NAMES } from './kind.ts';
import {
  amount,
  calendarDate,
  descriptionText,
  flag,
  longText,
  nameText,
  optionalCode,
  optionalIdentifier,
  price,
  shortText,
} from './schemas.ts';

/** Earlier versions accepted descriptions of any length, and stores still hold them. */
const description = input(descriptionText, { default: '', stored: longText });

const owningSpu = reference('goods', { request: 'spu_id' });

const DECLARATIONS = {
  books: {
    ...DEFAULTS,
    name: 'books',
    label: 'book',
    plural: 'books',
    path: '/books/',
    public: true,
    audited: false,
    bulk: false,
    emptyNotFound: true,
    unpaged: true,
    attributes: {
      id,
      name: input(nameText, { searched: true }),
      pub_date: input(calendarDate, { searched: true }),
      commentcount: serverSet(0),
      readcount: serverSet(0),
      image: serverSet(''),
    },
  },

  brands: {
    ...DEFAULTS,
    name: 'brands',
    label: 'brand',
    plural: 'brands',
    path: '/admin/brands/',
    naming: { attribute: 'name', creatable: true },
    attributes: {
      id,
      name: input(nameText, { searched: true }),
      logo: input(shortText(), { default: '' }),
      first_letter: input(shortText(1), { default: '', searched: true }),
    },
  },

  categories: {
    ...DEFAULTS,
    name: 'categories',
    label: 'category',
    plural: 'categories',
    path: '/admin/categories/',
    naming: { attribute: 'name', within: 'parent_id', creatable: true },
    attributes: {
      id,
      name: input(nameText, { searched: true }),
      parent_id: input(optionalIdentifier, {
        references: 'categories',
        nameColumn: 'parent',
        default: null,
      }),
    },
    constrains: ['parent_id'],
    nestings: [
      { parent: 'categories', segment: 'categories', foreignKey: 'parent_id', writable: false },
    ],
  },

  goods: {
    ...DEFAULTS,
    name: 'goods',
    label: 'SPU',
    plural: 'SPUs',
    path: '/admin/goods/',
    naming: { attribute: 'name' },
    attributes: {
      id,
      name: input(nameText, { searched: true }),
      brand: lookup('brand_id', 'name'),
      brand_id: reference('brands'),
      category1_id: reference('categories'),
      category2_id: reference('categories'),
      category3_id: reference('categories', {
        nameColumn: 'category',
        ancestors: ['category1_id', 'category2_id'],
      }),
      sales: serverSet(0),
      comments: serverSet(0),
      desc_detail: description,
      desc_pack: description,
      desc_service: description,
    },
    nestings: [{ parent: 'brands', segment: 'goods', foreignKey: 'brand_id', writable: false }],
  },

  specs: {
    ...DEFAULTS,
    name: 'specs',
    label: 'specification',
    plural: 'specifications',
    path: '/admin/specs/',
    naming: { attribute: 'name', within: 'goods_id', creatable: true },
    attributes: {
      id,
      name: input(nameText, { searched: true }),
      goods: lookup('goods_id', 'name'),
      goods_id: owningSpu,
    },
    constrains: ['goods_id'],
    nestings: [{ parent: 'goods', segment: 'specs', foreignKey: 'goods_id', writable: false }],
  },

  options: {
    ...DEFAULTS,
    name: 'options',
    label: 'option',
    plural: 'options',
    path: '/admin/options/',
    naming: { attribute: 'value', within: 'spec_id', creatable: true },
    attributes: {
      id,
      value: input(nameText, { searched: true }),
      spec: lookup('spec_id', 'name'),
      spec_id: reference('specs'),
    },
    constrains: ['spec_id'],
    nestings: [{ parent: 'specs', segment: 'options', foreignKey: 'spec_id', writable: false }],
  },

  skus: {
    ...DEFAULTS,
    name: 'skus',
    label: 'SKU',
    plural: 'SKUs',
    path: '/admin/skus/',
    refusalIsValidation: true,
    keyword: 'name',
    naming: { attribute: 'name' },
    attributes: {
      id,
      name: input(nameText, { searched: true }),
      goods: lookup('goods_id', 'name'),
      goods_id: owningSpu,
      caption: input(shortText(), { searched: true }),
      category_id: reference('categories'),
      category: lookup('category_id', 'name'),
      price: input(price, { range: 'number' }),
      cost_price: input(price),
      market_price: input(price),
      stock: input(amount, { range: 'number' }),
      sales: serverSet(0),
      is_launched: input(flag, { range: 'flag' }),
      specs: { role: 'children', kind: 'sku_specs', foreignKey: 'sku_id', most: 10_000 },
      code: input(optionalCode, {
        default: null,
        unique: true,
        filter: 'text',
        searched: true,
      }),
    },
    constrains: ['goods_id'],
    nestings: [{ parent: 'goods', segment: 'skus', foreignKey: 'goods_id', writable: false }],
  },

  sku_specs: {
    ...DEFAULTS,
    name: 'sku_specs',
    label: 'specification record',
    plural: 'specification records',
    path: null,
    bulk: false,
    refusalIsValidation: true,
    attributes: {
      id,
      sku_id: reference('skus', { cascade: true, fromPath: true }),
      spec_id: reference('specs'),
      option_id: reference('options'),
    },
    nestings: [{ parent: 'skus', segment: 'specs', foreignKey: 'sku_id', writable: true }],
  },

  idempotency_keys,
  audits,
  webhooks,
} as const satisfies { readonly [K in KindName]: Kind<K> };

/** The exact type of the declarations, from which rows.ts derives the types of rows. */
export type Declarations = typeof DECLARATIONS;

export const KINDS: { readonly [K in KindName]: Kind<K> } = DECLARATIONS;

/** Every kind. Kinds that are referred to come before the kinds that refer to them. */
export const ALL_KINDS: readonly Kind[] = KIND_NAMES.map((name) => KINDS[name]);

/** The kinds that have a collection of their own. */
export const COLLECTIONS: readonly Kind[] = ALL_KINDS.filter(({ path }) => path !== null);

/** The kinds whose collections are exported and imported as files (spec 12.1). */
export const TRANSFERABLE: readonly Kind[] = COLLECTIONS.filter(({ bulk }) => bulk);
