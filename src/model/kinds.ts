/**
 * The collections (SPEC 2, DECISIONS 1 and 2), one declaration each, attributes in the order in
 * which objects show them. What one collection needs stands here and nowhere else.
 */
import { assigned, DEFAULTS, id, joined, reference, written } from './declare.ts';
import { audits, idempotency_keys } from './journals.ts';
import type { Kind, KindName } from './kind.ts';
import { KIND_NAMES } from './kind.ts';
import {
  atMostThreeLevels,
  categoryChain,
  specificationFits,
  thirdLevelCategory,
} from './rules.ts';
import {
  amount,
  calendarDate,
  flag,
  longText,
  nameText,
  optionalIdentifier,
  shortText,
} from './schemas.ts';

const owningSpu = reference('goods', { request: 'spu_id' });

export const KINDS: Readonly<Record<KindName, Kind>> = {
  books: {
    ...DEFAULTS,
    name: 'books',
    label: 'book',
    plural: 'books',
    path: '/books/',
    open: true,
    audited: false,
    bulk: false,
    emptyNotFound: true,
    unpaged: true,
    attributes: {
      id,
      name: written(nameText),
      pub_date: written(calendarDate),
      commentcount: assigned(0),
      readcount: assigned(0),
      image: assigned(''),
    },
  },

  brands: {
    ...DEFAULTS,
    name: 'brands',
    label: 'brand',
    plural: 'brands',
    path: '/admin/brands/',
    attributes: {
      id,
      name: written(nameText),
      logo: written(shortText(), { fallback: '' }),
      first_letter: written(shortText(1), { fallback: '' }),
    },
  },

  categories: {
    ...DEFAULTS,
    name: 'categories',
    label: 'category',
    plural: 'categories',
    path: '/admin/categories/',
    attributes: {
      id,
      name: written(nameText),
      parent_id: written(optionalIdentifier, { references: 'categories', fallback: null }),
    },
    structural: ['parent_id'],
    rules: [atMostThreeLevels],
    nestings: [
      { parent: 'categories', segment: 'categories', through: 'parent_id', writable: false },
    ],
  },

  goods: {
    ...DEFAULTS,
    name: 'goods',
    label: 'SPU',
    plural: 'SPUs',
    path: '/admin/goods/',
    attributes: {
      id,
      name: written(nameText),
      brand: joined('brand_id', 'name'),
      brand_id: reference('brands'),
      category1_id: reference('categories'),
      category2_id: reference('categories'),
      category3_id: reference('categories'),
      sales: assigned(0),
      comments: assigned(0),
      desc_detail: written(longText, { fallback: '' }),
      desc_pack: written(longText, { fallback: '' }),
      desc_service: written(longText, { fallback: '' }),
    },
    rules: [categoryChain],
    nestings: [{ parent: 'brands', segment: 'goods', through: 'brand_id', writable: false }],
  },

  specs: {
    ...DEFAULTS,
    name: 'specs',
    label: 'specification',
    plural: 'specifications',
    path: '/admin/specs/',
    attributes: {
      id,
      name: written(nameText),
      goods: joined('goods_id', 'name'),
      goods_id: owningSpu,
    },
    structural: ['goods_id'],
    nestings: [{ parent: 'goods', segment: 'specs', through: 'goods_id', writable: false }],
  },

  options: {
    ...DEFAULTS,
    name: 'options',
    label: 'option',
    plural: 'options',
    path: '/admin/options/',
    attributes: {
      id,
      value: written(nameText),
      spec: joined('spec_id', 'name'),
      spec_id: reference('specs'),
    },
    structural: ['spec_id'],
    nestings: [{ parent: 'specs', segment: 'options', through: 'spec_id', writable: false }],
  },

  skus: {
    ...DEFAULTS,
    name: 'skus',
    label: 'SKU',
    plural: 'SKUs',
    path: '/admin/skus/',
    refusalIsValidation: true,
    keyword: 'name',
    attributes: {
      id,
      name: written(nameText),
      goods: joined('goods_id', 'name'),
      goods_id: owningSpu,
      caption: written(shortText()),
      category_id: reference('categories'),
      category: joined('category_id', 'name'),
      price: written(amount),
      cost_price: written(amount),
      market_price: written(amount),
      stock: written(amount),
      sales: assigned(0),
      is_launched: written(flag),
      specs: { role: 'owned', kind: 'sku_specs', through: 'sku_id' },
    },
    structural: ['goods_id'],
    rules: [thirdLevelCategory('category_id')],
    nestings: [{ parent: 'goods', segment: 'skus', through: 'goods_id', writable: false }],
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
    rules: [specificationFits],
    nestings: [{ parent: 'skus', segment: 'specs', through: 'sku_id', writable: true }],
  },

  idempotency_keys,
  audits,
};

/** Every kind, those referred to before those that refer to them. */
export const ALL_KINDS: readonly Kind[] = KIND_NAMES.map((name) => KINDS[name]);

/** The kinds that have a collection of their own, by the last segment of its path. */
export const COLLECTIONS: ReadonlyMap<string, Kind> = new Map(
  ALL_KINDS.flatMap((kind) => (kind.path === null ? [] : [[kind.path, kind] as const])),
);
