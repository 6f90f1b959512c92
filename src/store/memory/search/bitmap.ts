/**
 * A set of ids with a bit for each. Low ids, which are those of most rows, share one list of words.
 * The others are in pieces, and ranges without an id have none: in the audit trail ids grow by one
 * with every write and only the newest entries are kept, and a person may have edited ids by hand.
 */

/** Ids that share one list of words: those of a catalog as large as memory allows. */
const LOW_IDS = 2 ** 22;

/** Ids of one piece. A power of two, as is {@link LOW_IDS}. */
const PIECE_IDS = 2 ** 16;

/** Bits of a word. */
export const WORD_BITS = 32;

const NONE = new Uint32Array();

export class Bitmap {
  #low: Uint32Array = NONE;
  /** The words of higher ids, by the first id of each piece. */
  readonly #pieces = new Map<number, Uint32Array>();
  /** Words of all pieces. */
  #pieceWords = 0;

  /** @returns the id with which the list or the piece begins that an id is in. */
  static beginOf(id: number): number {
    return id < LOW_IDS ? 0 : Math.floor(id / PIECE_IDS) * PIECE_IDS;
  }

  /** The capacity in ids. */
  get capacity(): number {
    return (this.#low.length + this.#pieceWords) * WORD_BITS;
  }

  add(id: number): void {
    this.#unite(id, 1 << (id & 31));
  }

  /** Adds the first ids of a list; faster than one after the other. */
  addAll(ids: ArrayLike<number>, count: number): void {
    // Mostly the highest: one copy, and not one for each eighth of the way to it.
    if (count > 0) this.add(ids[count - 1] as number);
    let low = this.#low;
    let end = low.length * WORD_BITS;
    for (let nth = 0; nth < count; nth += 1) {
      const id = ids[nth] as number;
      if (id < end) low[id >>> 5] = (low[id >>> 5] as number) | (1 << (id & 31));
      else {
        this.add(id);
        low = this.#low;
        end = low.length * WORD_BITS;
      }
    }
  }

  /**
   * Adds the ids at some positions of a list; faster than one after the other.
   *
   * @returns the positions of zeros, which are not ids.
   */
  addAt(ids: Uint32Array, positions: Uint16Array): number[] {
    const none: number[] = [];
    let low = this.#low;
    let end = low.length * WORD_BITS;
    for (let nth = 0; nth < positions.length; nth += 1) {
      const position = positions[nth] as number;
      const id = ids[position] as number;
      if (id === 0) none.push(position);
      else if (id < end) low[id >>> 5] = (low[id >>> 5] as number) | (1 << (id & 31));
      else {
        this.add(id);
        low = this.#low;
        end = low.length * WORD_BITS;
      }
    }
    return none;
  }

  /**
   * Adds the ids whose reference is in another bitmap.
   *
   * @param first the id of the first reference; a multiple of 32, as is the number of references.
   * @param references of consecutive ids; 0, which is not an id, if there is none.
   */
  addReferring(first: number, references: ArrayLike<number>, to: Bitmap): void {
    const known = this.#wordsOf(first);
    const at = placeOf(first);
    const low = to.#low;
    const end = low.length * WORD_BITS;
    for (let nth = 0; nth < references.length; nth += WORD_BITS) {
      if (known[at + nth / WORD_BITS] === 0xffff_ffff) continue;
      let word = 0;
      for (let bit = 0; bit < WORD_BITS; bit += 1) {
        const id = references[nth + bit] as number;
        if (id < end) word |= (((low[id >>> 5] as number) >>> (id & 31)) & 1) << bit;
        else if (id >= LOW_IDS) word |= to.#bit(id) << bit;
      }
      if (word !== 0) this.#unite(first + nth, word);
    }
  }

  delete(id: number): void {
    const words = this.#wordsOf(id);
    const at = placeOf(id);
    if (at < words.length) words[at] = (words[at] as number) & ~(1 << (id & 31));
  }

  has(id: number): boolean {
    return this.#bit(id) === 1;
  }

  /** Removes the ids that another bitmap does not have. */
  intersect(other: Bitmap): void {
    for (const [begin, words] of this.#lists()) {
      const others = other.#wordsOf(begin);
      for (let at = 0; at < words.length; at += 1) {
        words[at] = (words[at] as number) & (others[at] ?? 0);
      }
    }
  }

  /** Adds the ids that another bitmap has. */
  unite(other: Bitmap): void {
    for (const [begin, others] of other.#lists()) {
      let { length } = others;
      // A bitmap may have more capacity than its ids need.
      const known = this.#wordsOf(begin).length;
      while (length > known && others[length - 1] === 0) length -= 1;
      const words = length > known ? this.#grown(begin, length) : this.#wordsOf(begin);
      for (let at = 0; at < length; at += 1) {
        words[at] = (words[at] as number) | (others[at] as number);
      }
    }
  }

  /** How many ids there are. */
  count(): number {
    let count = 0;
    for (const [, words] of this.#lists()) {
      for (let at = 0; at < words.length; at += 1) count += ones(words[at] as number);
    }
    return count;
  }

  /** The ids from the `offset`-th on in ascending order, at most `limit`. */
  slice(offset: number, limit: number): number[] {
    const found: number[] = [];
    let skip = offset;
    for (const [begin, words] of this.#lists()) {
      for (let at = 0; at < words.length && found.length < limit; at += 1) {
        let word = words[at] as number;
        const count = ones(word);
        if (skip >= count) {
          skip -= count;
          continue;
        }
        for (; word !== 0 && found.length < limit; word &= word - 1) {
          if (skip > 0) skip -= 1;
          else found.push(begin + at * WORD_BITS + 31 - Math.clz32(word & -word));
        }
      }
    }
    return found;
  }

  /** The ids in ascending order. */
  [Symbol.iterator](): Iterator<number> {
    return this.slice(0, Number.POSITIVE_INFINITY)[Symbol.iterator]();
  }

  #bit(id: number): number {
    const word = id < LOW_IDS ? this.#low[id >>> 5] : this.#wordsOf(id)[placeOf(id)];
    return ((word ?? 0) >>> (id & 31)) & 1;
  }

