/** Finds the rows that show texts of other rows, by their references to these. */
import type { Change } from '../../../model/change.ts';
import type { KindName } from '../../../model/kind.ts';
import { perKind } from '../../../model/per-kind.ts';
import { inSlices } from '../../../slices.ts';
import type { Ordering } from '../orders/ordering.ts';
import type { RowTable } from '../row-table.ts';
import type { Bitmap } from './bitmap.ts';
import { ReferenceColumn } from './reference-column.ts';

/**
 * If fewer than one row in this many has a text that others show, the references to these rows are
 * followed backwards, which costs some hundred nanoseconds each; otherwise all references are
 * scanned, at about a nanosecond each.
 */
const FEW_OWNERS = 16;

/** What is read from the tables. */
export interface References {
  readonly rows: Readonly<Record<KindName, RowTable>>;
  /** The index of the rows of a kind by a reference. */
  index(kind: KindName, attribute: string): Pick<Ordering, 'parts'>;
}

export class DependentRows {
  readonly #source: References;
  readonly #columns: Record<KindName, Map<string, ReferenceColumn>> = perKind(() => new Map());

  constructor(source: References) {
    this.#source = source;
  }

  /** Reads the references of a kind. Must be run once for each; commits may happen meanwhile. */
  async build(kind: KindName, foreignKey: string, sliceMs?: number): Promise<void> {
    const column = new ReferenceColumn(this.#source.rows[kind], foreignKey);
    this.#columns[kind].set(foreignKey, column);
    await inSlices(column.build(), sliceMs);
  }

  /** Applies the changes of rows of a kind, after the table has applied them. */
  change(kind: KindName, changes: readonly Change[]): void {
    for (const column of this.#columns[kind].values()) column.change(changes);
  }

  /**
   * Adds the rows of a kind that refer to any of the owners.
   *
   * @param foreignKey a reference of the kind whose column was built.
   * @param owners ids of the kind to which it refers.
   * @yields so that the work may pause.
   */
  *addTo(
    found: Bitmap,
    kind: KindName,
    foreignKey: string,
    owners: { readonly kind: KindName; readonly ids: Bitmap },
  ): Generator<undefined, void> {
    const { ids } = owners;
    if (ids.count() * FEW_OWNERS < this.#source.rows[owners.kind].size) {
      const dependents = this.#source.index(kind, foreignKey);
      for (const id of ids) {
        for (const part of dependents.parts(id)) found.addAll(part, part.length);
        yield;
      }
      return;
    }
    const column = this.#columns[kind].get(foreignKey);
    if (column === undefined) throw new Error(`${kind} has no column ${foreignKey}`);
    yield* column.addReferring(ids, found);
  }
}
