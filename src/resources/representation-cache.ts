/**
 * Representations of committed rows, kept for the next reader.
 *
 * Invariant: what is given out is what {@link represent} would give. A row is immutable, so an entry
 * is right for as long as nothing changes that other rows lend to it: joined attributes and owned
 * rows, whose changes the store counts for each kind.
 */
import type { Kind, Row } from '../model/kind.ts';
import type { ReadableStore } from '../store/store.ts';
import { type Representation, represent } from './representation.ts';

/** Representations that are kept at most; of SKUs they take some 60 MB. */
const MAX_ENTRIES = 128 * 1024;

interface Entry {
  readonly lent: number;
  readonly representation: Representation;
}

export class RepresentationCache {
  readonly #store: ReadableStore;
  readonly #most: number;
  #young = new Map<Row, Entry>();
  /** Looked up as well, and dropped as a whole when the young ones are half of all. */
  #old = new Map<Row, Entry>();

  constructor(store: ReadableStore, most = MAX_ENTRIES) {
    this.#store = store;
    this.#most = most;
  }

  /** @param row as the store has it. */
  get(kind: Kind, row: Row): Representation {
    const lent = this.#store.dependencyVersion(kind.name);
    const young = this.#young.get(row);
    if (young?.lent === lent) return young.representation;
    const old = this.#old.get(row);
    const entry =
      old?.lent === lent ? old : { lent, representation: represent(kind, row, this.#store) };
    if (this.#young.size >= this.#most / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(row, entry);
    return entry.representation;
  }
}
