/**
 * The orderings that clients asked for. They are built again when they are asked for again, so each
 * of them may be dropped at any time between two commits.
 *
 * Invariants:
 * 1. A commit moves at most {@link OrderingBounds.movedRows} rows in one of them. If it would move
 *    more, the ordering is dropped.
 * 2. All of them hold at most {@link OrderingBounds.keptIds} ids together; the least recently used
 *    ones are dropped. The last {@link OrderingBounds.keptOrderings} stay in any case: a page that
 *    needs several at once would never have all of them otherwise.
 * 3. An ordering is dropped when the rows of its table have changed
 *    {@link OrderingBounds.unusedChanges} times each, on average, since its last use. A change costs
 *    about as much as building the part of the ordering that it concerns.
 */
import type { KindName } from '../../../model/kind.ts';
import type { RowTable } from '../row-table.ts';
import type { OrderingBounds } from './bounds.ts';
import type { Order } from './order.ts';
import type { Ordering } from './ordering.ts';

interface Asked {
  readonly ordering: Ordering;
  /** Rows of its table that have changed since it was used. */
  changes: number;
}

export class AskedOrderings {
  readonly #rows: Readonly<Record<KindName, RowTable>>;
  readonly #bounds: OrderingBounds;
  /** The one used last is at the end. */
  readonly #byName = new Map<string, Asked>();

  constructor(rows: Readonly<Record<KindName, RowTable>>, bounds: OrderingBounds) {
    this.#rows = rows;
    this.#bounds = bounds;
  }

  /** The ordering, if it exists; it then counts as used. @param name as `nameOf` makes it. */
  find(name: string): Ordering | undefined {
    const asked = this.#byName.get(name);
    if (asked === undefined) return undefined;
    this.#byName.delete(name);
    this.#byName.set(name, asked);
    asked.changes = 0;
    return asked.ordering;
  }

  keep(name: string, ordering: Ordering): void {
    // It may have been built twice.
    this.#byName.delete(name);
    this.#byName.set(name, { ordering, changes: 0 });
    const { keptIds, keptOrderings } = this.#bounds;
    let ids = 0;
    for (const [nth, [each, asked]] of [...this.#byName].reverse().entries()) {
      ids += this.#rows[asked.ordering.kind.name].size;
      if (ids > keptIds && nth >= keptOrderings) this.#byName.delete(each);
    }
  }

  *of(kind: KindName): Generator<Ordering> {
    for (const { ordering } of this.#byName.values()) {
      if (ordering.kind.name === kind) yield ordering;
    }
  }

  /**
   * Drops the orderings that are not worth the moves of a commit. See `Orderings.expect`.
   *
   * @param moved how many rows are about to move.
   */
  expect(kind: KindName, moved: number, concerns: (order: Order) => boolean): void {
    for (const [name, asked] of this.#byName) {
      const { ordering } = asked;
      if (ordering.kind.name !== kind || !concerns(ordering.order)) continue;
      asked.changes += moved;
      const { movedRows, unusedChanges } = this.#bounds;
      const isUnused = asked.changes > unusedChanges * Math.max(this.#rows[kind].size, 1);
      if (isUnused || moved > movedRows) this.#byName.delete(name);
    }
  }

  /** Drops all orderings except some. */
  keepOnly(kept: ReadonlySet<Ordering>): void {
    for (const [name, { ordering }] of this.#byName) {
      if (!kept.has(ordering)) this.#byName.delete(name);
    }
  }
}
