/** An ordered list of ids, for reading. */
export interface IdList {
  readonly length: number;
  /** The id at the end; undefined if there is none. */
  readonly last: number | undefined;
  /** The ids from the `offset`-th on, at most `count`. */
  slice(offset: number, count: number): number[];
  /** Every id in order; valid until the next change. */
  values(): readonly number[];
  /** The ids in order, or backwards, in parts; valid until the next change. */
  chunks(backwards: boolean): Generator<readonly number[]>;
  /** @returns the ids as they are now, in order or backwards; later changes do not show in it. */
  snapshot(backwards?: boolean): Iterable<number>;
}
