/** The rules of spec 2.9 that involve several rows. Pure: the state is read through a lookup. */
import type { Violation } from './failures.ts';
import type { Kind, KindName, LookupAttribute, Row, Scalar } from './kind.ts';
import { perKind } from './per-kind.ts';
import type { Lookup, RowOf, RowSource } from './rows.ts';

/** A rule about a row and the rows it refers to, beyond their existence. */
type Rule<K extends KindName> = (row: RowOf<K>, lookup: Lookup) => Violation | null;

const MAX_CATEGORY_LEVELS = 3;

/** The level of a category from 1; {@link MAX_CATEGORY_LEVELS} + 1 if the chain is too long. */
function levelOf(category: RowOf<'categories'>, lookup: Lookup): number {
  let level = 1;
  let parent = category.parent_id;
  // In a cycle the loop ends at the bound, so that a cycle counts as too deep.
  while (parent !== null && level <= MAX_CATEGORY_LEVELS) {
    level += 1;
    parent = lookup('categories', parent)?.parent_id ?? null;
  }
  return level;
}

/**
 * A category and those above it, from the first level; empty if it does not exist. While a
 * transaction moves categories they may form a cycle, which is refused only when the transaction is
 * verified: so there is at most one element more than there are levels.
 */
export function withAncestors(id: Scalar, source: RowSource): readonly RowOf<'categories'>[] {
  const rows: RowOf<'categories'>[] = [];
  let row = source.get('categories', id);
  while (row !== undefined && rows.length <= MAX_CATEGORY_LEVELS) {
    rows.unshift(row);
    row = source.get('categories', row.parent_id);
  }
  return rows;
}

/** A category is on one of three levels, and not below itself. */
const atMostThreeLevels: Rule<'categories'> = (row, lookup) =>
  levelOf(row, lookup) <= MAX_CATEGORY_LEVELS
    ? null
    : {
        attribute: 'parent_id',
        // Without the id of the category: a new one does not get it, because it is refused.
        message: `under category ${row.parent_id} it would be on a fourth level or below itself`,
      };

/** The category of a SKU is on the third level. */
const thirdLevelCategory: Rule<'skus'> = (row, lookup) => {
  const category = lookup('categories', row.category_id);
  if (category === undefined || levelOf(category, lookup) === MAX_CATEGORY_LEVELS) return null;
  return {
    attribute: 'category_id',
    message: `category ${category.id} is not a third-level category`,
  };
};

/** category1_id, category2_id and category3_id are a chain of parents from the first level. */
const categoryChain: Rule<'goods'> = (row, lookup) => {
  let parent: number | null = null;
  for (const attribute of ['category1_id', 'category2_id', 'category3_id'] as const) {
    const category = lookup('categories', row[attribute]);
    if (category === undefined) return null;
    if (category.parent_id !== parent) {
      const wanted = parent === null ? 'a first-level category' : `a child of category ${parent}`;
      return { attribute, message: `category ${category.id} is not ${wanted}` };
    }
    parent = category.id;
  }
  return null;
};

/** An option belongs to its specification, and a SKU's specification to the SKU's SPU. */
const specificationFits: Rule<'sku_specs'> = (row, lookup) => {
  const sku = lookup('skus', row.sku_id);
  const spec = lookup('specs', row.spec_id);
  const option = lookup('options', row.option_id);
  if (sku === undefined || spec === undefined || option === undefined) return null;
  if (spec.goods_id !== sku.goods_id) {
    return {
      attribute: 'spec_id',
      // Without the id of the SKU: a new one does not get it, because it is refused.
      message: `specification ${spec.id} does not belong to SPU ${sku.goods_id}`,
    };
  }
  if (option.spec_id !== spec.id) {
    return {
      attribute: 'option_id',
      message: `option ${option.id} does not belong to specification ${spec.id}`,
    };
  }
  return null;
};

const RULES: { readonly [K in KindName]?: Rule<K> } = {
  categories: atMostThreeLevels,
  goods: categoryChain,
  skus: thirdLevelCategory,
  sku_specs: specificationFits,
};

/**
 * Checks one row: every reference exists and the rule of its kind holds.
 *
 * @returns the first violation, or null.
 */
export function judge(kind: Kind, row: Row, lookup: Lookup): Violation | null {
  for (const { attribute, to, request } of referencesOf(kind)) {
    const id = row[attribute] ?? null;
    if (id !== null && lookup(to, id) === undefined) {
      return { attribute: request, message: `${id} does not exist` };
    }
  }
  return applyRule(kind.name, row, lookup);
}

function applyRule<K extends KindName>(kind: K, row: RowOf<K>, lookup: Lookup): Violation | null {
  return RULES[kind]?.(row, lookup) ?? null;
}

export interface Reference {
  readonly attribute: string;
  /** What a request calls the attribute. */
  readonly request: string;
  readonly to: KindName;
  readonly cascade: boolean;
  /** The column of CSV with the name of the row. */
  readonly nameColumn: string;
  /** The attributes that refer to the rows above the row, from the first level. */
  readonly ancestors: readonly string[];
}

const UNIQUE = perKind(({ attributes }): readonly string[] =>
  Object.entries(attributes).flatMap(([name, declared]) =>
    declared.role === 'input' && declared.unique === true ? [name] : [],
  ),
);

/** The attributes of a kind whose values no two rows share. */
export function uniqueAttributes({ name }: Kind): readonly string[] {
  return UNIQUE[name];
}

/** The violation by a value that must be unique but belongs to another row already (spec 2.9). */
export function duplicate(kind: Kind, attribute: string, value: Scalar, holder: number): Violation {
  const message = `${String(value)} is the ${attribute} of ${kind.label} ${holder}`;
  return { attribute, message };
}

const REFERENCES = perKind(({ attributes }): readonly Reference[] =>
  Object.entries(attributes).flatMap(([attribute, declared]) => {
    if (declared.role !== 'input' || declared.references === undefined) return [];
    const { request = attribute, references: to, cascade = false, ancestors = [] } = declared;
    const { nameColumn = request.replace(/_id$/, '') } = declared;
    return [{ attribute, request, to, cascade, nameColumn, ancestors }];
  }),
);

/** The attributes of a kind that hold ids of other rows. */
export function referencesOf({ name }: Kind): readonly Reference[] {
  return REFERENCES[name];
}

/** What an attribute of a kind refers to. @throws Error if it refers to nothing. */
export function referenceOf(kind: Kind, attribute: string): Reference {
  const found = referencesOf(kind).find((each) => each.attribute === attribute);
  if (found === undefined) throw new Error(`${attribute} of ${kind.name} refers to nothing`);
  return found;
}

/** The value of a scalar attribute, stored or joined; null if a join finds no row. */
export function valueOf(kind: Kind, attribute: string, row: Row, lookup: Lookup): Scalar {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'lookup') return row[attribute] ?? null;
  const join = joinOf(kind, declared);
  return lookup(join.references, row[join.foreignKey] ?? null)?.[join.attribute] ?? null;
}

/** What a joined attribute reads: the kind that `foreignKey` refers to, and the attribute there. */
export function joinOf(
  kind: Kind,
  { foreignKey, attribute }: LookupAttribute,
): { readonly references: KindName; readonly foreignKey: string; readonly attribute: string } {
  const reference = kind.attributes[foreignKey];
  if (reference?.role !== 'input' || reference.references === undefined) {
    throw new Error(`${kind.name} joins by ${foreignKey}, which refers to nothing`);
  }
  return { references: reference.references, foreignKey, attribute };
}
