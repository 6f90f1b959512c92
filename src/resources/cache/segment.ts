/**
 * Entries in one buffer, one after the other. Their texts are never overwritten: a response that
 * still sends a text of an evicted segment stays correct.
 *
 * An entry is a header of {@link HEAD_BYTES} and its text in UTF-8, and begins at a multiple of
 * eight. The header is four numbers of eight bytes, and the entity tag:
 *
 * | Number | |
 * |---|---|
 * | 0 | the id of the row |
 * | 1 | the version for which the text is valid |
 * | 2 | the length of the text, in bytes |
 * | 3 | the number of the kind, times four; plus 1 if it was read, plus 2 if it has an entity tag |
 */
import { ENTITY_TAG_LENGTH, entityTag } from '../entity-tag.ts';

const TAG_AT = 32;

const HEAD_BYTES = TAG_AT + ENTITY_TAG_LENGTH;

const READ = 1;
const TAGGED = 2;
const FLAGS = 4;

/** What an entry is about. */
export interface Subject {
  /** The number of the kind. */
  readonly kind: number;
  readonly id: number;
  /** The version for which the text is valid. */
  readonly version: number;
}

/** A text to be kept. */
export interface NewText {
  readonly text: string;
  /** The bytes that it takes in UTF-8. */
  readonly bytes: number;
  /** Its entity tag; null if it is not known. */
  readonly etag: string | null;
}

/** Bytes that an entry takes, a multiple of eight. @param bytes of its text. */
export function entryBytes(bytes: number): number {
  return Math.ceil((HEAD_BYTES + bytes) / 8) * 8;
}

/** All offsets are those of entries, in bytes, as {@link Segment.add} returns them. */
export class Segment {
  /** The number by which the cache identifies it. */
  readonly number: number;
  readonly #bytes: Uint8Array;
  /** The same bytes, to copy from and to. */
  readonly #buffer: Buffer;
  readonly #numbers: Float64Array;
  #end = 0;
  /** The number of entries that the cache still uses. */
  live = 0;

  /** @param capacity in bytes, a multiple of eight. */
  constructor(number: number, capacity: number) {
    this.number = number;
    const memory = new ArrayBuffer(capacity);
    this.#bytes = new Uint8Array(memory);
    this.#buffer = Buffer.from(memory);
    this.#numbers = new Float64Array(memory);
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** Bytes that are free. */
  get room(): number {
    return this.#bytes.length - this.#end;
  }

  /** Adds an entry, for which there must be room. @returns its offset. */
  add({ kind, id, version }: Subject, { text, bytes, etag }: NewText): number {
    const offset = this.#end;
    this.#numbers.set([id, version, bytes, kind * FLAGS], offset / 8);
    this.#buffer.write(text, offset + HEAD_BYTES, 'utf8');
    if (etag !== null) this.#setTag(offset, etag);
    this.#end += entryBytes(bytes);
    return offset;
  }

  /** Copies an entry of another segment, and marks it as not read. @returns its new offset. */
  take(other: Segment, offset: number): number {
    const end = this.#end;
    this.#end += other.#buffer.copy(this.#buffer, end, offset, offset + other.bytesOf(offset));
    this.#numbers[end / 8 + 3] = this.#flagsOf(end) & ~READ;
    return end;
  }

  /** All entries, whether the cache still uses them or not. */
  *offsets(): Generator<number> {
    for (let offset = 0; offset < this.#end; offset += this.bytesOf(offset)) yield offset;
  }

  /** Bytes of an entry. */
  bytesOf(offset: number): number {
    return entryBytes(this.#length(offset));
  }

  /** The number of the kind. */
  kindOf(offset: number): number {
    return Math.floor(this.#flagsOf(offset) / FLAGS);
  }

  idOf(offset: number): number {
    return this.#numbers[offset / 8] ?? 0;
  }

  versionOf(offset: number): number {
    return this.#numbers[offset / 8 + 1] ?? 0;
  }

  wasRead(offset: number): boolean {
    return (this.#flagsOf(offset) & READ) !== 0;
  }

  noteRead(offset: number): void {
    this.#numbers[offset / 8 + 3] = this.#flagsOf(offset) | READ;
  }

  /** The text itself, not a copy. */
  text(offset: number): Uint8Array {
    const start = offset + HEAD_BYTES;
    return this.#bytes.subarray(start, start + this.#length(offset));
  }

  /**
   * Copies the text.
   *
   * @returns its bytes; 0 if there is no room for them.
   */
  copyText(offset: number, target: Buffer, at: number): number {
    const length = this.#length(offset);
    if (length > target.length - at) return 0;
    const start = offset + HEAD_BYTES;
    return this.#buffer.copy(target, at, start, start + length);
  }

  /** See {@link entityTag}. Computed on first use, because lists do not need it. */
  etag(offset: number): string {
    const isThere = (this.#flagsOf(offset) & TAGGED) !== 0;
    if (!isThere) this.#setTag(offset, entityTag(this.text(offset)));
    const start = offset + TAG_AT;
    return this.#buffer.toString('latin1', start, start + ENTITY_TAG_LENGTH);
  }

  #setTag(offset: number, etag: string): void {
    this.#buffer.write(etag, offset + TAG_AT, 'latin1');
    this.#numbers[offset / 8 + 3] = this.#flagsOf(offset) | TAGGED;
  }

  #length(offset: number): number {
    return this.#numbers[offset / 8 + 2] ?? 0;
  }

  #flagsOf(offset: number): number {
    return this.#numbers[offset / 8 + 3] ?? 0;
  }
}
