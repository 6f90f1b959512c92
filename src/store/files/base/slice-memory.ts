/** The memory in which one slice of a base after the other is made. */
import { createHash } from 'node:crypto';

/** Bytes of a slice, about: a fraction of a millisecond of work. */
const SLICE_BYTES = 64 * 1024;

/** Bytes that a UTF-16 unit takes in UTF-8, at most. */
const MAX_UNIT_BYTES = 3;

export class SliceMemory {
  #memory = Buffer.allocUnsafeSlow(2 * SLICE_BYTES);
  #filled = 0;
  /** Bytes of the slices before this one. */
  #before = 0;
  readonly #hash = createHash('sha256');

  /** Bytes of all slices so far, and of this one. */
  get size(): number {
    return this.#before + this.#filled;
  }

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

  /** @returns the slice; the next one takes its memory. */
  take(): Uint8Array {
    return this.#count(this.#memory.subarray(0, this.#filled));
  }

  /**
   * Makes slices of bytes as they are, without a copy, after what is in the slice.
   *
   * @param bytes that stay as they are until the slices are done with.
   */
  *pass(bytes: Uint8Array): Generator<Uint8Array, void> {
    if (this.#filled > 0) yield this.take();
    for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
      yield this.#count(bytes.subarray(start, start + SLICE_BYTES));
    }
  }

  /** SHA-256 of all slices that were taken, in hexadecimal digits; nothing can be added after it. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  #count(slice: Uint8Array): Uint8Array {
    this.#hash.update(slice);
    this.#before += slice.length;
    this.#filled = 0;
    return slice;
  }

  #reserve(bytes: number): void {
    const needed = this.#filled + bytes;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * needed);
    this.#memory.copy(larger, 0, 0, this.#filled);
    this.#memory = larger;
  }
}
