/** What orderings may take of the event loop and of memory. */

export interface OrderingBounds {
  /** Rows that one commit moves in one ordering, and that a build moves at its end, at most. */
  readonly movedRows: number;
  /** Ids in all orderings that clients asked for; eight bytes each. */
  readonly keptIds: number;
  /** A table of so few rows is sorted at once. */
  readonly smallTableRows: number;
  /**
   * Rows that are looked through for values in the place of one index, at most; a few nanoseconds
   * each.
   */
  readonly lookedRows: number;
  /** Milliseconds of building between two turns of the event loop. */
  readonly sliceMs: number;
}

/**
 * Moves and sorts are one or two milliseconds of work; the ids take 128 MiB; to look through so many
 * rows costs about as much as to build the index.
 */
export const BOUNDS: OrderingBounds = {
  movedRows: 1000,
  keptIds: 16 * 1024 * 1024,
  smallTableRows: 2000,
  lookedRows: 6_400_000,
  sliceMs: 2,
};
