/** How kinds hang together: who refers to whom, and who shows something of whom. */
import { type Kind, KIND_NAMES, type KindName, type Row } from './kind.ts';
import { ALL_KINDS } from './kinds.ts';
import { joinOf, type Reference, referencesOf } from './rules.ts';

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

interface Dependent {
  readonly kind: KindName;
  /** What it looks up. */
  readonly attribute: string;
}

/** The kinds that show an attribute of the rows of a kind. */
const dependents = new Map<KindName, readonly Dependent[]>(
  KIND_NAMES.map((name) => [name, ALL_KINDS.flatMap((kind) => lookupsOf(kind, name))]),
);

function lookupsOf(kind: Kind, from: KindName): Dependent[] {
  return Object.values(kind.attributes).flatMap((declared) =>
    declared.role === 'lookup' && joinOf(kind, declared).references === from
      ? [{ kind: kind.name, attribute: declared.attribute }]
      : [],
  );
}

/**
 * The kinds whose objects may look different after a row of another kind has changed. A new row is
 * not shown by a row that did not change itself, and a deleted one by none.
 */
export function dependentKinds(name: KindName, before: Row | null, after: Row | null): KindName[] {
  if (before === null || after === null) return [];
  return (dependents.get(name) ?? []).flatMap(({ kind, attribute }) =>
    before[attribute] === after[attribute] ? [] : [kind],
  );
}

interface Owner {
  readonly kind: KindName;
  /** The attribute of the owned row that refers to its owner. */
  readonly foreignKey: string;
}

const owners = new Map<KindName, readonly Owner[]>(
  KIND_NAMES.map((name) => [
    name,
    ALL_KINDS.flatMap((kind) =>
      Object.values(kind.attributes).flatMap((declared) =>
        declared.role === 'children' && declared.kind === name
          ? [{ kind: kind.name, foreignKey: declared.foreignKey }]
          : [],
      ),
    ),
  ]),
);

/** The kinds whose objects show the rows of a kind that belong to them. */
export function ownersOf(name: KindName): readonly Owner[] {
  return owners.get(name) ?? [];
}
