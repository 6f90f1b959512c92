/**
 * Representations of committed rows, kept for the next reader.
 *
 * Invariants:
 * 1. What {@link RepresentationCache.get} gives is what {@link represent} would give. An entry is
 *    found by the row itself, which is another object as soon as a value or a child of it changes;
 *    and it counts only as long as no attribute has changed that rows of the kind look up in others.
 * 2. The entries take at most the bytes that the cache may use. A row that a commit replaces or
 *    deletes takes its entry with it.
 * 3. One entry makes room for itself in a short time, however many there are.
 */
import type { Change } from '../model/change.ts';
import type { Kind, Row } from '../model/kind.ts';
import type { ReadableStore } from '../store/state.ts';
import { inSlices } from '../slices.ts';
import { type Representation, representAtOnce, representNow } from './representation.ts';

/** Bytes that entries take at most, unless set otherwise: some 100,000 SKUs. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What an entry takes besides its text, in bytes: the objects, the tag, its place in the map. */
const ENTRY_BYTES = 256;

/** Changes that are read between two pauses. */
const STEP_CHANGES = 256;

/** The part of all bytes that one entry takes at most, so that few others leave for it. */
const MAX_PART = 1 / 8;

/** Entries that are spared for one that comes. */
const MAX_SPARED = 64;

interface Entry {
  /** The store's dependency version for which the representation holds. */
  readonly version: number;
  readonly representation: Representation;
  readonly bytes: number;
  /** Whether it was read since it came, or since it was spared. */
  wasRead: boolean;
}

/**
 * When room is needed, the entries are gone through in the order in which they came, again and
 * again: one that was read meanwhile is spared once (the clock algorithm). So a read costs one
 * look-up, and all bytes are for use.
 */
export class RepresentationCache {
  readonly #store: ReadableStore;
  readonly #maxBytes: number;
  readonly #entries = new Map<Row, Entry>();
  /** Where the entries are gone through; it goes on while they change. */
  #hand = this.#entries.entries();
  #bytes = 0;
  /** Representations that are being made. */
  readonly #running = new Map<Row, Promise<Representation>>();

  constructor(store: ReadableStore, maxBytes = MAX_BYTES) {
    this.#store = store;
    this.#maxBytes = maxBytes;
  }

  /** Bytes that the entries take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Makes a representation in steps, once, however many ask for it meanwhile.
   *
   * @param row as the store has it.
   * @returns what the row shows at the time of the first call.
   */
  prepare(kind: Kind, row: Row): Promise<Representation> {
    let running = this.#running.get(row);
    if (running === undefined) {
      running = this.#prepare(kind, row).finally(() => this.#running.delete(row));
      this.#running.set(row, running);
    }
    return running;
  }

  async #prepare(kind: Kind, row: Row): Promise<Representation> {
    const version = this.#store.dependencyVersion(kind.name);
    const representation = await inSlices(representNow(kind, row, this.#store));
    // A commit that has replaced the row has dropped its entries already.
    const isCurrent = this.#store.get(kind.name, row.id) === row;
    if (isCurrent) this.#add(row, entryOf(representation, version));
    return representation;
  }

  /**
   * @param row as the store has it.
   * @returns null if it is not here, and so many rows belong to the row that it takes
   *   {@link RepresentationCache.prepare} to make it.
   */
  get(kind: Kind, row: Row): Representation | null {
    const version = this.#store.dependencyVersion(kind.name);
    const known = this.#entries.get(row);
    if (known?.version === version) {
      known.wasRead = true;
      return known.representation;
    }
    const representation = representAtOnce(kind, row, this.#store);
    if (representation !== null) this.#add(row, entryOf(representation, version));
    return representation;
  }

  #add(row: Row, entry: Entry): void {
    this.#delete(row);
    if (entry.bytes > this.#maxBytes * MAX_PART) return;
    // Once even if there is room: a hand that stands still keeps all that the map has outgrown.
    let next = this.#nextOldest();
    for (let spared = 0; this.#bytes + entry.bytes > this.#maxBytes; next = this.#nextOldest()) {
      if (next === null) continue;
      const [oldRow, old] = next;
      if (old.wasRead && spared < MAX_SPARED) {
        old.wasRead = false;
        spared += 1;
      } else this.#delete(oldRow);
    }
    this.#entries.set(row, entry);
    this.#bytes += entry.bytes;
  }

  /** @returns null at the end, after which it begins anew. */
  #nextOldest(): [Row, Entry] | null {
    const { done, value } = this.#hand.next();
    if (done !== true) return value;
    this.#hand = this.#entries.entries();
    return null;
  }

  #delete(row: Row): void {
    const entry = this.#entries.get(row);
    if (entry === undefined) return;
    this.#entries.delete(row);
    this.#bytes -= entry.bytes;
  }

  /** Drops, in steps, the entries of rows that a commit has replaced or deleted: nobody finds them. */
  *dropAll(changes: readonly Change[]): Generator<undefined, void> {
    for (const [index, { before }] of changes.entries()) {
      if (index > 0 && index % STEP_CHANGES === 0) yield;
      if (before !== null) this.#delete(before);
    }
  }
}

function entryOf(representation: Representation, version: number): Entry {
  const bytes = ENTRY_BYTES + bytesOf(representation.text);
  return { version, representation, bytes, wasRead: false };
}

/** What a text takes in memory: a byte a code unit as long as all are below U+0100, else two. */
function bytesOf(text: string): number {
  return /[^\0-\xff]/.test(text) ? 2 * text.length : text.length;
}
