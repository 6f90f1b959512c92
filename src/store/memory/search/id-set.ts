/** Sets of ids: long-lived ones, and bitmaps. */
import { countBefore } from '../binary-search.ts';

/** The initial capacity of a sorted array, in ids; it doubles as needed. */
const MIN_CAPACITY = 4;

/** Bits of a word of a bitmap; an id in a sorted array takes as many. */
const WORD_BITS = 32;

/**
 * Ids of rows: a sorted array of four bytes each as long as a bitmap would take more memory,
 * otherwise a bitmap, which is added to another one 32 ids at a time.
 */
export class IdSet {
  #ids: Uint32Array | Bitmap = new Uint32Array(MIN_CAPACITY);
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
    if (this.#size === this.#ids.length) this.#ids = resized(this.#ids, this.#size * 2);
    this.#ids.copyWithin(at + 1, at, this.#size);
    this.#ids[at] = id;
    this.#size += 1;
    if ((this.#ids[this.#size - 1] as number) < this.#size * WORD_BITS) this.#condense(this.#ids);
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

  #condense(ids: Uint32Array): void {
    const bitmap = new Bitmap(ids[this.#size - 1] as number);
    bitmap.addAll(ids, this.#size);
    this.#ids = bitmap;
  }

  #spread(bitmap: Bitmap): void {
    const ids = new Uint32Array(Math.max(this.#size * 2, MIN_CAPACITY));
    ids.set([...bitmap]);
    this.#ids = ids;
  }
}

function resized(ids: Uint32Array, capacity: number): Uint32Array {
  const copy = new Uint32Array(capacity);
  copy.set(ids.length > capacity ? ids.subarray(0, capacity) : ids);
  return copy;
}

/** The position of an id, or where it would be. The end is tried first: new ids are the highest. */
function positionOf(ids: Uint32Array, size: number, id: number): number {
  if (size > 0 && (ids[size - 1] as number) < id) return size;
  return countBefore(size, (at) => (ids[at] as number) < id);
}

/** A bit for each id from 0 on. */
export class Bitmap {
  #words: Uint32Array;

  /** @param lastId the highest id that is expected; higher ones make it grow. */
  constructor(lastId: number) {
    this.#words = new Uint32Array((lastId >>> 5) + 1);
  }

  /** The capacity in ids. */
  get capacity(): number {
    return this.#words.length * WORD_BITS;
  }

  add(id: number): void {
    const at = id >>> 5;
    // An eighth more than needed, so that ids in ascending order rarely cause a copy.
    if (at >= this.#words.length) this.#grow(at + 1 + (at >>> 3));
    this.#words[at] = (this.#words[at] as number) | (1 << (id & 31));
  }

  /** Adds the first ids of a list; faster than one after the other. */
  addAll(ids: ArrayLike<number>, count: number): void {
    let words = this.#words;
    for (let nth = 0; nth < count; nth += 1) {
      const id = ids[nth] as number;
      const at = id >>> 5;
      if (at >= words.length) {
        this.add(id);
        words = this.#words;
      } else words[at] = (words[at] as number) | (1 << (id & 31));
    }
  }

  /**
   * Adds the ids at some positions of a list; faster than one after the other.
   *
   * @returns the positions of zeros, which are not ids.
   */
  addAt(ids: Uint32Array, positions: Uint16Array): number[] {
    const none: number[] = [];
    let words = this.#words;
    for (let nth = 0; nth < positions.length; nth += 1) {
      const position = positions[nth] as number;
      const id = ids[position] as number;
      const at = id >>> 5;
      if (id === 0) none.push(position);
      else if (at >= words.length) {
        this.add(id);
        words = this.#words;
      } else words[at] = (words[at] as number) | (1 << (id & 31));
    }
    return none;
  }

  /**
   * Adds the ids whose reference is in another bitmap.
   *
   * @param first the id of the first reference; a multiple of 32, as is the number of references.
   * @param references of consecutive ids; 0, which is not an id, if there is none.
   */
  addReferring(first: number, references: Uint32Array, to: Bitmap): void {
    const others = to.#words;
    for (let nth = 0; nth < references.length; nth += WORD_BITS) {
      const at = (first + nth) / WORD_BITS;
      const known = this.#words[at] ?? 0;
      if (known === 0xffff_ffff) continue;
      let word = 0;
      for (let bit = 0; bit < WORD_BITS; bit += 1) {
        const id = references[nth + bit] as number;
        word |= (((others[id >>> 5] as number) >>> (id & 31)) & 1) << bit;
      }
      if (word === 0) continue;
      if (at >= this.#words.length) this.#grow(at + 1 + (at >>> 3));
      this.#words[at] = known | word;
    }
  }

  delete(id: number): void {
    const at = id >>> 5;
    if (at < this.#words.length) this.#words[at] = (this.#words[at] as number) & ~(1 << (id & 31));
  }

  has(id: number): boolean {
    return (((this.#words[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1;
  }

  /** Removes the ids that another bitmap does not have. */
  intersect(other: Bitmap): void {
    for (let at = 0; at < this.#words.length; at += 1) {
      this.#words[at] = (this.#words[at] as number) & (other.#words[at] ?? 0);
    }
  }

  /** Adds the ids that another bitmap has. */
  unite(other: Bitmap): void {
    let { length } = other.#words;
    // A bitmap may have more capacity than its ids need.
    while (length > this.#words.length && other.#words[length - 1] === 0) length -= 1;
    if (length > this.#words.length) this.#grow(length);
    for (let at = 0; at < length; at += 1) {
      this.#words[at] = (this.#words[at] as number) | (other.#words[at] as number);
    }
  }

  /** How many ids there are. */
  count(): number {
    let count = 0;
    for (let at = 0; at < this.#words.length; at += 1) count += ones(this.#words[at] as number);
    return count;
  }

  /** The ids from the `offset`-th on in ascending order, at most `limit`. */
  slice(offset: number, limit: number): number[] {
    const found: number[] = [];
    let skip = offset;
    for (let at = 0; at < this.#words.length && found.length < limit; at += 1) {
      let word = this.#words[at] as number;
      const count = ones(word);
      if (skip >= count) {
        skip -= count;
        continue;
      }
      for (; word !== 0 && found.length < limit; word &= word - 1) {
        if (skip > 0) skip -= 1;
        else found.push(at * WORD_BITS + 31 - Math.clz32(word & -word));
      }
    }
    return found;
  }

  #grow(length: number): void {
    const words = new Uint32Array(length);
    words.set(this.#words);
    this.#words = words;
  }

  /** The ids in ascending order. */
  [Symbol.iterator](): Iterator<number> {
    return this.slice(0, Number.POSITIVE_INFINITY)[Symbol.iterator]();
  }
}

/** How many bits of 32 are set. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
