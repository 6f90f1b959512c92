/** Positions in ordered ids. */

/** Whether another id comes before the one whose position is sought. */
export type Before = (other: number) => boolean;

/** How many ids of an ordered array come before. Not by `countBefore`, because writes call this. */
export function positionIn(ids: readonly number[], before: Before): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const id = ids[middle];
    if (id !== undefined && before(id)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @returns ordered ids except one. @throws Error if it is not at its place. */
export function without(ids: readonly number[], id: number, before: Before): number[] {
  const position = positionIn(ids, before);
  if (ids[position] !== id) throw lost(id);
  return ids.toSpliced(position, 1);
}

/** The error for an index that contradicts its table. */
export function lost(id: number): Error {
  return new Error(`the index has lost row ${id}`);
}
