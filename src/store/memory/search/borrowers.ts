/** The rows that show texts of others, found by the references to those. */
import type { Change } from '../../../model/change.ts';
import type { KindName } from '../../../model/kind.ts';
import { perKind } from '../../../model/per-kind.ts';
import { inSlices } from '../../../slices.ts';
import type { Ordering } from '../orders/ordering.ts';
import type { RowTable } from '../row-table.ts';
import type { Bitmap } from './id-set.ts';
import { ReferenceColumn } from './reference-column.ts';

/**
 * If fewer than one of so many rows lend a text, the references to them are followed backwards,
 * which costs some hundred nanoseconds each; otherwise all references are looked through, at about a
 * nanosecond each.
 */
const FEW_LENDERS = 16;

/** What is read of the tables. */
export interface References {
  readonly rows: Readonly<Record<KindName, RowTable>>;
  /** The index of the rows of a kind by a reference. */
  index(kind: KindName, attribute: string): Pick<Ordering, 'parts'>;
}

export class Borrowers {
  readonly #source: References;
  readonly #columns: Record<KindName, Map<string, ReferenceColumn>> = perKind(() => new Map());

  constructor(source: References) {
    this.#source = source;
  }

  /** Reads the references of a kind. To be run once for each, whatever commits come meanwhile. */
  async build(kind: KindName, foreignKey: string, sliceMs: number): Promise<void> {
    const column = new ReferenceColumn(this.#source.rows[kind], foreignKey);
    this.#columns[kind].set(foreignKey, column);
    await inSlices(column.build(), sliceMs);
  }

  /** Takes in the changes of rows of a kind, after the table did. */
  change(kind: KindName, changes: readonly Change[]): void {
    for (const column of this.#columns[kind].values()) column.change(changes);
  }

  /**
   * Adds the rows of a kind that refer to one of some others.
   *
   * @param foreignKey a reference of the kind that was built.
   * @param lenders ids of the kind to which it refers.
   * @yields so that the work may pause.
   */
  *addTo(
    found: Bitmap,
    kind: KindName,
    foreignKey: string,
    lenders: { readonly kind: KindName; readonly ids: Bitmap },
  ): Generator<undefined, void> {
    const { ids } = lenders;
    if (ids.count() * FEW_LENDERS < this.#source.rows[lenders.kind].size) {
      const borrowers = this.#source.index(kind, foreignKey);
      for (const id of ids) {
        for (const part of borrowers.parts(id)) found.addAll(part, part.length);
        yield;
      }
      return;
    }
    const column = this.#columns[kind].get(foreignKey);
    if (column === undefined) throw new Error(`${kind} has no column ${foreignKey}`);
    yield* column.addReferring(ids, found);
  }
}
