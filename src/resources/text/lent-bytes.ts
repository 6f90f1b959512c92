/**
 * Memory for texts that are sent as soon as they are made, and forgotten: it is used again, since
 * new memory for each would have to be collected.
 */

/** Bytes of each buffer. */
export const LENT_BYTES = 64 * 1024;

/** Buffers that wait to be used again, at most. */
const MAX_FREE = 8;

const free: Buffer[] = [];

/** A text in UTF-8 in a buffer that is given back, or else is left to the garbage collector. */
export class LentBytes {
  #buffer: Buffer | null = free.pop() ?? Buffer.allocUnsafeSlow(LENT_BYTES);

  /** The whole buffer, to write to. @throws Error if it was given back. */
  get buffer(): Buffer {
    if (this.#buffer === null) throw new Error('the buffer was given back');
    return this.#buffer;
  }

  /** Bytes of the text; it begins where the buffer does. */
  length = 0;

  /** The text. @throws Error if it was given back. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.buffer.buffer, 0, this.length);
  }

  /** To be called when nobody will read the bytes any more. */
  giveBack(): void {
    if (this.#buffer !== null && free.length < MAX_FREE) free.push(this.#buffer);
    this.#buffer = null;
  }
}