  /** Adds the bits of a word. @param id one of those that the word stands for. */
  #unite(id: number, word: number): void {
    const at = placeOf(id);
    let words = this.#wordsOf(id);
    // An eighth more than needed, so that ids in ascending order rarely cause a copy.
    if (at >= words.length) {
      const most = (id < LOW_IDS ? LOW_IDS : PIECE_IDS) / WORD_BITS;
      words = this.#grown(id, Math.min(at + 1 + (at >>> 3), most));
    }
    words[at] = (words[at] as number) | word;
  }

  /** The words among which that of an id is, if they are long enough. */
  #wordsOf(id: number): Uint32Array {
    return id < LOW_IDS ? this.#low : (this.#pieces.get(Bitmap.beginOf(id)) ?? NONE);
  }

  /** As {@link Bitmap.#wordsOf}, after they got a greater length. */
  #grown(id: number, length: number): Uint32Array {
    const before = this.#wordsOf(id);
    const words = new Uint32Array(length);
    words.set(before);
    if (id < LOW_IDS) this.#low = words;
    else {
      this.#pieces.set(Bitmap.beginOf(id), words);
      this.#pieceWords += length - before.length;
    }
    return words;
  }

  /** All words in order, in lists, each with the id of its first bit. */
  #lists(): [begin: number, words: Uint32Array][] {
    const pieces = [...this.#pieces].sort(([a], [b]) => a - b);
    return [[0, this.#low], ...pieces];
  }
}

/** The place of an id's word in its list or piece. */
function placeOf(id: number): number {
  // For ids beyond 32 bits too: `&` uses the lowest bits, and the others select the piece.
  return id < LOW_IDS ? id >>> 5 : (id & (PIECE_IDS - 1)) >>> 5;
}

/** How many bits of 32 are set. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
