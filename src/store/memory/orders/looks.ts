/**
 * Finds values in the text of rows while the index does not exist yet, so that the first requests
 * after a start need not wait for it.
 */
import type { Kind, KindName, Scalar } from '../../../model/kind.ts';
import type { RowTable } from '../row-table.ts';

export class Looks {
  readonly #rows: Readonly<Record<KindName, RowTable>>;
  readonly #most: number;
  /** How many rows were scanned, by kind and attribute. */
  readonly #looked = new Map<string, number>();

  /** @param most see {@link OrderingBounds.lookedRows}. */
  constructor(rows: Readonly<Record<KindName, RowTable>>, most: number) {
    this.#rows = rows;
    this.#most = most;
  }

  /** Whether all rows of a kind may be scanned once more. */
  canLook(kind: Kind, attribute: string): boolean {
    return this.#after(kind, attribute) <= this.#most;
  }

  /**
   * @param value not null.
   * @returns the ids of the rows that have it, ascending; null if they may not be scanned any more,
   *   or would have to be read one by one.
   */
  look(kind: Kind, attribute: string, value: Scalar): readonly number[] | null {
    const looked = this.#after(kind, attribute);
    if (looked > this.#most) return null;
    this.#looked.set(keyOf(kind, attribute), looked);
    return this.#rows[kind.name].idsWith(attribute, value);
  }

  #after(kind: Kind, attribute: string): number {
    return (this.#looked.get(keyOf(kind, attribute)) ?? 0) + this.#rows[kind.name].size;
  }
}

function keyOf({ name }: Kind, attribute: string): string {
  return `${name} ${attribute}`;
}
