/** Limits on the time in the event loop and the memory that orderings take. */

export interface OrderingBounds {
  /** The most rows that one commit moves in one ordering, and that a build moves in its last turn. */
  readonly movedRows: number;
  /** Ids in all orderings that clients asked for; eight bytes each. */
  readonly keptIds: number;
  /** How many orderings, those used last, are kept however many ids they hold. */
  readonly keptOrderings: number;
  /**
   * How often each row of a table changes, on average, before an ordering that nobody uses any more
   * is dropped.
   */
  readonly unusedChanges: number;
  /** A table of at most this many rows is sorted at once. */
  readonly smallTableRows: number;
  /**
   * The most rows that are scanned for values while one index does not exist; a few nanoseconds
   * each.
   */
  readonly scannedRows: number;
  /** Milliseconds of building between two turns of the event loop; see `inSlices`. */
  readonly sliceMs?: number | undefined;
}

/**
 * Moves and sorts are one or two milliseconds of work; the ids take 128 MiB; scanning this many
 * rows costs about as much as building the index. Under many writes an ordering takes long to build
 * again, so an unused one is kept for several times what building it costs. One page needs at most 8
 * orderings at the same time: its order, the index of each filter and an order for each range.
 */
export const BOUNDS: OrderingBounds = {
  movedRows: 1000,
  keptIds: 16 * 1024 * 1024,
  keptOrderings: 8,
  unusedChanges: 16,
  smallTableRows: 2000,
  scannedRows: 6_400_000,
};
