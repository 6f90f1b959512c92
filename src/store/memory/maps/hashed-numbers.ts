/**
 * One number for each of many texts, without the texts: an entry is a hash and a number, and the
 * caller knows whether a number is that of a text. A `Map` would keep every text a second time, and
 * the garbage collector would visit each of them.
 *
 * Invariants:
 * 1. A part is an open-addressed table with linear probing: an entry is at the place that its hash
 *    determines, or after it with no free place in between.
 * 2. A part is at most three quarters full, so that there is a free place; each grows on its own,
 *    so that no turn of the event loop moves all entries.
 * 3. The hash depends on a random number, so that it is hard to choose texts of the same hash.
 */
import { randomInt } from 'node:crypto';

/** The number of parts, a power of two. Of a million texts, each has about 4000. */
const PARTS = 256;

const PART_BITS = 8;

/** Entries of the smallest part. */
const MIN_PLACES = 8;

/** The highest number that an entry takes. */
const MAX_NUMBER = 2 ** 32 - 1;

interface Part {
  /** The hash and the number of each place; the number of a free one is 0. */
  places: Uint32Array;
  count: number;
}

/** Whether a number is that of a text. */
export type IsOf = (number: number, text: string) => boolean;

export class HashedNumbers {
  readonly #parts: (Part | undefined)[] = [];
  readonly #hashOf: (text: string) => number;

  /** @param hashOf returns a natural number below 2^32. */
  constructor(hashOf: (text: string) => number = seededHash) {
    this.#hashOf = hashOf;
  }

  /** Whether an entry can hold a number. */
  static takes(number: number): boolean {
    return number > 0 && number <= MAX_NUMBER;
  }

  get(text: string, isOf: IsOf): number | undefined {
    const hash = this.#hashOf(text);
    const places = this.#parts[hash % PARTS]?.places;
    if (places === undefined) return undefined;
    for (let at = homeOf(hash, places); numberAt(places, at) !== 0; at = next(at, places)) {
      const number = numberAt(places, at);
      if (places[at] === hash && isOf(number, text)) return number;
    }
    return undefined;
  }

  /** @param text that has no number yet. @param number that {@link HashedNumbers.takes} allows. */
  add(text: string, number: number): void {
    const hash = this.#hashOf(text);
    const part = (this.#parts[hash % PARTS] ??= {
      places: new Uint32Array(2 * MIN_PLACES),
      count: 0,
    });
    part.count += 1;
    if (part.count * 8 > part.places.length * 3) part.places = grown(part.places);
    put(part.places, hash, number);
  }

  /** @throws Error if the text does not have the number. */
  remove(text: string, number: number): void {
    const hash = this.#hashOf(text);
    const part = this.#parts[hash % PARTS];
    if (part === undefined) throw lost(number);
    const { places } = part;
    let at = homeOf(hash, places);
    while (places[at] !== hash || numberAt(places, at) !== number) {
      if (numberAt(places, at) === 0) throw lost(number);
      at = next(at, places);
    }
    close(places, at);
    part.count -= 1;
  }

  /** Every number. */
  *numbers(): Generator<number> {
    for (const part of this.#parts) {
      if (part === undefined) continue;
      for (let at = 0; at < part.places.length; at += 2) {
        if (numberAt(part.places, at) !== 0) yield numberAt(part.places, at);
      }
    }
  }
}

/** Removes an entry, and moves up those after it that would not be found otherwise. */
function close(places: Uint32Array, removed: number): void {
  let free = removed;
  for (let at = next(free, places); numberAt(places, at) !== 0; at = next(at, places)) {
    const home = homeOf(places[at] ?? 0, places);
    // Whether its home is after the free place, on the way round to its current place.
    const stays = free < at ? home > free && home <= at : home > free || home <= at;
    if (stays) continue;
    places.copyWithin(free, at, at + 2);
    free = at;
  }
  places.fill(0, free, free + 2);
}

function grown(places: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * places.length);
  for (let at = 0; at < places.length; at += 2) {
    if (numberAt(places, at) !== 0) put(larger, places[at] ?? 0, numberAt(places, at));
  }
  return larger;
}

function put(places: Uint32Array, hash: number, number: number): void {
  let at = homeOf(hash, places);
  while (numberAt(places, at) !== 0) at = next(at, places);
  places[at] = hash;
  places[at + 1] = number;
}

/** The place that a hash determines. The bits that select the part are not used. */
function homeOf(hash: number, places: Uint32Array): number {
  return 2 * ((hash >>> PART_BITS) % (places.length / 2));
}

function next(at: number, places: Uint32Array): number {
  return at + 2 === places.length ? 0 : at + 2;
}

function numberAt(places: Uint32Array, at: number): number {
  return places[at + 1] ?? 0;
}

function lost(number: number): Error {
  return new Error(`the entry of a text with the number ${number} is lost`);
}

const SEED = randomInt(2 ** 32);

/** FNV-1a with a random start, whose bits are mixed at the end as MurmurHash3 does it. */
function seededHash(text: string): number {
  let hash = SEED;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
