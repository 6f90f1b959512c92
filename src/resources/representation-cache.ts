/**
 * Representations of committed rows, kept for the next reader.
 *
 * Invariants:
 * 1. What {@link RepresentationCache.get} gives is what {@link represent} would give. An entry is
 *    found by the row itself, which is another object as soon as a value or a child of it changes;
 *    and it counts only as long as no attribute has changed that rows of the kind look up in others.
 * 2. The entries take at most the bytes that the cache may use. A row that a commit replaces or
 *    deletes takes its entry with it.
 */
import type { Change } from '../model/change.ts';
import type { Kind, Row } from '../model/kind.ts';
import type { ReadableStore } from '../store/state.ts';
import { inSlices } from '../slices.ts';
import { hasLongText, type Representation, represent, representNow } from './representation.ts';

/** Bytes that entries take at most, unless set otherwise: some 100,000 SKUs. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What an entry takes besides its text, in bytes: the objects, the tag, its place in the map. */
const ENTRY_BYTES = 256;

/** Changes that are read between two pauses. */
const STEP_CHANGES = 256;

interface Entry {
  /** The store's dependency version for which the representation holds. */
  readonly version: number;
  readonly representation: Representation;
  readonly bytes: number;
}

/** Entries with the bytes that they take together. */
class Generation {
  readonly #entries = new Map<Row, Entry>();
  bytes = 0;

  get(row: Row): Entry | undefined {
    return this.#entries.get(row);
  }

  set(row: Row, entry: Entry): void {
    this.delete(row);
    this.#entries.set(row, entry);
    this.bytes += entry.bytes;
  }

  delete(row: Row): void {
    const entry = this.#entries.get(row);
    if (entry === undefined) return;
    this.#entries.delete(row);
    this.bytes -= entry.bytes;
  }
}

/**
 * Two generations: an entry that is read moves to the young one; when that takes half of the bytes,
 * it becomes the old one, and what was in the old one is dropped. So a read costs one look-up, and
 * what is dropped has not been read for longer than what is kept.
 */
export class RepresentationCache {
  readonly #store: ReadableStore;
  readonly #maxBytes: number;
  #young = new Generation();
  #old = new Generation();
  /** Representations that are being made. */
  readonly #running = new Map<Row, Promise<Representation>>();

  constructor(store: ReadableStore, maxBytes = MAX_BYTES) {
    this.#store = store;
    this.#maxBytes = maxBytes;
  }

  /** Bytes that the entries take, about. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
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
    const young = this.#young.get(row);
    if (young?.version === version) return young.representation;
    let entry = this.#old.get(row);
    if (entry?.version !== version) {
      if (hasLongText(kind, row, this.#store)) return null;
      entry = entryOf(represent(kind, row, this.#store), version);
    }
    this.#old.delete(row);
    this.#add(row, entry);
    return entry.representation;
  }

  #add(row: Row, entry: Entry): void {
    if (this.#young.bytes + entry.bytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    if (entry.bytes <= this.#maxBytes / 2) this.#young.set(row, entry);
  }

  /** Drops, in steps, the entries of rows that a commit has replaced or deleted: nobody finds them. */
  *dropAll(changes: readonly Change[]): Generator<undefined, void> {
    for (const [index, { before }] of changes.entries()) {
      if (index > 0 && index % STEP_CHANGES === 0) yield;
      if (before === null) continue;
      this.#young.delete(before);
      this.#old.delete(before);
    }
  }
}

function entryOf(representation: Representation, version: number): Entry {
  return { version, representation, bytes: ENTRY_BYTES + bytesOf(representation.text) };
}

/** What a text takes in memory: a byte a code unit as long as all are below U+0100, else two. */
function bytesOf(text: string): number {
  return /[^\0-\xff]/.test(text) ? 2 * text.length : text.length;
}
