/** The body of a request as it arrives from the network. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CatalogError } from '../../errors.ts';
import type { RequestBody } from '../message.ts';

/**
 * How much of a body that nobody reads is received and dropped. A client that still sends would not
 * read the response, and closing the connection with unread data may destroy the response.
 */
const MAX_DRAIN = { bytes: 32 * 1024 * 1024, milliseconds: 5000 };

/** Bytes of the first buffer of a body that arrives in several pieces. */
const FIRST_BUFFER_BYTES = 4096;

/** RFC 9112, section 6.3: without either header a request has no body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || declaredLength(headers) > 0;
}

function declaredLength(headers: IncomingMessage['headers']): number {
  return Number(headers['content-length'] ?? 0);
}

/** The body of a request: read at most once, and received to its end in any case. */
export class IncomingBody implements RequestBody {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  /** The response to a client that waits for `100 Continue` before it sends the body. */
  readonly #waiting: ServerResponse | null;
  #read = false;
  #state: 'waiting' | 'begun' | 'broken' = 'waiting';

  /** @param limit bytes that are read into memory. */
  constructor(incoming: IncomingMessage, limit: number, waiting: ServerResponse | null) {
    this.#incoming = incoming;
    this.#limit = limit;
    this.#waiting = waiting;
  }

  /** Called when its request begins. @returns false if the rest of the body cannot arrive. */
  begin(): boolean {
    if (this.#state === 'broken') return false;
    this.#state = 'begun';
    return true;
  }

  /**
   * Called when bytes of the connection could not be read.
   *
   * @returns whether they were a part of this body, and its request has begun. If it has not begun,
   *   the request must not be carried out.
   */
  breakOff(): boolean {
    if (this.#incoming.complete) return false;
    const begun = this.#state === 'begun';
    this.#state = 'broken';
    return begun;
  }

  async bytes(): Promise<Uint8Array> {
    const declared = this.#admit(this.#limit);
    const incoming = this.#incoming;
    const limit = this.#limit;
    return new Promise((resolve, reject) => {
      const gathered = new GrowingBuffer(declared, limit);
      let settled = false;
      const onData = (chunk: Uint8Array) => {
        if (settled || gathered.add(chunk)) return;
        settled = true;
        reject(tooLarge(limit));
      };
      // `close` follows `end` on every request: an error is made only if it is needed.
      const onEnd = () => {
        if (settled) return;
        settled = true;
        if (incoming.complete) resolve(gathered.bytes());
        else reject(cutOff());
      };
      incoming.on('data', onData);
      incoming.on('end', onEnd);
      incoming.on('error', onEnd);
      incoming.on('close', onEnd);
    });
  }

  async *stream(limit: number): AsyncGenerator<Uint8Array> {
    this.#admit(limit);
    const incoming = this.#incoming;
    let size = 0;
    try {
      // The connection is left open for the response.
      for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
        size += chunk.length;
        if (size > limit) throw tooLarge(limit);
        yield chunk;
      }
    } catch (error) {
      throw error instanceof CatalogError || !incoming.destroyed ? error : cutOff();
    }
    if (!incoming.complete) throw cutOff();
  }

  /** @returns bytes that the body will have; 0 if that is unknown. */
  #admit(limit: number): number {
    const declared = declaredLength(this.#incoming.headers);
    if (declared > limit) throw tooLarge(limit);
    this.#read = true;
    this.#waiting?.writeContinue();
    return declared;
  }

  /**
   * Receives and drops the rest of the body.
   *
   * @returns whether the end came, within bounds. If not, the connection cannot be used again.
   */
  finish(): Promise<boolean> {
    const incoming = this.#incoming;
    if (incoming.complete) return Promise.resolve(true);
    if (incoming.destroyed) return Promise.resolve(false);
    // A client that waits for `100 Continue` and does not get it sends nothing.
    if (this.#waiting !== null && !this.#read) return Promise.resolve(false);
    if (declaredLength(incoming.headers) > MAX_DRAIN.bytes) return Promise.resolve(false);
    return new Promise((resolve) => {
      let size = 0;
      const timer = setTimeout(() => resolve(false), MAX_DRAIN.milliseconds);
      const settle = (whole: boolean) => {
        clearTimeout(timer);
        resolve(whole);
      };
      incoming.on('data', (chunk: Uint8Array) => {
        size += chunk.length;
        if (size > MAX_DRAIN.bytes) settle(false);
      });
      incoming.on('end', () => settle(incoming.complete));
      incoming.on('error', () => settle(false));
      incoming.on('close', () => settle(false));
    });
  }
}

/** One buffer that doubles as bytes arrive: however small the chunks, no object is kept for each. */
class GrowingBuffer {
  readonly #declared: number;
  readonly #limit: number;
  #buffer: Uint8Array | null = null;
  #size = 0;

  /** @param declared bytes that are expected; 0 if that is unknown. */
  constructor(declared: number, limit: number) {
    this.#declared = declared;
    this.#limit = limit;
  }

  /** @returns false if the limit is exceeded; the bytes gathered so far are then dropped. */
  add(chunk: Uint8Array): boolean {
    const size = this.#size + chunk.length;
    if (size > this.#limit) {
      this.#buffer = null;
      return false;
    }
    if (this.#buffer === null && size === this.#declared) {
      // The whole body in one chunk, as it usually arrives: nothing is copied.
      this.#buffer = chunk;
    } else {
      this.#reserve(size).set(chunk, this.#size);
    }
    this.#size = size;
    return true;
  }

  #reserve(size: number): Uint8Array {
    const old = this.#buffer ?? new Uint8Array();
    if (size <= old.length) return old;
    const most = this.#declared || this.#limit;
    const larger = Math.min(
      Math.max(size, 2 * old.length, FIRST_BUFFER_BYTES),
      Math.max(most, size),
    );
    const buffer = new Uint8Array(larger);
    buffer.set(old.subarray(0, this.#size));
    this.#buffer = buffer;
    return buffer;
  }

  bytes(): Uint8Array {
    return this.#buffer?.subarray(0, this.#size) ?? new Uint8Array();
  }
}

function tooLarge(limit: number): CatalogError {
  return new CatalogError('body_too_large', `the body is larger than ${limit} bytes`);
}

function cutOff(): CatalogError {
  return new CatalogError('malformed_request', 'the body is cut off');
}
