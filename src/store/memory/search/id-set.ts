/** Long-lived sets of ids. */
import { countBefore } from '../binary-search.ts';
import { Bitmap, WORD_BITS } from './bitmap.ts';

/** The initial capacity of a sorted array, in ids; it doubles as needed. */
const MIN_CAPACITY = 4;

/** The highest id that takes four bytes in a list. */
const MAX_SHORT_ID = 2 ** 32 - 1;

/** Ids in ascending order, or at the places of something else. */
export type IdArray = Uint32Array | Float64Array;

/**
 * Ids of rows: a sorted array of four bytes each as long as a bitmap would take more memory,
 * otherwise a bitmap, which is added to another one 32 ids at a time.
 */
export class IdSet {
  #ids: IdArray | Bitmap = new Uint32Array(MIN_CAPACITY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an id, unless it is there already. */
  add(id: number): void {
    if (this.#ids instanceof Bitmap) {
      if (this.#ids.has(id)) return;
      this.#ids.add(id);
      this.#size += 1;
      return;
    }
    const at = positionOf(this.#ids, this.#size, id);
    if (at < this.#size && this.#ids[at] === id) return;
    let ids = withRoomFor(id, this.#ids);
    if (this.#size === ids.length) ids = resized(ids, this.#size * 2);
    ids.copyWithin(at + 1, at, this.#size);
    ids[at] = id;
    this.#ids = ids;
    this.#size += 1;
    // A bitmap begins with the piece of the first id.
    const span = (ids[this.#size - 1] as number) - Bitmap.beginOf(ids[0] as number);
    if (span < this.#size * WORD_BITS) this.#condense(ids);
  }

  /** Removes an id; nothing happens if it is not there. */
  delete(id: number): void {
    if (this.#ids instanceof Bitmap) {
      if (!this.#ids.has(id)) return;
      this.#ids.delete(id);
      this.#size -= 1;
      // Far fewer than when it became a bitmap, so that a set near the limit is rarely converted.
      if (this.#ids.capacity > this.#size * WORD_BITS * 4) this.#spread(this.#ids);
      return;
    }
    const at = positionOf(this.#ids, this.#size, id);
    if (at === this.#size || this.#ids[at] !== id) return;
    this.#ids.copyWithin(at, at + 1, this.#size);
    this.#size -= 1;
    if (this.#size < this.#ids.length / 4) {
      this.#ids = resized(this.#ids, Math.max(this.#size * 2, MIN_CAPACITY));
    }
  }

  /** Adds every id to a bitmap. */
  addTo(bitmap: Bitmap): void {
    if (this.#ids instanceof Bitmap) {
      bitmap.unite(this.#ids);
      return;
    }
    bitmap.addAll(this.#ids, this.#size);
  }

  #condense(ids: IdArray): void {
    const bitmap = new Bitmap();
    bitmap.addAll(ids, this.#size);
    this.#ids = bitmap;
  }

  #spread(bitmap: Bitmap): void {
    const ids = [...bitmap];
    const sorted = withRoomFor(ids.at(-1) ?? 0, new Uint32Array());
    this.#ids = resized(sorted, Math.max(this.#size * 2, MIN_CAPACITY));
    this.#ids.set(ids);
  }
}

/** Whether an id takes four bytes in a list. */
export function isShort(id: number): boolean {
  return id <= MAX_SHORT_ID;
}

/** @returns a list in which each element can be an id: the same one, or a copy. */
export function withRoomFor(id: number, ids: IdArray): IdArray {
  return isShort(id) || ids instanceof Float64Array ? ids : Float64Array.from(ids);
}

function resized(ids: IdArray, capacity: number): IdArray {
  const copy = ids instanceof Float64Array ? new Float64Array(capacity) : new Uint32Array(capacity);
  copy.set(ids.length > capacity ? ids.subarray(0, capacity) : ids);
  return copy;
}

/** The position of an id, or where it would be. The end is tried first: new ids are the highest. */
function positionOf(ids: IdArray, size: number, id: number): number {
  if (size > 0 && (ids[size - 1] as number) < id) return size;
  return countBefore(size, (at) => (ids[at] as number) < id);
}
