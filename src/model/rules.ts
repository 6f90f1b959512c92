/** The rules of spec 2.9 that reach over several rows. Pure: state comes in as a lookup. */
import type {
  LookupAttribute,
  Kind,
  KindName,
  Lookup,
  Row,
  Rule,
  Scalar,
  Violation,
} from './kind.ts';

const MAX_CATEGORY_LEVELS = 3;

/** The level of a category from 1, or one more than {@link MAX_CATEGORY_LEVELS} where the chain is too long. */
function levelOf(category: Row, lookup: Lookup): number {
  let level = 1;
  let parent = category['parent_id'] ?? null;
  // A cycle never ends: the bound makes it "too deep".
  while (parent !== null && level <= MAX_CATEGORY_LEVELS) {
    level += 1;
    parent = lookup('categories', parent)?.['parent_id'] ?? null;
  }
  return level;
}

/** A category stands on one of three levels, and not below itself. */
export const atMostThreeLevels: Rule = (row, lookup) =>
  levelOf(row, lookup) <= MAX_CATEGORY_LEVELS
    ? null
    : {
        attribute: 'parent_id',
        message: `category ${row.id} under ${text(row['parent_id'])} would be on a fourth level or below itself`,
      };

/** The attribute names a third-level category. */
export const thirdLevelCategory =
  (attribute: string): Rule =>
  (row, lookup) => {
    const category = lookup('categories', row[attribute] ?? null);
    if (category === undefined || levelOf(category, lookup) === MAX_CATEGORY_LEVELS) return null;
    return { attribute, message: `category ${category.id} is not a third-level category` };
  };

/** category1_id, category2_id and category3_id are a chain of parents from the first level. */
export const categoryChain: Rule = (row, lookup) => {
  let parent: Scalar = null;
  for (const attribute of ['category1_id', 'category2_id', 'category3_id']) {
    const category = lookup('categories', row[attribute] ?? null);
    if (category === undefined) return null;
    if ((category['parent_id'] ?? null) !== parent) {
      const wanted = parent === null ? 'a first-level category' : `a child of category ${parent}`;
      return { attribute, message: `category ${category.id} is not ${wanted}` };
    }
    parent = category.id;
  }
  return null;
};

/** An option belongs to its specification, and a SKU's specification to the SKU's SPU. */
export const specificationFits: Rule = (row, lookup) => {
  const sku = lookup('skus', row['sku_id'] ?? null);
  const spec = lookup('specs', row['spec_id'] ?? null);
  const option = lookup('options', row['option_id'] ?? null);
  if (sku === undefined || spec === undefined || option === undefined) return null;
  if (spec['goods_id'] !== sku['goods_id']) {
    return {
      attribute: 'spec_id',
      message: `specification ${spec.id} does not belong to SPU ${text(sku['goods_id'])} of SKU ${sku.id}`,
    };
  }
  if (option['spec_id'] !== spec.id) {
    return {
      attribute: 'option_id',
      message: `option ${option.id} does not belong to specification ${spec.id}`,
    };
  }
  return null;
};

/**
 * Judges one row: every reference exists and every rule of its kind holds.
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
  for (const rule of kind.rules) {
    const violation = rule(row, lookup);
    if (violation !== null) return violation;
  }
  return null;
}

export interface Reference {
  readonly attribute: string;
  /** What a request calls the attribute. */
  readonly request: string;
  readonly to: KindName;
  readonly cascade: boolean;
}

const known = new WeakMap<Kind, readonly Reference[]>();

/** The attributes of a kind that hold ids of other rows. */
export function referencesOf(kind: Kind): readonly Reference[] {
  let found = known.get(kind);
  if (found === undefined) {
    found = Object.entries(kind.attributes).flatMap(([attribute, declared]) =>
      declared.role === 'input' && declared.references !== undefined
        ? [
            {
              attribute,
              request: declared.request ?? attribute,
              to: declared.references,
              cascade: declared.cascade ?? false,
            },
          ]
        : [],
    );
    known.set(kind, found);
  }
  return found;
}

/** The value of a scalar attribute, stored or joined; null where a join finds no row. */
export function valueOf(kind: Kind, attribute: string, row: Row, lookup: Lookup): Scalar {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'lookup') return row[attribute] ?? null;
  const join = joinOf(kind, declared);
  return lookup(join.references, row[join.through] ?? null)?.[join.attribute] ?? null;
}

/** What a joined attribute reads: the kind that `through` refers to, and the attribute there. */
export function joinOf(
  kind: Kind,
  { foreignKey: through, attribute }: LookupAttribute,
): { readonly references: KindName; readonly through: string; readonly attribute: string } {
  const reference = kind.attributes[through];
  if (reference?.role !== 'input' || reference.references === undefined) {
    throw new Error(`${kind.name} joins through ${through}, which refers to nothing`);
  }
  return { references: reference.references, through, attribute };
}

function text(value: Scalar | undefined): string {
  return String(value ?? null);
}
