/**
 * The words of one attribute of a table, and the rows in which each occurs.
 *
 * A search looks for all words that contain a text. So words stand one after the other in long
 * texts, which the engine's own substring search reads at some bytes a nanosecond; no word contains
 * the line feed between them. The catalog of a shop has far fewer words than rows, and where names
 * are unique, they are short.
 *
 * Invariants:
 * 1. A word stands in exactly one segment, or among the recent ones, as long as a row has it.
 * 2. A segment holds {@link SEGMENT_WORDS} words at most, and fewer dead ones than live ones.
 */
import { type Bitmap, SortedIds } from './id-set.ts';

/** Words of one segment; so many recent ones are gathered before they become one. */
const SEGMENT_WORDS = 2048;

/** UTF-16 code units. */
const LONGEST_GRAM = 2;

interface Entry {
  readonly word: string;
  /** A single id is stored as a number. */
  rows: number | SortedIds;
  /** Null while it is a recent one. */
  segment: Segment | null;
}

interface Segment {
  /** Each word with a line feed after it. */
  readonly text: string;
  /**
   * For each text of one or two characters the positions of the words that contain it: most words
   * contain the short texts that a person types first.
   */
  readonly grams: ReadonlyMap<string, Uint16Array>;
  /** Where each word begins in the text. */
  readonly begins: Uint32Array;
  /** Null for a word that no row has any more. */
  readonly entries: (Entry | null)[];
  live: number;
}

export class Vocabulary {
  readonly #segmentWords: number;
  readonly #entries = new Map<string, Entry>();
  readonly #segments = new Set<Segment>();
  #recent = new Set<Entry>();

  /** @param segmentWords words of one segment, at most 65,536. */
  constructor(segmentWords = SEGMENT_WORDS) {
    this.#segmentWords = segmentWords;
  }

  /** Notes that a row has the words. */
  add(words: Iterable<string>, row: number): void {
    for (const word of words) {
      const entry = this.#entries.get(word);
      if (entry === undefined) this.#begin(word, row);
      else if (entry.rows instanceof SortedIds) entry.rows.add(row);
      else if (entry.rows !== row) {
        const rows = new SortedIds();
        rows.add(Math.min(entry.rows, row));
        rows.add(Math.max(entry.rows, row));
        entry.rows = rows;
      }
    }
  }

  /** Notes that a row has the words no more. */
  delete(words: Iterable<string>, row: number): void {
    for (const word of words) {
      const entry = this.#entries.get(word);
      if (entry === undefined) continue;
      if (entry.rows instanceof SortedIds) entry.rows.delete(row);
      if (entry.rows === row || (entry.rows instanceof SortedIds && entry.rows.size === 0)) {
        this.#end(entry);
      }
    }
  }

  /**
   * Adds the rows that have a word which contains a text.
   *
   * @param text folded, without white space, not empty.
   * @yields between segments, so that the work may pause.
   */
  *find(text: string, found: Bitmap): Generator<undefined, void> {
    for (const entry of this.#recent) if (entry.word.includes(text)) addRows(entry, found);
    for (const segment of this.#segments) {
      yield;
      findIn(segment, text, found);
    }
  }

  #begin(word: string, row: number): void {
    const entry: Entry = { word, rows: row, segment: null };
    this.#entries.set(word, entry);
    this.#recent.add(entry);
    if (this.#recent.size < this.#segmentWords) return;
    this.#segments.add(segmentOf([...this.#recent]));
    this.#recent = new Set();
  }

  #end(entry: Entry): void {
    const { word, segment } = entry;
    this.#entries.delete(word);
    if (segment === null) {
      this.#recent.delete(entry);
      return;
    }
    segment.entries[segment.entries.indexOf(entry)] = null;
    segment.live -= 1;
    if (segment.live * 2 > segment.entries.length) return;
    this.#segments.delete(segment);
    const live = segment.entries.filter((each) => each !== null);
    if (live.length > 0) this.#segments.add(segmentOf(live));
  }
}

function segmentOf(entries: readonly Entry[]): Segment {
  const begins = new Uint32Array(entries.length);
  let length = 0;
  for (const [index, { word }] of entries.entries()) {
    begins[index] = length;
    length += word.length + 1;
  }
  const text = entries.map(({ word }) => `${word}\n`).join('');
  const grams = gramsOf(entries);
  const segment: Segment = { text, grams, begins, entries: [...entries], live: entries.length };
  for (const entry of entries) entry.segment = segment;
  return segment;
}

function gramsOf(entries: readonly Entry[]): Map<string, Uint16Array> {
  const positions = new Map<string, number[]>();
  const note = (gram: string, index: number) => {
    const known = positions.get(gram);
    if (known === undefined) positions.set(gram, [index]);
    else if (known.at(-1) !== index) known.push(index);
  };
  for (const [index, { word }] of entries.entries()) {
    for (let at = 0; at < word.length; at += 1) {
      note(word.charAt(at), index);
      if (at + 1 < word.length) note(word.slice(at, at + 2), index);
    }
  }
  return new Map([...positions].map(([gram, found]) => [gram, Uint16Array.from(found)]));
}

function findIn(segment: Segment, wanted: string, found: Bitmap): void {
  const { text, begins, entries, grams } = segment;
  if (wanted.length <= LONGEST_GRAM) {
    for (const index of grams.get(wanted) ?? []) {
      const entry = entries[index];
      if (entry) addRows(entry, found);
    }
    return;
  }
  let index = 0;
  for (let at = text.indexOf(wanted); at >= 0; ) {
    while (index + 1 < begins.length && (begins[index + 1] as number) <= at) index += 1;
    const entry = entries[index];
    if (entry) addRows(entry, found);
    index += 1;
    if (index === begins.length) return;
    // A second occurrence in the same word says nothing new.
    at = text.indexOf(wanted, begins[index]);
  }
}

function addRows({ rows }: Entry, found: Bitmap): void {
  if (rows instanceof SortedIds) rows.addTo(found);
  else found.add(rows);
}
