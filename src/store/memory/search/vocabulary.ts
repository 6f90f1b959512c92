/**
 * The words of one attribute of a table, and the rows in which each occurs.
 *
 * A search looks for all words that contain a text. The catalog of a shop has far fewer words than
 * rows, and where names are unique, they are short.
 *
 * Invariants:
 * 1. A word is in exactly one segment, or among the recent ones, as long as a row has it.
 * 2. A segment holds {@link SEGMENT_WORDS} words at most, and the last one is the only one beyond
 *    {@link SEGMENT_CHARACTERS}. Fewer of its words are dead than live.
 */
import { HashedNumbers } from '../maps/hashed-numbers.ts';
import type { Bitmap } from './bitmap.ts';
import { IdSet } from './id-set.ts';
import { WordSegment, type WordRows, withRow } from './word-segment.ts';

/** Words of one segment; when there are this many recent ones, they become a segment. */
const SEGMENT_WORDS = 2048;

/** Or this many characters: a segment is made in one turn of the event loop. */
const SEGMENT_CHARACTERS = 32_768;

export class Vocabulary {
  readonly #segmentWords: number;
  /** By their numbers, from 1 on; that of a segment that was dropped is given to a new one. */
  readonly #byNumber: (WordSegment | undefined)[] = [undefined];
  readonly #unused: number[] = [];
  /**
   * The same segments in the order in which they were made: a search that has paused still comes to
   * those that were made meanwhile of words that it has not read.
   */
  readonly #segments = new Set<WordSegment>();
  /** A place is the number of a segment times {@link SEGMENT_WORDS}, plus a position in it. */
  readonly #places = new HashedNumbers();
  #recent = new Map<string, WordRows>();
  #recentCharacters = 0;
  /** The recent words as a segment; null if they have changed since a search read them. */
  #recentSegment: WordSegment | null = null;

  /** @param segmentWords words of one segment, at most 65,536. */
  constructor(segmentWords = SEGMENT_WORDS) {
    this.#segmentWords = segmentWords;
  }

  /** Notes that a row has the words. */
  add(words: Iterable<string>, row: number): void {
    for (const word of words) {
      const recent = this.#recent.get(word);
      const place = recent === undefined ? this.#placeOf(word) : undefined;
      if (place === undefined) this.#addRecent(word, recent, row);
      else this.#segmentAt(place).add(place % this.#segmentWords, row);
    }
  }

  /** Notes that a row no longer has the words. */
  delete(words: Iterable<string>, row: number): void {
    for (const word of words) {
      const recent = this.#recent.get(word);
      if (recent !== undefined) this.#deleteRecent(word, recent, row);
      else this.#deleteSettled(word, row);
    }
  }

  /**
   * Adds the rows that have a word which contains a text.
   *
   * @param text folded, without white space, not empty.
   * @yields between segments, so that the work may pause.
   */
  *find(text: string, found: Bitmap): Generator<undefined, void> {
    this.#recentSegment ??= new WordSegment(this.#recent, { isLasting: false });
    this.#recentSegment.find(text, found);
    for (const segment of this.#segments) {
      yield;
      segment.find(text, found);
    }
  }

  #addRecent(word: string, before: WordRows | undefined, row: number): void {
    const rows = before === undefined ? row : withRow(before, row);
    // A set that has one more row is the same one in the segment.
    if (rows === before) return;
    this.#recent.set(word, rows);
    this.#recentSegment = null;
    if (before === undefined) this.#recentCharacters += word.length;
    const isFull = this.#recentCharacters >= SEGMENT_CHARACTERS;
    if (this.#recent.size < this.#segmentWords && !isFull) return;
    this.#settle(this.#recent);
    this.#recent = new Map();
    this.#recentCharacters = 0;
  }

  #deleteRecent(word: string, rows: WordRows, row: number): void {
    if (rows instanceof IdSet) rows.delete(row);
    if (rows !== row && !(rows instanceof IdSet && rows.size === 0)) return;
    this.#recent.delete(word);
    this.#recentCharacters -= word.length;
    this.#recentSegment = null;
  }

  #deleteSettled(word: string, row: number): void {
    const place = this.#placeOf(word);
    if (place === undefined) return;
    const segment = this.#segmentAt(place);
    if (!segment.delete(place % this.#segmentWords, row)) return;
    this.#places.remove(word, place);
    if (segment.live * 2 > segment.size) return;
    const words = [...segment.words()];
    for (const [each] of words) {
      const old = this.#placeOf(each);
      if (old !== undefined) this.#places.remove(each, old);
    }
    const number = Math.floor(place / this.#segmentWords);
    this.#segments.delete(segment);
    this.#byNumber[number] = undefined;
    this.#unused.push(number);
    if (words.length > 0) this.#settle(words);
  }

  /** Makes a segment of words that have no place. */
  #settle(words: Iterable<readonly [string, WordRows]>): void {
    const segment = new WordSegment(words, { isLasting: true });
    const number = this.#unused.pop() ?? this.#byNumber.length;
    this.#segments.add(segment);
    this.#byNumber[number] = segment;
    for (const [at, word] of segment.texts().entries()) {
      this.#places.add(word, number * this.#segmentWords + at);
    }
  }

  #placeOf(word: string): number | undefined {
    return this.#places.get(word, this.#isAt);
  }

  readonly #isAt = (place: number, word: string): boolean =>
    this.#segmentAt(place).isAt(place % this.#segmentWords, word);

  #segmentAt(place: number): WordSegment {
    const segment = this.#byNumber[Math.floor(place / this.#segmentWords)];
    if (segment === undefined) throw new Error(`place ${place} of a word is in no segment`);
    return segment;
  }
}
