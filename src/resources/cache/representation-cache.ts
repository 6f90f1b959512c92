/**
 * A cache of representations of committed rows, as the bytes that are sent.
 *
 * Invariants:
 * 1. {@link RepresentationCache.get} returns what `represent` (represent.ts) would return. The
 *    entry of a row is removed in the turn in which the row, or a row that belongs to it, changes.
 *    An entry is valid only until an attribute changes that rows of the kind look up in other rows.
 * 2. The cache takes no more memory than {@link KeptTexts} may use.
 */
import type { Change } from '../../model/change.ts';
import type { Kind, KindName, Row } from '../../model/kind.ts';
import { perKind } from '../../model/per-kind.ts';
import { ownersOf } from '../../model/relations.ts';
import { existingRow } from '../../model/rows.ts';
import { inSlices } from '../../slices.ts';
import type { ReadableStore } from '../../store/readable-store.ts';
import { representAtOnce, representNow } from '../represent.ts';
import type { Representation } from '../representation.ts';
import { KeptTexts } from './kept-texts.ts';
import { NOWHERE } from './row-places.ts';

/** Bytes that entries take at most, unless set otherwise: some 130,000 SKUs. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The JSON text of an object, and its entity tag. */
export interface Readable {
  readonly text: string | Uint8Array;
  readonly etag: string;
}

/** A representation that is being made, for a version of what its kind looks up in other rows. */
interface Making {
  readonly version: number;
  readonly made: Promise<Representation>;
}

export class RepresentationCache {
  readonly #store: ReadableStore;
  readonly #kept: KeptTexts;
  /** Representations that are being made, by id, of rows that have not changed since. */
  readonly #running = perKind(() => new Map<number, Making>());

  /** @param maxBytes that the entries take at most. */
  constructor(store: ReadableStore, maxBytes = MAX_BYTES) {
    this.#store = store;
    this.#kept = new KeptTexts((kind) => store.dependencyVersion(kind), maxBytes);
    store.onApply((changes) => this.#dropAll(changes));
  }

  /** The memory of the entries, about, in bytes. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /**
   * Makes a representation in steps; concurrent calls share it.
   *
   * @param id of a row.
   * @returns what the row shows at the time of the first call.
   */
  prepare(kind: Kind, id: number): Promise<Representation> {
    const running = this.#running[kind.name];
    const version = this.#store.dependencyVersion(kind.name);
    const known = running.get(id);
    if (known?.version === version) return known.made;
    const { promise, resolve } = Promise.withResolvers<Representation>();
    const making: Making = { version, made: promise };
    running.set(id, making);
    resolve(this.#prepare(kind, id, making));
    return promise;
  }

  async #prepare(kind: Kind, id: number, making: Making): Promise<Representation> {
    const running = this.#running[kind.name];
    try {
      const row = existingRow<KindName>(this.#store, kind.name, id);
      const made = await inSlices(representNow(kind, row, this.#store));
      if (running.get(id) === making) this.#kept.add(kind, id, making.version, made);
      return made;
    } finally {
      if (running.get(id) === making) running.delete(id);
    }
  }

  /** @returns null if there is no such row, or if its representation is not cached. */
  known(kind: Kind, id: number): Readable | null {
    const place = this.#kept.find(kind.name, id);
    return place === NOWHERE ? null : this.#kept.at(place);
  }

  /**
   * @param id of a row.
   * @returns null if it is not cached, and the row owns so many rows that only
   *   {@link RepresentationCache.prepare} can make it.
   */
  get(kind: Kind, id: number): Readable | null {
    const known = this.known(kind, id);
    if (known !== null) return known;
    const made = this.#make(kind, id);
    if (made === null || made.place === NOWHERE) return made && made.representation;
    return this.#kept.at(made.place);
  }

  /**
   * Copies the text of a row.
   *
   * @param id of the row.
   * @returns its bytes; 0 if there is no room for them, or if only
   *   {@link RepresentationCache.prepare} can make it.
   */
  copyText(kind: Kind, id: number, target: Buffer, at: number): number {
    const known = this.#kept.find(kind.name, id);
    if (known !== NOWHERE) return this.#kept.copy(known, target, at);
    const made = this.#make(kind, id);
    if (made === null) return 0;
    const { place, representation } = made;
    if (place !== NOWHERE) return this.#kept.copy(place, target, at);
    const { text } = representation;
    return Buffer.byteLength(text) <= target.length - at ? target.write(text, at) : 0;
  }

  #make(kind: Kind, id: number): { representation: Representation; place: number } | null {
    const version = this.#store.dependencyVersion(kind.name);
    const row = this.#store.peek(kind.name, id);
    if (row === undefined) throw new Error(`there is no ${kind.name} ${id} to be represented`);
    const representation = representAtOnce(kind, row, this.#store);
    if (representation === null) return null;
    const { text } = representation;
    // Its entity tag is computed on first use, because lists do not need it.
    return { representation, place: this.#kept.add(kind, id, version, { text, etag: null }) };
  }

  /** Synchronous, because readers see the new rows at once. Takes some nanoseconds for each row. */
  #dropAll(changes: readonly Change[]): void {
    for (const { kind, id, before, after } of changes) {
      if (before !== null) this.#drop(kind, id);
      for (const { kind: owner, foreignKey } of ownersOf(kind)) {
        const of: readonly (Row | null)[] = [before, after];
        for (const child of of) {
          const ownerId = child?.[foreignKey];
          if (typeof ownerId === 'number') this.#drop(owner, ownerId);
        }
      }
    }
  }

  #drop(kind: KindName, id: number): void {
    this.#kept.delete(kind, id);
    this.#running[kind].delete(id);
  }
}
