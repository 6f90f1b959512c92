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
    if (declared.role === 'children' && declared.kind === from) {
      return [{ kind: kind.name, attribute: null }];
    }
    if (declared.role !== 'lookup' || joinOf(kind, declared).references !== from) return [];
    return [{ kind: kind.name, attribute: declared.attribute }];
  });
}

/** The kinds whose objects may look different after a row of another kind has changed. */
export function dependentKinds(name: KindName, before: Row | null, after: Row | null): KindName[] {
  return (borrowers.get(name) ?? []).flatMap(({ kind, attribute }) =>
    attribute === null || before?.[attribute] !== after?.[attribute] ? [kind] : [],
  );
}
