/**
 * Representations of committed rows, kept for the next reader as the bytes that are sent.
 *
 * Invariants:
 * 1. What {@link RepresentationCache.get} gives is what {@link represent} would give. An entry is
 *    found by the row itself, which is another object as soon as a value or a child of it changes;
 *    and it counts only as long as no attribute has changed that rows of the kind look up in others.
 * 2. The entries take at most the bytes that the cache may use. A row that a commit replaces or
 *    deletes takes its entry with it; its bytes are free again when their segment is.
 * 3. One entry makes room for itself in a short time, however many there are.
 */
import type { Change } from '../../model/change.ts';
import type { Kind, Row } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import { perKind } from '../../model/per-kind.ts';
import { inSlices } from '../../slices.ts';
import type { ReadableStore } from '../../store/readable-store.ts';
import { type Representation, representAtOnce, representNow } from '../representation.ts';
import { NOWHERE, RowPlaces } from './row-places.ts';
import { entryBytes, Segment } from './segment.ts';

/** Bytes that entries take at most, unless set otherwise: some 130,000 SKUs. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Bytes of a segment. What is in one is let go together, in well under a millisecond. */
const SEGMENT_BYTES = 256 * 1024;

/** The part of all bytes that one entry or segment takes at most, so that few others leave for it. */
const MAX_PART = 1 / 8;

/** An entry that takes a larger part of a segment has one of its own, so that little is left empty. */
const MAX_SHARED_PART = 1 / 4;

/** The part of a segment that is spared at most, so that it makes room. */
const MAX_SPARED_PART = 1 / 2;

/** Changes that are read between two pauses. */
const STEP_CHANGES = 256;

/** Places of a segment: bytes of a small one divided by eight, the alignment of entries. */
const SEGMENT_PLACES = SEGMENT_BYTES / 8;

/** The JSON text of an object, and its entity tag. */
export interface Readable {
  readonly text: string | Uint8Array;
  readonly etag: string;
}

/**
 * When room is needed, the oldest segment is let go, and what was read of it since it came is spared
 * once: it moves to the newest one (the clock algorithm, segment by segment). So a read costs one
 * look-up.
 *
 * The place of an entry is the number of its segment, which begins with 1, times
 * {@link SEGMENT_PLACES}, plus its offset divided by eight. A larger segment has one entry.
 */
export class RepresentationCache {
  readonly #store: ReadableStore;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  readonly #places = perKind(() => new RowPlaces());
  /** By number; null where one was let go, undefined where none can be. */
  readonly #segments: (Segment | null | undefined)[] = [undefined];
  /** The oldest first. */
  readonly #byAge = new Set<Segment>();
  #segmentsBytes = 0;
  /** Where small entries go. */
  #current: Segment | null = null;
  /** Representations that are being made. */
  readonly #running = new Map<Row, Promise<Representation>>();

  /** @param maxBytes that the entries take at most. */
  constructor(store: ReadableStore, maxBytes = MAX_BYTES) {
    this.#store = store;
    this.#maxBytes = maxBytes;
    this.#segmentBytes = Math.min(SEGMENT_BYTES, Math.floor((maxBytes * MAX_PART) / 8) * 8);
  }

  /** Bytes that the entries take, about. */
  get bytes(): number {
    let bytes = this.#segmentsBytes;
    for (const { name } of ALL_KINDS) bytes += this.#places[name].bytes;
    return bytes;
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
    if (isCurrent) this.#add(kind, row, version, representation.text, representation.etag);
    return representation;
  }

