/** The memory in which the slices of a base are made, one after the other. */
import { createHash } from 'node:crypto';
import { piecesOf } from '../../../streams.ts';

/** The approximate bytes of a slice: a fraction of a millisecond of work. */
const SLICE_BYTES = 64 * 1024;

/** The most bytes that a UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

/** What an outline says about some bytes in a row. */
export interface Part {
  /** How many they are. */
  readonly bytes: number;
  /** Their CRC-32, as in gzip (RFC 1952, section 8). */
  readonly crc32: number;
}

export class SliceMemory {
  #memory = Buffer.allocUnsafeSlow(2 * SLICE_BYTES);
  #filled = 0;
  /** Bytes of the slice that are before the current part, or already counted for it. */
  #counted = 0;
  #part: Part = { bytes: 0, crc32: 0 };
  readonly #hash = createHash('sha256');

  /** Whether it is time to {@link SliceMemory.take} the slice. */
  get isFull(): boolean {
    return this.#filled >= SLICE_BYTES;
  }

  /** Adds a text to the slice. */
  add(text: string): void {
    this.#reserve(text.length * MAX_UNIT_BYTES);
    this.#filled += this.#memory.write(text, this.#filled);
  }

  /** Adds bytes to the slice. */
  copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#memory.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  /** Begins a part, which may extend over any number of slices. */
  beginPart(): void {
    this.#counted = this.#filled;
    this.#part = { bytes: 0, crc32: 0 };
  }

  /** @returns the part that was begun last. */
  endPart(): Part {
    this.#countFilled();
    return this.#part;
  }

  /** @returns the slice; the next one reuses its memory. */
  take(): Uint8Array {
    this.#countFilled();
    const slice = this.#memory.subarray(0, this.#filled);
    this.#filled = 0;
    this.#counted = 0;
    this.#hash.update(slice);
    return slice;
  }

  /**
   * Yields the current slice, and then other bytes in slices, without copying them.
   *
   * @param bytes that do not change while the slices are in use.
   */
  *pass(bytes: Uint8Array): Generator<Uint8Array, void> {
    if (this.#filled > 0) yield this.take();
    for (const slice of piecesOf(bytes, SLICE_BYTES)) {
      this.#count(slice);
      this.#hash.update(slice);
      yield slice;
    }
  }

  /** SHA-256 of all slices that were taken, in hexadecimal digits; nothing can be added after it. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** Counts for the part what was added to the slice since it was last counted. */
  #countFilled(): void {
    this.#count(this.#memory.subarray(this.#counted, this.#filled));
    this.#counted = this.#filled;
  }

  #count(added: Uint8Array): void {
    const { bytes, crc32 } = this.#part;
    this.#part = { bytes: bytes + added.length, crc32: Bun.hash.crc32(added, crc32) };
  }

  #reserve(bytes: number): void {
    const needed = this.#filled + bytes;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * needed);
    this.#memory.copy(larger, 0, 0, this.#filled);
    this.#memory = larger;
  }
}
