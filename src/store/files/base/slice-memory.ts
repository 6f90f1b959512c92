/** The memory in which the slices of a base are made, one after the other. */
import { createHash } from 'node:crypto';

/** The approximate bytes of a slice: a fraction of a millisecond of work. */
const SLICE_BYTES = 64 * 1024;

/** The most bytes that a UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

export class SliceMemory {
  #memory = Buffer.allocUnsafeSlow(2 * SLICE_BYTES);
  #filled = 0;
  /** Bytes of the slices before this one. */
  #before = 0;
  readonly #hash = createHash('sha256');

  /** The bytes of all slices so far, including the current one. */
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

  /** @returns the slice; the next one reuses its memory. */
  take(): Uint8Array {
    return this.#count(this.#memory.subarray(0, this.#filled));
  }

  /**
   * Yields the current slice, and then other bytes in slices, without copying them.
   *
   * @param bytes that do not change while the slices are in use.
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
