/** The body of a request as it comes over the wire. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CatalogError } from '../../errors.ts';

/** What of a refused body is read and thrown away, so that its sender comes to read the answer. */
const MAX_DRAIN = { bytes: 32 * 1024 * 1024, milliseconds: 5000 };

/** RFC 9112, section 6.3: without either header a request has no body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || declaredLength(headers) > 0;
}

function declaredLength(headers: IncomingMessage['headers']): number {
  return Number(headers['content-length'] ?? 0);
}

/** The body of a request: read at most once, and read to its end in any case. */
export class RequestBody {
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  /** The response to a client that waits for `100 Continue` before it sends the body. */
  readonly #waiting: ServerResponse | null;
  #read = false;
  #state: 'waiting' | 'begun' | 'broken' = 'waiting';

  constructor(incoming: IncomingMessage, limit: number, waiting: ServerResponse | null) {
    this.#incoming = incoming;
    this.#limit = limit;
    this.#waiting = waiting;
  }

  /** The turn of its request has come. @returns whether the rest can still come. */
  begin(): boolean {
    if (this.#state === 'broken') return false;
    this.#state = 'begun';
    return true;
  }

  /**
   * What came could not be read.
   *
   * @returns whether it was a part of this body, and the turn of its request has come. If it has
   *   not, the request is not to be carried out.
   */
  breakOff(): boolean {
    if (this.#incoming.complete) return false;
    const begun = this.#state === 'begun';
    this.#state = 'broken';
    return begun;
  }

  /** @throws CatalogError `body_too_large`, `malformed_request`. */
  read(): Promise<Uint8Array> {
    const declared = declaredLength(this.#incoming.headers);
    if (declared > this.#limit) return Promise.reject(tooLarge(this.#limit));
    this.#read = true;
    this.#waiting?.writeContinue();
    const incoming = this.#incoming;
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      incoming.on('data', (chunk: Uint8Array) => {
        size += chunk.length;
        // Beyond the limit nothing is kept; `finish` sees the rest go by.
        if (size > this.#limit) reject(tooLarge(this.#limit));
        else chunks.push(chunk);
      });
      incoming.on('end', () => {
        if (incoming.complete) resolve(Buffer.concat(chunks, size));
        else reject(cutOff());
      });
      incoming.on('error', () => reject(cutOff()));
      incoming.on('close', () => reject(cutOff()));
    });
  }

  /** Reads on to the end of the body. @returns whether it came, within bounds. */
  finish(): Promise<boolean> {
    const incoming = this.#incoming;
    if (incoming.complete) return Promise.resolve(true);
    if (incoming.destroyed) return Promise.resolve(false);
    // Who waits for `100 Continue` and does not get it, sends nothing.
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

function tooLarge(limit: number): CatalogError {
  return new CatalogError('body_too_large', `the body is larger than ${limit} bytes`);
}

function cutOff(): CatalogError {
  return new CatalogError('malformed_request', 'the body is cut off');
}
