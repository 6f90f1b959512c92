/**
 * Finds values in the text of rows while the index does not exist yet, so that the first requests
 * after a start need not wait for it.
 */
import type { Kind, KindName, Scalar } from '../../../model/kind.ts';
import type { RowTable } from '../row-table.ts';

export class RowScans {
  readonly #rows: Readonly<Record<KindName, RowTable>>;
  readonly #maxRows: number;
  /** How many rows were scanned, by kind and attribute. */
  readonly #scanned = new Map<string, number>();

  /** @param maxRows see `OrderingBounds.scannedRows` (bounds.ts). */
  constructor(rows: Readonly<Record<KindName, RowTable>>, maxRows: number) {
    this.#rows = rows;
    this.#maxRows = maxRows;
  }

  /** Whether all rows of a kind may be scanned once more. */
  mayScan(kind: Kind, attribute: string): boolean {
    return this.#after(kind, attribute) <= this.#maxRows;
  }

  /**
   * @param value not null.
   * @returns the ids of the rows that have it, ascending; null if they may not be scanned any more,
   *   or would have to be read one by one.
   */
  idsWith(kind: Kind, attribute: string, value: Scalar): readonly number[] | null {
    const scanned = this.#after(kind, attribute);
    if (scanned > this.#maxRows) return null;
    this.#scanned.set(keyOf(kind, attribute), scanned);
    return this.#rows[kind.name].idsWith(attribute, value);
  }

  #after(kind: Kind, attribute: string): number {
    return (this.#scanned.get(keyOf(kind, attribute)) ?? 0) + this.#rows[kind.name].size;
  }
}

function keyOf({ name }: Kind, attribute: string): string {
  return `${name} ${attribute}`;
}