  /**
   * @param row as the store has it.
   * @returns null if it is not here, and so many rows belong to the row that it takes
   *   {@link RepresentationCache.prepare} to make it.
   */
  get(kind: Kind, row: Row): Readable | null {
    const known = this.#find(kind, row.id, row);
    if (known !== NOWHERE) return new Kept(this.#segmentOf(known), offsetOf(known));
    const made = this.#make(kind, row);
    if (made === null || made.place === NOWHERE) return made && made.representation;
    return new Kept(this.#segmentOf(made.place), offsetOf(made.place));
  }

  /**
   * Copies the text of a row.
   *
   * @param id of the row, so that the row itself need not be read.
   * @param row as the store has it.
   * @returns its bytes; none if there is no room for them, or if it takes
   *   {@link RepresentationCache.prepare} to make it.
   */
  copyText(kind: Kind, id: number, row: Row, target: Buffer, at: number): number {
    const known = this.#find(kind, id, row);
    if (known !== NOWHERE) return this.#segmentOf(known).copyText(offsetOf(known), target, at);
    const made = this.#make(kind, row);
    if (made === null) return 0;
    const { place, representation } = made;
    if (place !== NOWHERE) return this.#segmentOf(place).copyText(offsetOf(place), target, at);
    const { text } = representation;
    return Buffer.byteLength(text) <= target.length - at ? target.write(text, at) : 0;
  }

  /** @returns the place of the entry that holds for the row; {@link NOWHERE} if there is none. */
  #find({ name }: Kind, id: number, row: Row): number {
    const place = this.#places[name].find(id, row);
    if (place === NOWHERE) return NOWHERE;
    const segment = this.#segmentOf(place);
    const offset = offsetOf(place);
    if (segment.versionOf(offset) !== this.#store.dependencyVersion(name)) return NOWHERE;
    segment.noteRead(offset);
    return place;
  }

  #make(kind: Kind, row: Row): { representation: Representation; place: number } | null {
    const version = this.#store.dependencyVersion(kind.name);
    const representation = representAtOnce(kind, row, this.#store);
    if (representation === null) return null;
    return { representation, place: this.#add(kind, row, version, representation.text, null) };
  }

  /** @returns the place of the entry; {@link NOWHERE} if the text is too long for one. */
  #add(kind: Kind, row: Row, version: number, text: string, etag: string | null): number {
    const bytes = Buffer.byteLength(text);
    const size = entryBytes(bytes);
    if (size > this.#maxBytes * MAX_PART) return NOWHERE;
    const segment = this.#segmentFor(size);
    const subject = { kind: ALL_KINDS.indexOf(kind), id: row.id, version };
    const place = this.#place(kind, row, segment, segment.add(subject, { text, bytes, etag }));
    this.#makeRoom(segment);
    return place;
  }

  #place({ name }: Kind, row: Row, segment: Segment, offset: number): number {
    const place = segment.number * SEGMENT_PLACES + offset / 8;
    segment.live += 1;
    this.#release(this.#places[name].set(row, place));
    return place;
  }

  #segmentOf(place: number): Segment {
    const segment = this.#segments[Math.floor(place / SEGMENT_PLACES)] ?? null;
    if (segment === null) throw new Error(`there is no segment at ${place}`);
    return segment;
  }

  /** A segment with room for an entry. */
  #segmentFor(size: number): Segment {
    if (size > this.#segmentBytes * MAX_SHARED_PART) return this.#open(size);
    const full = this.#current;
    if (full !== null && full.room >= size) return full;
    const next = this.#open(this.#segmentBytes);
    this.#current = next;
    if (full?.live === 0) this.#forget(full);
    return next;
  }

  #open(capacity: number): Segment {
    const free = this.#segments.indexOf(null);
    const segment = new Segment(free < 0 ? this.#segments.length : free, capacity);
    this.#segments[segment.number] = segment;
    this.#byAge.add(segment);
    this.#segmentsBytes += segment.capacity;
    return segment;
  }

  /** @param newest that stays, as the one does where small entries go. */
  #makeRoom(newest: Segment): void {
    if (this.bytes <= this.#maxBytes) return;
    for (const segment of this.#byAge) {
      if (this.bytes <= this.#maxBytes) return;
      if (segment !== newest && segment !== this.#current) this.#letGo(segment);
    }
  }

  #letGo(segment: Segment): void {
    let toSpare = segment.capacity * MAX_SPARED_PART;
    for (const offset of segment.offsets()) {
      const kind = ALL_KINDS[segment.kindOf(offset)];
      if (kind === undefined) throw new Error(`no kind has the number ${segment.kindOf(offset)}`);
      const place = segment.number * SEGMENT_PLACES + offset / 8;
      const row = this.#places[kind.name].rowAt(segment.idOf(offset), place);
      if (row === null) continue;
      const size = segment.bytesOf(offset);
      const target = this.#current;
      const isSpared =
        segment.wasRead(offset) &&
        segment.versionOf(offset) === this.#store.dependencyVersion(kind.name) &&
        size <= toSpare;
      if (isSpared && target !== null && size <= target.room) {
        this.#place(kind, row, target, target.take(segment, offset));
        toSpare -= size;
      } else this.#release(this.#places[kind.name].delete(row));
    }
    // Without an entry it is forgotten already.
    if (this.#byAge.has(segment)) this.#forget(segment);
  }

  #forget(segment: Segment): void {
    this.#byAge.delete(segment);
    this.#segments[segment.number] = null;
    this.#segmentsBytes -= segment.capacity;
  }

  /** Drops, in steps, the entries of rows that a commit has replaced or deleted: nobody finds them. */
  *dropAll(changes: readonly Change[]): Generator<undefined, void> {
    for (const [index, { kind, before }] of changes.entries()) {
      if (index > 0 && index % STEP_CHANGES === 0) yield;
      if (before !== null) this.#release(this.#places[kind].delete(before));
    }
  }

  /** @param place of an entry that nobody finds any more. */
  #release(place: number): void {
    if (place === NOWHERE) return;
    const segment = this.#segmentOf(place);
    segment.live -= 1;
    // The one that small entries go to is used on.
    if (segment.live === 0 && segment !== this.#current) this.#forget(segment);
  }
}

/** In its segment, in bytes. */
function offsetOf(place: number): number {
  return (place % SEGMENT_PLACES) * 8;
}

/** What an entry shows, for whoever reads it now. */
class Kept implements Readable {
  readonly #segment: Segment;
  readonly #offset: number;

  constructor(segment: Segment, offset: number) {
    this.#segment = segment;
    this.#offset = offset;
  }

  get text(): Uint8Array {
    return this.#segment.text(this.#offset);
  }

  get etag(): string {
    return this.#segment.etag(this.#offset);
  }
}
