/**
 * A pool of buffers for texts that are sent as soon as they are made: the garbage collector would
 * have to collect a new buffer for each.
 */

/** Bytes of each buffer. */
export const POOLED_BYTES = 64 * 1024;

/**
 * Free buffers that are kept, at most: as many lists as wait to be sent together, so that none of them
 * needs a new buffer (src/http/wire/responses/response-batch.ts).
 */
const MAX_FREE = 32;

const free: Buffer[] = [];

/** A text in UTF-8 in a buffer of the pool. A buffer that is not released is garbage-collected. */
export class PooledBuffer {
  #buffer: Buffer | null = free.pop() ?? Buffer.allocUnsafeSlow(POOLED_BYTES);

  /** The whole buffer, to write to. @throws Error if it was released. */
  get buffer(): Buffer {
    if (this.#buffer === null) throw new Error('the buffer was released');
    return this.#buffer;
  }

  /** Bytes of the text, which starts at the beginning of the buffer. */
  length = 0;

  /** The text. @throws Error if the buffer was released. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.buffer.buffer, 0, this.length);
  }

  /** Call this when the bytes are not read any more. */
  release(): void {
    if (this.#buffer !== null && free.length < MAX_FREE) free.push(this.#buffer);
    this.#buffer = null;
  }
}
