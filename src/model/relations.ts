/** The relations between kinds: which refer to which, and which show attributes of which. */
import type { Kind, KindName, Naming } from './kind.ts';
import { ALL_KINDS, KINDS } from './kinds.ts';
import { perKind } from './per-kind.ts';
import { joinOf, type Reference, referenceOf, referencesOf, uniqueAttributes } from './rules.ts';

/** How cells name the rows of a kind. @throws Error if they do not name them. */
export function namingOf(name: KindName): Naming {
  const { naming } = KINDS[name];
  if (naming === undefined) throw new Error(`${name} have no names`);
  return naming;
}

/** The reference to the row within which the names of a kind count; null if they count everywhere. */
export function withinOf(name: KindName): Reference | null {
  const { within } = namingOf(name);
  return within === undefined ? null : referenceOf(KINDS[name], within);
}

/** Whether rows of a kind refer to rows of the same kind, as categories do. */
export function isNested(kind: Kind): boolean {
  return referencesOf(kind).some(({ to }) => to === kind.name);
}

export interface Referrer extends Reference {
  readonly kind: Kind;
}

const referrers = Map.groupBy(
  ALL_KINDS.flatMap((kind): Referrer[] =>
    referencesOf(kind).map((declared) => ({ ...declared, kind })),
  ),
  ({ to }) => to,
);

/** The references from any kind to a kind. */
export function referrersOf(name: KindName): readonly Referrer[] {
  return referrers.get(name) ?? [];
}

/** An attribute that rows of a kind look up in rows of another kind. */
export interface Dependent {
  readonly kind: KindName;
  /** The attribute that shows the value. */
  readonly name: string;
  /** The attribute that refers to the other row. */
  readonly foreignKey: string;
  /** The attribute of the other row. */
  readonly attribute: string;
}

const dependents = Map.groupBy(ALL_KINDS.flatMap(lookupsOf), ({ references }) => references);

function lookupsOf(kind: Kind): (Dependent & { readonly references: KindName })[] {
  return Object.entries(kind.attributes).flatMap(([name, declared]) => {
    if (declared.role !== 'lookup') return [];
    const { foreignKey, attribute } = declared;
    const { references } = joinOf(kind, declared);
    return [{ kind: kind.name, name, foreignKey, attribute, references }];
  });
}

/** The attributes of any kind that show an attribute of the rows of a kind. */
export function dependentsOf(name: KindName): readonly Dependent[] {
  return dependents.get(name) ?? [];
}

export interface Owner {
  readonly kind: KindName;
  /** The attribute of the owner that shows its rows. */
  readonly attribute: string;
  /** The attribute of the owned row that refers to its owner. */
  readonly foreignKey: string;
  /** Rows that one owner may have, at most. */
  readonly most: number;
}

const owners = Map.groupBy(ALL_KINDS.flatMap(childrenOf), ({ owned }) => owned);

function childrenOf(kind: Kind): (Owner & { readonly owned: KindName })[] {
  return Object.entries(kind.attributes).flatMap(([attribute, declared]) => {
    if (declared.role !== 'children') return [];
    const { kind: owned, foreignKey, most } = declared;
    return [{ kind: kind.name, attribute, foreignKey, most, owned }];
  });
}

/** The kinds that own rows of a kind: their objects show the rows that belong to them. */
export function ownersOf(name: KindName): readonly Owner[] {
  return owners.get(name) ?? [];
}

/** A look-up of the rows of a kind that have a value of an attribute. */
export interface Sought {
  readonly kind: KindName;
  readonly attribute: string;
}

const soughtByObjects = perKind(({ attributes }): readonly Sought[] =>
  Object.values(attributes).flatMap((declared) =>
    declared.role === 'children' ? [{ kind: declared.kind, attribute: declared.foreignKey }] : [],
  ),
);

/** The look-ups for the object of a row: of the rows that belong to it. */
export function soughtByObject(name: KindName): readonly Sought[] {
  return soughtByObjects[name];
}

/** The look-ups of every write with an `Idempotency-Key`. */
const soughtByKeys: readonly Sought[] = ['key', 'shelf'].map((attribute) => ({
  kind: 'idempotency_keys',
  attribute,
}));

const soughtByWrites = perKind((kind) => [...soughtByKeys, ...soughtByChange(kind)]);

/**
 * The look-ups of a write to a row of a kind: of rows that refer to it, of rows with the same value
 * of a unique attribute, of rows with the same owner, and of idempotency keys.
 */
export function soughtByWrite(name: KindName): readonly Sought[] {
  return soughtByWrites[name];
}

/** Includes the look-ups for rows that are deleted with the row, or checked because it moves. */
function soughtByChange(kind: Kind): Sought[] {
  const unique = uniqueAttributes(kind).map((attribute) => ({ kind: kind.name, attribute }));
  const siblings = ownersOf(kind.name).map(({ foreignKey: attribute }) => ({
    kind: kind.name,
    attribute,
  }));
  const referring = referrersOf(kind.name).flatMap(({ kind: other, attribute, cascade }) => {
    // Categories below a category are looked up by the same attributes.
    const goesOn = other !== kind && (cascade || other.constrains.includes(attribute));
    return [{ kind: other.name, attribute }, ...(goesOn ? soughtByChange(other) : [])];
  });
  return [...unique, ...siblings, ...referring];
}
