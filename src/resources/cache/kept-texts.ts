/**
 * Texts with their entity tags, by kind and id, in bounded memory.
 *
 * Invariants:
 * 1. The texts take at most the bytes that they may use. The bytes of a removed text are freed with
 *    its segment.
 * 2. Making room for one text takes a short time, however many texts there are.
 */
import type { Kind, KindName } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import { perKind } from '../../model/per-kind.ts';
import { NOWHERE, RowPlaces } from './row-places.ts';
import { entryBytes, type NewText, Segment } from './segment.ts';

/** Bytes of a segment. Its entries are evicted together, in well under a millisecond. */
const SEGMENT_BYTES = 256 * 1024;

/** One entry or segment takes at most this part of all bytes, so that it evicts few others. */
const MAX_PART = 1 / 8;

/** An entry that takes a larger part of a segment gets one of its own, so that little is wasted. */
const MAX_SHARED_PART = 1 / 4;

/** At most this part of a segment survives its eviction, so that the eviction makes room. */
const MAX_SPARED_PART = 1 / 2;

/** Places of a segment: bytes of a small one divided by eight, the alignment of entries. */
const SEGMENT_PLACES = SEGMENT_BYTES / 8;

/**
 * When room is needed, the oldest segment is evicted. Its entries that were read since they were
 * added survive: they move to the newest segment, as not read (the clock algorithm, segment by
 * segment). So a read costs one look-up.
 *
 * The place of an entry is the number of its segment, which begins with 1, times
 * {@link SEGMENT_PLACES}, plus its offset divided by eight. A larger segment has one entry.
 */
export class KeptTexts {
  readonly #versionOf: (kind: KindName) => number;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  readonly #places = perKind(() => new RowPlaces());
  /** By number; null for an evicted one, undefined for the number 0, which is not used. */
  readonly #segments: (Segment | null | undefined)[] = [undefined];
  /** The oldest first. */
  readonly #byAge = new Set<Segment>();
  #segmentsBytes = 0;
  /** The segment to which small entries are added. */
  #current: Segment | null = null;

  /**
   * @param versionOf the current version of a kind: only texts for this version are found.
   * @param maxBytes that the texts take at most.
   */
  constructor(versionOf: (kind: KindName) => number, maxBytes: number) {
    this.#versionOf = versionOf;
    this.#maxBytes = maxBytes;
    this.#segmentBytes = Math.min(SEGMENT_BYTES, Math.floor((maxBytes * MAX_PART) / 8) * 8);
  }

  /** The memory of the texts, about, in bytes. */
  get bytes(): number {
    let bytes = this.#segmentsBytes;
    for (const { name } of ALL_KINDS) bytes += this.#places[name].bytes;
    return bytes;
  }

  /** @returns the place of a text; {@link NOWHERE} if there is none. */
  find(kind: KindName, id: number): number {
    const place = this.#places[kind].find(id);
    if (place === NOWHERE) return NOWHERE;
    const segment = this.#segmentOf(place);
    const offset = offsetOf(place);
    if (segment.versionOf(offset) !== this.#versionOf(kind)) return NOWHERE;
    segment.noteRead(offset);
    return place;
  }

  /** @param place of a text. */
  at(place: number): KeptText {
    return new KeptText(this.#segmentOf(place), offsetOf(place));
  }

  /**
   * @param place of a text.
   * @returns the bytes that were copied; 0 if there is no room for them.
   */
  copy(place: number, target: Buffer, at: number): number {
    return this.#segmentOf(place).copyText(offsetOf(place), target, at);
  }

  /**
   * @param version for which the text was made.
   * @returns its place; {@link NOWHERE} if it is too long to be kept.
   */
  add(kind: Kind, id: number, version: number, given: Omit<NewText, 'bytes'>): number {
    const { text, etag } = given;
    const bytes = Buffer.byteLength(text);
    const size = entryBytes(bytes);
    if (size > this.#maxBytes * MAX_PART) return NOWHERE;
    const segment = this.#segmentFor(size);
    const subject = { kind: ALL_KINDS.indexOf(kind), id, version };
    const place = this.#place(kind, id, segment, segment.add(subject, { text, etag, bytes }));
    this.#makeRoom(segment);
    return place;
  }

  delete(kind: KindName, id: number): void {
    this.#release(this.#places[kind].delete(id));
  }

  #place({ name }: Kind, id: number, segment: Segment, offset: number): number {
    const place = placeOf(segment, offset);
    segment.live += 1;
    this.#release(this.#places[name].set(id, place));
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

  /** @param newest a segment that is not evicted; the current one is not evicted either. */
  #makeRoom(newest: Segment): void {
    if (this.bytes <= this.#maxBytes) return;
    for (const segment of this.#byAge) {
      if (this.bytes <= this.#maxBytes) return;
      if (segment !== newest && segment !== this.#current) this.#evict(segment);
    }
  }

  /** Deletes or moves its entries. It is forgotten with the last of them. */
  #evict(segment: Segment): void {
    let toSpare = segment.capacity * MAX_SPARED_PART;
    for (const offset of segment.offsets()) {
      const kind = ALL_KINDS[segment.kindOf(offset)];
      if (kind === undefined) throw new Error(`no kind has the number ${segment.kindOf(offset)}`);
      const id = segment.idOf(offset);
      if (this.#places[kind.name].find(id) !== placeOf(segment, offset)) continue;
      const size = segment.bytesOf(offset);
      const target = this.#current;
      const isSpared =
        segment.wasRead(offset) &&
        segment.versionOf(offset) === this.#versionOf(kind.name) &&
        size <= toSpare;
      if (isSpared && target !== null && size <= target.room) {
        this.#place(kind, id, target, target.take(segment, offset));
        toSpare -= size;
      } else this.delete(kind.name, id);
    }
  }

  #forget(segment: Segment): void {
    this.#byAge.delete(segment);
    this.#segments[segment.number] = null;
    this.#segmentsBytes -= segment.capacity;
  }

  /** @param place of an entry that is not found any more. */
  #release(place: number): void {
    if (place === NOWHERE) return;
    const segment = this.#segmentOf(place);
    segment.live -= 1;
    // The current segment stays in use.
    if (segment.live === 0 && segment !== this.#current) this.#forget(segment);
  }
}

function placeOf({ number }: Segment, offset: number): number {
  return number * SEGMENT_PLACES + offset / 8;
}

/** The offset of an entry in its segment, in bytes. */
function offsetOf(place: number): number {
  return (place % SEGMENT_PLACES) * 8;
}

/** The text and the entity tag of an entry. */
export class KeptText {
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
