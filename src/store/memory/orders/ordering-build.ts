/**
 * Builds one ordering of a large table in slices, while commits go on.
 *
 * The lists are sorted from a snapshot. Rows that commits move meanwhile are noted, and moved in
 * passes: each brings the ordering to a later snapshot, in slices. A pass is shorter than the one
 * before it, unless commits move rows faster than the passes do. The last one ends at the present
 * state, in one turn.
 */
import type { Kind, KindName } from '../../../model/kind.ts';
import type { Lookup } from '../../../model/rows.ts';
import { atOnce, inSlices } from '../../../slices.ts';
import type { RowSnapshot, RowTable } from '../row-table.ts';
import type { OrderingBounds } from './bounds.ts';
import { joinedKind, type Order } from './order.ts';
import { Ordering } from './ordering.ts';
import { lookupFor, sortedLists } from './sorting.ts';

/** To move a larger part of the rows takes longer than to sort the table again. */
const MAX_MOVED_PART = 1 / 4;

/** How many passes may follow each other before the build has failed. */
const MAX_PASSES = 20;

/** The rows that an ordering depends on, as of one instant. */
interface Instant {
  readonly rows: RowSnapshot;
  readonly lookup: Lookup;
}

export class OrderingBuild {
  readonly kind: Kind;
  readonly order: Order;
  readonly #rows: Readonly<Record<KindName, RowTable>>;
  readonly #bounds: OrderingBounds;
  /** Rows that commits have moved since the instant that is worked on; null if too many. */
  #moved: Set<number> | null = new Set();

  constructor(
    kind: Kind,
    order: Order,
    rows: Readonly<Record<KindName, RowTable>>,
    bounds: OrderingBounds,
  ) {
    this.kind = kind;
    this.order = order;
    this.#rows = rows;
    this.#bounds = bounds;
  }

  /**
   * Notes rows that a commit is about to move. See `Orderings.expect`.
   *
   * @param moved null if there are too many to name.
   */
  expect(moved: readonly number[] | null): void {
    if (this.#moved === null) return;
    const { movedRows } = this.#bounds;
    const most = Math.max(movedRows, this.#rows[this.kind.name].size * MAX_MOVED_PART);
    const isTooMany = moved === null || moved.length > most;
    // A row that moves again, or of which a plan told before its commit, counts once.
    if (!isTooMany) for (const id of moved) this.#moved.add(id);
    if (isTooMany || this.#moved.size > most) this.#moved = null;
  }

  /**
   * @param keep gets the ordering in the turn in which it is up to date.
   * @returns false if commits have moved too many rows.
   */
  async run(keep: (ordering: Ordering) => void): Promise<boolean> {
    const { kind, order } = this;
    const { sliceMs, movedRows } = this.#bounds;
    let from = this.#now();
    const lists = await inSlices(sortedLists(kind, order, from.rows, from.lookup), sliceMs);
    const ordering = new Ordering(kind, order, lists, from.lookup);
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const moved = this.#moved;
      if (moved === null) return false;
      const { rows } = from;
      const before = (id: number) => rows.get(id);
      if (moved.size <= movedRows) {
        const present = lookupFor(order, (name) => this.#rows[name]);
        atOnce(ordering.catchUp(moved, before, present));
        keep(ordering);
        return true;
      }
      from = this.#now();
      await inSlices(ordering.catchUp(moved, before, from.lookup), sliceMs);
    }
    return false;
  }

  /** From now on, the moved rows are noted anew. */
  #now(): Instant {
    this.#moved = new Set();
    const rows = this.#rows[this.kind.name].snapshot();
    const joined = joinedKind(this.kind, this.order);
    const others = joined === null ? rows : this.#rows[joined].snapshot();
    const rowsOf = (name: KindName) => (name === this.kind.name ? rows : others);
    return { rows, lookup: lookupFor(this.order, rowsOf) };
  }
}
