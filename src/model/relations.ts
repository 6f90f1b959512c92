/** How kinds hang together: who refers to whom, and who shows something of whom. */
import { type Kind, KIND_NAMES, type KindName } from './kind.ts';
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

/** An attribute that rows of a kind look up in rows of another. */
export interface Dependent {
  readonly kind: KindName;
  /** The attribute that shows the value. */
  readonly name: string;
  /** The attribute that refers to the other row. */
  readonly foreignKey: string;
  /** The attribute of the other row. */
  readonly attribute: string;
}

const dependents = new Map<KindName, readonly Dependent[]>(
  KIND_NAMES.map((name) => [name, ALL_KINDS.flatMap((kind) => lookupsOf(kind, name))]),
);

function lookupsOf(kind: Kind, from: KindName): Dependent[] {
  return Object.entries(kind.attributes).flatMap(([name, declared]) => {
    if (declared.role !== 'lookup' || joinOf(kind, declared).references !== from) return [];
    const { foreignKey, attribute } = declared;
    return [{ kind: kind.name, name, foreignKey, attribute }];
  });
}

/** The attributes, of whichever kind, that show an attribute of the rows of a kind. */
export function dependentsOf(name: KindName): readonly Dependent[] {
  return dependents.get(name) ?? [];
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
