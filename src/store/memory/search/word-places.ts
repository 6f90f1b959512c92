/**
 * Where words are: a hash table of numbers, which holds no word itself. Two million words take
 * 16 to 32 bytes each here, where a `Map` takes 150 for a key, its text and its value, each of
 * which the garbage collector visits.
 *
 * Invariants:
 * 1. A place is in the part that the lowest bits of its hash name, between the slot that the other
 *    bits name and the next free slot.
 * 2. The parts grow one at a time, so that none takes a turn of the event loop for long.
 * 3. The hash depends on a random number, so that it is hard to choose words of the same hash.
 */

/** The number of parts, a power of two. */
const PARTS = 256;

const PART_BITS = 8;

const MIN_CAPACITY = 16;

/** A part grows when this share of its slots is taken. */
const MAX_LOAD = 0.7;

/** Slots of one part: an even index holds a hash, the next one a place plus 1, or 0 if it is free. */
interface Part {
  slots: Uint32Array;
  size: number;
}

export class WordPlaces {
  readonly #isAt: (place: number, word: string) => boolean;
  readonly #basis = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  readonly #parts: (Part | undefined)[] = Array.from({ length: PARTS });

  /** @param isAt whether a word is the one at a place. */
  constructor(isAt: (place: number, word: string) => boolean) {
    this.#isAt = isAt;
  }

  /** @returns the place of a word; undefined if it has none. */
  get(word: string): number | undefined {
    const hash = this.#hash(word);
    const part = this.#parts[hash % PARTS];
    if (part === undefined) return undefined;
    const slot = this.#slotOf(part.slots, hash, word);
    const place = part.slots[slot + 1] as number;
    return place === 0 ? undefined : place - 1;
  }

  /**
   * Sets the place of a word, which has to be there already.
   *
   * @param place below 2^32 - 1.
   */
  set(word: string, place: number): void {
    const hash = this.#hash(word);
    const part = (this.#parts[hash % PARTS] ??= { slots: slotsFor(MIN_CAPACITY), size: 0 });
    let slot = this.#slotOf(part.slots, hash, word);
    if (part.slots[slot + 1] === 0) {
      if ((part.size + 1) * 2 > part.slots.length * MAX_LOAD) {
        part.slots = enlarged(part.slots);
        slot = this.#slotOf(part.slots, hash, word);
      }
      part.size += 1;
    }
    part.slots[slot] = hash;
    part.slots[slot + 1] = place + 1;
  }

  /** Forgets a word, which has to be at its place still. */
  delete(word: string): void {
    const hash = this.#hash(word);
    const part = this.#parts[hash % PARTS];
    if (part === undefined) return;
    const slot = this.#slotOf(part.slots, hash, word);
    if (part.slots[slot + 1] === 0) return;
    part.size -= 1;
    free(part.slots, slot);
  }

  /** @returns the slot of the word, or the free one in which it would be. */
  #slotOf(slots: Uint32Array, hash: number, word: string): number {
    let slot = firstSlot(slots, hash);
    for (;;) {
      const place = slots[slot + 1] as number;
      if (place === 0 || (slots[slot] === hash && this.#isAt(place - 1, word))) return slot;
      slot = (slot + 2) % slots.length;
    }
  }

  /** FNV-1a of a random basis, whose bits are mixed at the end as MurmurHash3 does it. */
  #hash(word: string): number {
    let hash = this.#basis;
    for (let at = 0; at < word.length; at += 1) {
      hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}

function slotsFor(capacity: number): Uint32Array {
  return new Uint32Array(capacity * 2);
}

function firstSlot(slots: Uint32Array, hash: number): number {
  return ((hash >>> PART_BITS) * 2) % slots.length;
}

function enlarged(slots: Uint32Array): Uint32Array {
  const larger = slotsFor(slots.length);
  for (let from = 0; from < slots.length; from += 2) {
    const [hash, place] = [slots[from] as number, slots[from + 1] as number];
    if (place === 0) continue;
    let to = firstSlot(larger, hash);
    while (larger[to + 1] !== 0) to = (to + 2) % larger.length;
    larger[to] = hash;
    larger[to + 1] = place;
  }
  return larger;
}

/** Frees a slot, and moves those after it that would not be found beyond a free one. */
function free(slots: Uint32Array, slot: number): void {
  let gap = slot;
  for (let at = (slot + 2) % slots.length; slots[at + 1] !== 0; at = (at + 2) % slots.length) {
    const first = firstSlot(slots, slots[at] as number);
    // Whether the first slot is not behind the gap, seen from where the place is.
    if ((at - first + slots.length) % slots.length < (at - gap + slots.length) % slots.length) {
      continue;
    }
    slots[gap] = slots[at] as number;
    slots[gap + 1] = slots[at + 1] as number;
    gap = at;
  }
  slots[gap] = 0;
  slots[gap + 1] = 0;
}
