/** What a path names: a collection, or the part of one that belongs to a parent. */
import { missingItem } from '../errors.ts';
import type { Kind, Nesting, Row } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import type { Selection } from '../store/memory/selection.ts';
import type { View } from '../store/view.ts';

/** The parent that a nested path names. */
interface Parent {
  readonly nesting: Nesting;
  readonly id: number;
}

/** A collection, or the part of it that belongs to a parent. */
export interface Address {
  readonly kind: Kind;
  readonly parent: Parent | null;
}

/** A selection of the rows at an address. @param selection of rows of the kind. */
export function selectionAt({ parent }: Address, selection: Selection): Selection {
  if (parent === null) return selection;
  const filter = [parent.nesting.foreignKey, parent.id] as const;
  return { ...selection, filters: [...selection.filters, filter] };
}

/**
 * Checks that the row exists and belongs to the parent of a nested address.
 *
 * @returns the row.
 * @throws CatalogError `not_found`.
 */
export function requireRow(address: Address, id: number, row: Row | undefined, view: View): Row {
  const { kind, parent } = address;
  requireParent(address, view);
  if (row === undefined || (parent !== null && row[parent.nesting.foreignKey] !== parent.id)) {
    const where = parent === null ? '' : ` of ${KINDS[parent.nesting.parent].label} ${parent.id}`;
    throw missingItem(kind.label, id, where);
  }
  return row;
}

/** Checks that the parent of a nested address exists. @throws CatalogError `not_found`. */
export function requireParent({ parent }: Address, view: View): void {
  if (parent === null || view.get(parent.nesting.parent, parent.id) !== undefined) return;
  throw missingItem(KINDS[parent.nesting.parent].label, parent.id);
}
