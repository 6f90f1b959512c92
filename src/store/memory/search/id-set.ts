/** Sets of ids: small ones that are kept for long, and large ones for the time of a search. */

/** Ids that are kept at first; the room doubles as they become more. */
const MIN_CAPACITY = 4;

/** Ids in ascending order, four bytes each. */
export class SortedIds {
  #ids: Uint32Array = new Uint32Array(MIN_CAPACITY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an id; one that is there is not added again. */
  add(id: number): void {
    const at = this.#positionOf(id);
    if (at < this.#size && this.#ids[at] === id) return;
    if (this.#size === this.#ids.length) this.#resize(this.#size * 2);
    this.#ids.copyWithin(at + 1, at, this.#size);
    this.#ids[at] = id;
    this.#size += 1;
  }

  /** Removes an id; one that is not there is no matter. */
  delete(id: number): void {
    const at = this.#positionOf(id);
    if (at === this.#size || this.#ids[at] !== id) return;
    this.#ids.copyWithin(at, at + 1, this.#size);
    this.#size -= 1;
    if (this.#size < this.#ids.length / 4) {
      this.#resize(Math.max(this.#size * 2, MIN_CAPACITY));
    }
  }

  /** Adds every id to a bitmap. */
  addTo(bitmap: Bitmap): void {
    for (let at = 0; at < this.#size; at += 1) bitmap.add(this.#ids[at] as number);
  }

  #resize(capacity: number): void {
    const ids = new Uint32Array(capacity);
    ids.set(this.#ids.subarray(0, this.#size));
    this.#ids = ids;
  }

  /** Where the id stands, or would stand. New ids are the highest: they are looked for first. */
  #positionOf(id: number): number {
    let high = this.#size;
    if (high > 0 && (this.#ids[high - 1] as number) < id) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ids[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A bit for each id from 0 on. */
export class Bitmap {
  #words: Uint32Array;

  /** @param lastId the highest id that is expected; higher ones make it grow. */
  constructor(lastId: number) {
    this.#words = new Uint32Array((lastId >>> 5) + 1);
  }

  add(id: number): void {
    const at = id >>> 5;
    if (at >= this.#words.length) this.#grow(at + 1);
    this.#words[at] = (this.#words[at] as number) | (1 << (id & 31));
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

  /** How many ids there are. */
  count(): number {
    let count = 0;
    for (const word of this.#words) count += ones(word);
    return count;
  }

  #grow(length: number): void {
    const words = new Uint32Array(length);
    words.set(this.#words);
    this.#words = words;
  }

  /** The ids in ascending order. */
  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#words.length; at += 1) {
      let word = this.#words[at] as number;
      while (word !== 0) {
        const bit = 31 - Math.clz32(word & -word);
        yield at * 32 + bit;
        word &= word - 1;
      }
    }
  }
}

/** How many bits of 32 are set. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
