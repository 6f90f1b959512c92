/**
 * The collections (SPEC 2, DECISIONS 1 and 2), one declaration each, attributes in the order in
 * which objects show them. What one collection needs stands here and nowhere else.
 */
import type {
  AssignedAttribute,
  Attribute,
  IdAttribute,
  JoinedAttribute,
  Kind,
  KindName,
  Row,
  WrittenAttribute,
} from './kind.ts';
import { KIND_NAMES } from './kind.ts';
import { joinOf, type Reference, referencesOf } from './rules.ts';
import {
  atMostThreeLevels,
  categoryChain,
  specificationFits,
  thirdLevelCategory,
} from './rules.ts';
import type { ValueSchema } from './schemas.ts';
import {
  amount,
  calendarDate,
  flag,
  identifier,
  longText,
  nameText,
  optionalIdentifier,
  shortText,
} from './schemas.ts';

const id: IdAttribute = { role: 'id' };

function written(
  schema: ValueSchema,
  more: Omit<WrittenAttribute, 'role' | 'schema'> = {},
): WrittenAttribute {
  return { role: 'written', schema, ...more };
}

const reference = (
  references: KindName,
  more: Omit<WrittenAttribute, 'role' | 'schema' | 'references'> = {},
) => written(identifier, { references, ...more });

const assigned = (initial: string | number): AssignedAttribute => ({ role: 'assigned', initial });

const joined = (through: string, attribute: string): JoinedAttribute => ({
  role: 'joined',
  through,
  attribute,
});

const owningSpu = reference('goods', { request: 'spu_id' });

const DEFAULTS = {
  open: false,
  structural: [],
  rules: [],
  nestings: [],
  emptyNotFound: false,
  unpaged: false,
  refusalIsValidation: false,
} as const;

export const KINDS: Readonly<Record<KindName, Kind>> = {
  books: {
    ...DEFAULTS,
    name: 'books',
    label: 'book',
    plural: 'books',
    path: '/books/',
    open: true,
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
};

/** Every kind, those referred to before those that refer to them. */
export const ALL_KINDS: readonly Kind[] = KIND_NAMES.map((name) => KINDS[name]);

/** The kinds that have a collection of their own, by the last segment of its path. */
export const COLLECTIONS: ReadonlyMap<string, Kind> = new Map(
  ALL_KINDS.flatMap((kind) => (kind.path === null ? [] : [[kind.path, kind] as const])),
);

export interface Referrer extends Reference {
  readonly kind: Kind;
}

const referrers = new Map<KindName, readonly Referrer[]>(
  KIND_NAMES.map((name) => [
    name,
    ALL_KINDS.flatMap((kind) =>
      referencesOf(kind)
        .filter(({ to }) => to === name)
        .map((declared) => ({ ...declared, kind })),
    ),
  ]),
);

/** The references that point at a kind, from whichever kind. */
export function referrersOf(name: KindName): readonly Referrer[] {
  return referrers.get(name) ?? [];
}

/** The attributes of a kind that rows keep in the store. */
export function isStored(attribute: Attribute): boolean {
  return attribute.role === 'written' || attribute.role === 'assigned' || attribute.role === 'id';
}

interface Borrower {
  readonly kind: KindName;
  /** What it joins; null where it owns the rows and shows them as a whole. */
  readonly attribute: string | null;
}

/** Who shows something of the rows of a kind. */
const borrowers = new Map<KindName, readonly Borrower[]>(
  KIND_NAMES.map((name) => [name, ALL_KINDS.flatMap((kind) => borrowedBy(kind, name))]),
);

function borrowedBy(kind: Kind, from: KindName): Borrower[] {
  return Object.values(kind.attributes).flatMap((declared): Borrower[] => {
    if (declared.role === 'owned' && declared.kind === from) {
      return [{ kind: kind.name, attribute: null }];
    }
    if (declared.role !== 'joined' || joinOf(kind, declared).references !== from) return [];
    return [{ kind: kind.name, attribute: declared.attribute }];
  });
}

/** The kinds whose objects may look different after a row of another kind has changed. */
export function borrowersOf(name: KindName, before: Row | null, after: Row | null): KindName[] {
  return (borrowers.get(name) ?? []).flatMap(({ kind, attribute }) =>
    attribute === null || before?.[attribute] !== after?.[attribute] ? [kind] : [],
  );
}
