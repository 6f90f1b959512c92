/**
 * The words that contain a text of one or two characters, by their positions. Most words contain
 * the short texts that a person types first, so to look for them in the words would find almost
 * each word on its own.
 */
import { countBefore } from '../binary-search.ts';

/** UTF-16 code units. */
export const LONGEST_GRAM = 2;

const NONE = new Uint16Array();

export class Grams {
  /** The key of each gram that occurs, ascending. */
  readonly #keys: Float64Array;
  /** Where the positions of each gram end. */
  readonly #ends: Uint32Array;
  /** Ascending for each gram. */
  readonly #positions: Uint16Array;

  /** @param words at most 65,536. */
  constructor(words: readonly string[]) {
    const positions = new Map<number, number[]>();
    let count = 0;
    const note = (key: number, at: number) => {
      const known = positions.get(key);
      if (known?.at(-1) === at) return;
      count += 1;
      if (known === undefined) positions.set(key, [at]);
      else known.push(at);
    };
    for (const [at, word] of words.entries()) {
      for (let unit = 0; unit < word.length; unit += 1) {
        note(keyOf(word, unit, 1), at);
        if (unit + 1 < word.length) note(keyOf(word, unit, 2), at);
      }
    }
    this.#keys = Float64Array.from(positions.keys()).sort();
    this.#ends = new Uint32Array(this.#keys.length);
    this.#positions = new Uint16Array(count);
    let end = 0;
    for (const [nth, key] of this.#keys.entries()) {
      const found = positions.get(key) ?? [];
      this.#positions.set(found, end);
      end += found.length;
      this.#ends[nth] = end;
    }
  }

  /** @param gram one or two code units. @returns the positions of the words that contain it. */
  positions(gram: string): Uint16Array {
    const key = keyOf(gram, 0, gram.length);
    const keys = this.#keys;
    const nth = countBefore(keys.length, (at) => (keys[at] as number) < key);
    if (keys[nth] !== key) return NONE;
    return this.#positions.subarray(this.#ends[nth - 1] ?? 0, this.#ends[nth]);
  }
}

/** A number for the code units of a text from an index on. @param length 1 or 2. */
function keyOf(text: string, at: number, length: number): number {
  const unit = text.charCodeAt(at);
  return length === 1 ? unit : (unit + 1) * 0x1_0000 + text.charCodeAt(at + 1);
}
