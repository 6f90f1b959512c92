/**
 * Some words, and the rows in which each occurs, packed for a search of all words that contain a
 * text. The words are one long text, which the engine's own substring search reads at some bytes a
 * nanosecond; no word contains the line feed between them. Article numbers mostly begin alike: the
 * words are sorted, so that one match in the common prefix of neighbours finds them all.
 *
 * A word is named by its position. Its row, the word itself and the words that contain a short text
 * are in arrays of numbers: an object for each word would take several times the memory, and the
 * garbage collector would visit it.
 */
import type { Bitmap } from './bitmap.ts';
import { Grams, LONGEST_GRAM } from './grams.ts';
import { IdSet, isShort } from './id-set.ts';

/** The longest common prefix of two words that is recorded, in characters: it fits one byte. */
const MAX_COMMON = 255;

/** The rows that have a word. A single one is a number. */
export type WordRows = number | IdSet;

export class WordSegment {
  /** Each word with a line feed after it. */
  readonly #text: string;
  /** Where each word begins in the text, and where the text ends. */
  readonly #begins: Uint32Array;
  /** The common prefix of each word with the one before, in characters up to {@link MAX_COMMON}. */
  readonly #common: Uint8Array;
  /** The row of each word that has a single one, of four bytes; otherwise 0. */
  readonly #single: Uint32Array;
  /** The rows of the other words. */
  readonly #others = new Map<number, WordRows>();
  /** Null if the words will soon change. */
  readonly #grams: Grams | null;
  #live: number;

  /**
   * @param words each once, with its rows.
   * @param isLasting whether it will be searched often: then its words are sorted.
   */
  constructor(
    words: Iterable<readonly [string, WordRows]>,
    { isLasting }: { readonly isLasting: boolean },
  ) {
    const entries = [...words];
    if (isLasting) entries.sort(([a], [b]) => (a < b ? -1 : 1));
    this.#live = entries.length;
    this.#begins = new Uint32Array(entries.length + 1);
    this.#common = new Uint8Array(entries.length);
    this.#single = new Uint32Array(entries.length);
    let length = 0;
    for (const [at, [word, rows]] of entries.entries()) {
      length += word.length + 1;
      this.#begins[at + 1] = length;
      if (isLasting) this.#common[at] = commonLength(entries[at - 1]?.[0] ?? '', word);
      if (typeof rows === 'number' && isShort(rows)) this.#single[at] = rows;
      else this.#others.set(at, rows);
    }
    this.#text = entries.map(([word]) => `${word}\n`).join('');
    this.#grams = isLasting ? new Grams(entries.map(([word]) => word)) : null;
  }

  /** How many words it was made of. */
  get size(): number {
    return this.#single.length;
  }

  /** How many of them still have a row. */
  get live(): number {
    return this.#live;
  }

  /** Whether a word is the one at a position. */
  isAt(at: number, word: string): boolean {
    const begin = this.#begins[at] as number;
    return begin + word.length + 1 === this.#begins[at + 1] && this.#text.startsWith(word, begin);
  }

  /** All words, by position. */
  texts(): string[] {
    return this.#text.split('\n').slice(0, -1);
  }

  /** The words that still have a row, with their rows. */
  *words(): Generator<[string, WordRows]> {
    for (const [at, word] of this.texts().entries()) {
      const rows = this.#rowsOf(at);
      if (rows !== undefined) yield [word, rows];
    }
  }

  /** Notes that a row has the word at a position, which still has another one. */
  add(at: number, row: number): void {
    const rows = withRow(this.#rowsOf(at) ?? row, row);
    if (typeof rows === 'number') return;
    this.#others.set(at, rows);
    this.#single[at] = 0;
  }

  /** Notes that a row no longer has the word at a position. @returns whether no row has it now. */
  delete(at: number, row: number): boolean {
    const rows = this.#rowsOf(at);
    if (rows instanceof IdSet) {
      rows.delete(row);
      if (rows.size > 0) return false;
    } else if (rows !== row) return false;
    this.#others.delete(at);
    this.#single[at] = 0;
    this.#live -= 1;
    return true;
  }

  /** Adds the rows of every word that contains a text. */
  find(wanted: string, found: Bitmap): void {
    if (this.#grams !== null && wanted.length <= LONGEST_GRAM) {
      this.#addAll(this.#grams.positions(wanted), found);
      return;
    }
    const [text, begins, common] = [this.#text, this.#begins, this.#common];
    let index = 0;
    for (let at = text.indexOf(wanted); at >= 0; ) {
      while (index + 1 < common.length && (begins[index + 1] as number) <= at) index += 1;
      const end = at + wanted.length - (begins[index] as number);
      do {
        this.#addRowsOf(index, found);
        index += 1;
        // The prefix that the next word shares with this one contains the text as well.
      } while (index < common.length && (common[index] as number) >= end);
      if (index === common.length) return;
      // A second occurrence in the same word would add nothing.
      at = text.indexOf(wanted, begins[index]);
    }
  }

  /** As {@link WordSegment.#addRowsOf} for each position, faster. */
  #addAll(positions: Uint16Array, found: Bitmap): void {
    for (const at of found.addAt(this.#single, positions)) this.#addRowsOf(at, found);
  }

  #addRowsOf(at: number, found: Bitmap): void {
    const rows = this.#rowsOf(at);
    if (rows instanceof IdSet) rows.addTo(found);
    else if (rows !== undefined) found.add(rows);
  }

  /** Undefined if no row has the word any more. */
  #rowsOf(at: number): WordRows | undefined {
    const single = this.#single[at] as number;
    return single === 0 ? this.#others.get(at) : single;
  }
}

/** @returns the rows of a word and one more; a set that is given is changed. */
export function withRow(rows: WordRows, row: number): WordRows {
  if (rows === row) return rows;
  if (rows instanceof IdSet) {
    rows.add(row);
    return rows;
  }
  const both = new IdSet();
  both.add(rows);
  both.add(row);
  return both;
}

/** @returns the length of the common prefix, up to {@link MAX_COMMON}. */
function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length, MAX_COMMON);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}
