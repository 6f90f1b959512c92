/**
 * The words of one attribute of a table, and the rows in which each occurs.
 *
 * A search looks for all words that contain a text. So words are joined into long texts, which the
 * engine's own substring search reads at some bytes a nanosecond; no word contains the line feed
 * between them. The catalog of a shop has far fewer words than rows, and where names are unique,
 * they are short. Article numbers mostly begin alike: the words of a text are sorted, so that one
 * match in the common prefix of neighbours finds them all.
 *
 * Invariants:
 * 1. A word is in exactly one segment, or among the recent ones, as long as a row has it.
 * 2. A segment holds {@link SEGMENT_WORDS} words at most, and fewer dead ones than live ones.
 */
import { ShardedMap } from '../sharded-map.ts';
import { type Bitmap, IdSet } from './id-set.ts';

/** Words of one segment; when there are this many recent ones, they become a segment. */
const SEGMENT_WORDS = 2048;

/** The longest common prefix of two words that is recorded, in characters: it fits one byte. */
const MAX_COMMON = 255;

/** UTF-16 code units. */
const LONGEST_GRAM = 2;

interface Entry {
  readonly word: string;
  /** A single id is stored as a number. */
  rows: number | IdSet;
  /** Null while it is a recent one. */
  segment: Segment | null;
  /** Its position in the segment. */
  at: number;
}

/** Words, sorted if there are grams. */
interface Segment {
  /** Each word with a line feed after it. */
  readonly text: string;
  /**
   * For each text of one or two characters the positions of the words that contain it: most words
   * contain the short texts that a person types first. Null if the words will soon change.
   */
  readonly grams: ReadonlyMap<string, Uint16Array> | null;
  /** Where each word begins in the text. */
  readonly begins: Uint32Array;
  /** The common prefix of each word with the one before, in characters up to {@link MAX_COMMON}. */
  readonly common: Uint8Array;
  /** The row of each word that has a single one; otherwise 0. */
  readonly single: Uint32Array;
  /** Null for a word that was in rows, and is in none now. */
  readonly entries: (Entry | null)[];
  live: number;
}

export class Vocabulary {
  readonly #segmentWords: number;
  readonly #entries = new ShardedMap<string, Entry>();
  readonly #segments = new Set<Segment>();
  #recent = new Set<Entry>();
  /** The recent words as a segment; null if they have changed since a search read them. */
  #recentSegment: Segment | null = null;

  /** @param segmentWords words of one segment, at most 65,536. */
  constructor(segmentWords = SEGMENT_WORDS) {
    this.#segmentWords = segmentWords;
  }

  /** Notes that a row has the words. */
  add(words: Iterable<string>, row: number): void {
    for (const word of words) {
      const entry = this.#entries.get(word);
      if (entry === undefined) this.#begin(word, row);
      else if (entry.rows instanceof IdSet) entry.rows.add(row);
      else if (entry.rows !== row) {
        const rows = new IdSet();
        rows.add(entry.rows);
        rows.add(row);
        entry.rows = rows;
        if (entry.segment === null) this.#recentSegment = null;
        else entry.segment.single[entry.at] = 0;
      }
    }
  }

  /** Notes that a row no longer has the words. */
  delete(words: Iterable<string>, row: number): void {
    for (const word of words) {
      const entry = this.#entries.get(word);
      if (entry === undefined) continue;
      if (entry.rows instanceof IdSet) entry.rows.delete(row);
      if (entry.rows === row || (entry.rows instanceof IdSet && entry.rows.size === 0)) {
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
    this.#recentSegment ??= unsorted([...this.#recent]);
    findIn(this.#recentSegment, text, found);
    for (const segment of this.#segments) {
      yield;
      findIn(segment, text, found);
    }
  }

  #begin(word: string, row: number): void {
    const entry: Entry = { word, rows: row, segment: null, at: 0 };
    this.#entries.set(word, entry);
    this.#recent.add(entry);
    this.#recentSegment = null;
    if (this.#recent.size < this.#segmentWords) return;
    this.#segments.add(segmentOf([...this.#recent]));
    this.#recent = new Set();
  }

  #end(entry: Entry): void {
    const { word, segment } = entry;
    this.#entries.delete(word);
    if (segment === null) {
      this.#recent.delete(entry);
      this.#recentSegment = null;
      return;
    }
    segment.entries[entry.at] = null;
    segment.single[entry.at] = 0;
    segment.live -= 1;
    if (segment.live * 2 > segment.entries.length) return;
    this.#segments.delete(segment);
    const live = segment.entries.filter((each) => each !== null);
    if (live.length > 0) this.#segments.add(segmentOf(live));
  }
}

function segmentOf(words: readonly Entry[]): Segment {
  const entries = words.toSorted((a, b) => (a.word < b.word ? -1 : 1));
  const segment: Segment = { ...unsorted(entries), grams: gramsOf(entries) };
  for (const [at, entry] of entries.entries()) {
    entry.segment = segment;
    entry.at = at;
    segment.common[at] = commonLength(entries[at - 1]?.word ?? '', entry.word);
  }
  return segment;
}

/** Words in any order, for one or a few searches. */
function unsorted(entries: Entry[]): Segment {
  const begins = new Uint32Array(entries.length);
  const common = new Uint8Array(entries.length);
  const single = new Uint32Array(entries.length);
  let length = 0;
  for (const [index, { word, rows }] of entries.entries()) {
    begins[index] = length;
    single[index] = rows instanceof IdSet ? 0 : rows;
    length += word.length + 1;
  }
  const text = entries.map(({ word }) => `${word}\n`).join('');
  return { text, grams: null, begins, common, single, entries, live: entries.length };
}

/** @returns the length of the common prefix, up to {@link MAX_COMMON}. */
function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length, MAX_COMMON);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
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
  const { text, begins, common, grams } = segment;
  if (grams !== null && wanted.length <= LONGEST_GRAM) {
    const positions = grams.get(wanted);
    if (positions !== undefined) addRowsAtAll(segment, positions, found);
    return;
  }
  let index = 0;
  for (let at = text.indexOf(wanted); at >= 0; ) {
    while (index + 1 < begins.length && (begins[index + 1] as number) <= at) index += 1;
    const end = at + wanted.length - (begins[index] as number);
    do {
      addRowsAt(segment, index, found);
      index += 1;
      // The prefix that the next word shares with this one contains the text as well.
    } while (index < begins.length && (common[index] as number) >= end);
    if (index === begins.length) return;
    // A second occurrence in the same word would add nothing.
    at = text.indexOf(wanted, begins[index]);
  }
}

/** As {@link addRowsAt} for each position, faster. */
function addRowsAtAll({ single, entries }: Segment, positions: Uint16Array, found: Bitmap): void {
  const others = found.addAt(single, positions);
  for (const index of others) {
    const rows = entries[index]?.rows;
    if (rows instanceof IdSet) rows.addTo(found);
  }
}

function addRowsAt({ single, entries }: Segment, index: number, found: Bitmap): void {
  const row = single[index] as number;
  if (row !== 0) {
    found.add(row);
    return;
  }
  const rows = entries[index]?.rows;
  if (rows instanceof IdSet) rows.addTo(found);
}
