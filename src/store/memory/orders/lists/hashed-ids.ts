/**
 * One id for each of many texts, without the texts: an entry is a hash and an id, and the row of
 * the id shows whether it has the text. A `Map` would keep every text a second time.
 *
 * Invariants:
 * 1. A part is an open-addressed table with linear probing: an entry is at the place that its hash
 *    determines, or after it with no free place in between.
 * 2. A part is at most three quarters full, so that there is a free place; each grows on its own,
 *    so that no turn of the event loop moves all entries.
 */
import { randomInt } from 'node:crypto';
import { lost } from '../positions.ts';

/** The number of parts, a power of two. Of a million texts, each has about 4000. */
const PARTS = 256;

const PART_BITS = 8;

/** Entries of the smallest part. */
const MIN_PLACES = 8;

/** The highest id that an entry takes. */
const MAX_ID = 2 ** 32 - 1;

interface Part {
  /** The hash and the id of each place; the id of a free one is 0. */
  places: Uint32Array;
  count: number;
}

export class HashedIds {
  readonly #parts = new Map<number, Part>();
  readonly #hashOf: (text: string) => number;

  /** @param hashOf returns a natural number below 2^32. */
  constructor(hashOf: (text: string) => number = seededHash) {
    this.#hashOf = hashOf;
  }

  /** Whether an entry can hold an id. */
  static takes(id: number): boolean {
    return id > 0 && id <= MAX_ID;
  }

  /** @param textOf returns the value of the row with an id. */
  get(text: string, textOf: (id: number) => unknown): number | undefined {
    const hash = this.#hashOf(text);
    const part = this.#parts.get(hash % PARTS);
    if (part === undefined) return undefined;
    const { places } = part;
    for (let at = homeOf(hash, places); idAt(places, at) !== 0; at = next(at, places)) {
      if (places[at] === hash && textOf(idAt(places, at)) === text) return idAt(places, at);
    }
    return undefined;
  }

  /** @param text that has no id yet. @param id that {@link HashedIds.takes} allows. */
  add(text: string, id: number): void {
    const hash = this.#hashOf(text);
    let part = this.#parts.get(hash % PARTS);
    if (part === undefined) {
      part = { places: new Uint32Array(2 * MIN_PLACES), count: 0 };
      this.#parts.set(hash % PARTS, part);
    }
    part.count += 1;
    if (part.count * 8 > part.places.length * 3) part.places = grown(part.places);
    put(part.places, hash, id);
  }

  /** @throws Error if the text does not have the id. */
  remove(text: string, id: number): void {
    const hash = this.#hashOf(text);
    const part = this.#parts.get(hash % PARTS);
    if (part === undefined) throw lost(id);
    const { places } = part;
    let at = homeOf(hash, places);
    while (places[at] !== hash || idAt(places, at) !== id) {
      if (idAt(places, at) === 0) throw lost(id);
      at = next(at, places);
    }
    close(places, at);
    part.count -= 1;
    if (part.count === 0) this.#parts.delete(hash % PARTS);
  }

  /** Every id. */
  *ids(): Generator<number> {
    for (const { places } of this.#parts.values()) {
      for (let at = 0; at < places.length; at += 2) {
        if (idAt(places, at) !== 0) yield idAt(places, at);
      }
    }
  }
}

/** Removes an entry, and moves up those after it that would not be found otherwise. */
function close(places: Uint32Array, removed: number): void {
  let free = removed;
  for (let at = next(free, places); idAt(places, at) !== 0; at = next(at, places)) {
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
    if (idAt(places, at) !== 0) put(larger, places[at] ?? 0, idAt(places, at));
  }
  return larger;
}

function put(places: Uint32Array, hash: number, id: number): void {
  let at = homeOf(hash, places);
  while (idAt(places, at) !== 0) at = next(at, places);
  places[at] = hash;
  places[at + 1] = id;
}

/** The place that a hash determines. The bits that select the part are not used. */
function homeOf(hash: number, places: Uint32Array): number {
  return 2 * ((hash >>> PART_BITS) % (places.length / 2));
}

function next(at: number, places: Uint32Array): number {
  return at + 2 === places.length ? 0 : at + 2;
}

function idAt(places: Uint32Array, at: number): number {
  return places[at + 1] ?? 0;
}

const SEED = randomInt(2 ** 32);

/** FNV-1a with a random start, so that collisions are unpredictable; its bits are mixed last. */
function seededHash(text: string): number {
  let hash = SEED;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
