/** The body of a request as it arrives from the network. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CatalogError } from '../../errors.ts';
import { isSafe, type RequestBody } from '../message.ts';
import type { BodyBudget } from './body-memory/body-budget.ts';
import { GrowingBuffer } from './body-memory/growing-buffer.ts';
import type { ErrorResponse } from './error-responses.ts';

/**
 * How much of an unread body is received and dropped. A client that is still sending would not read
 * the response, and closing a connection that has unread data may destroy the response.
 */
const DRAIN = { bytes: 32 * 1024 * 1024, milliseconds: 5000, quietMilliseconds: 2000 };

/**
 * The engine takes a microsecond for each chunk, however small, and reads all that has arrived on
 * one connection before it turns to others. So a body may have `free` chunks of any size, and more
 * only if its chunks have at least `bytes` on average.
 */
const CHUNKS = { free: 16_384, bytes: 16 };

/** The same for what arrives after the response: no request needs it, so it may take less time. */
const DROPPED_CHUNKS = { free: 1024, bytes: 1024 };

/** Bytes of a stream after which the timeout of a request starts again. */
const STREAM_STRETCH_BYTES = 1024 * 1024;

export interface BodySettings {
  /** Most bytes of a body that is read whole. */
  readonly limit: number;
  /** Milliseconds for a whole body to arrive, or for each MiB of a stream. */
  readonly timeout: number;
  readonly budget: BodyBudget;
  /** Responds to a request whose body takes too long, and ends its connection. */
  readonly onTimeout: (body: IncomingBody, connection: Socket) => void;
}

/** RFC 9112, section 6.3: without either header a request has no body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || declaredLength(headers) > 0;
}

function declaredLength(headers: IncomingMessage['headers']): number {
  return Number(headers['content-length'] ?? 0);
}

/** The body of a request: read at most once, and received to its end even if it is not read. */
export class IncomingBody implements RequestBody {
  /** The error that its request was answered with, in place of the response of the application. */
  answer: ErrorResponse | null = null;
  readonly #incoming: IncomingMessage;
  readonly #settings: BodySettings;
  /** The response, as long as the client waits for `100 Continue` before it sends the body. */
  #waiting: ServerResponse | null;
  #chunks = 0;
  #received = 0;
  #buffer: GrowingBuffer | null = null;
  /** Whether its request waits for its turn, is in progress, or cannot go on without the body. */
  #state: 'queued' | 'begun' | 'awaited' = 'queued';
  #isBroken = false;
  /** Ends the wait of {@link finish}. */
  #stopFinishing = () => {};

  constructor(incoming: IncomingMessage, settings: BodySettings, waiting: ServerResponse | null) {
    this.#incoming = incoming;
    this.#settings = settings;
    this.#waiting = waiting;
  }

  /** Whether its request changes nothing (RFC 9110, section 9.2.1). */
  get isOfSafeRequest(): boolean {
    return isSafe(this.#incoming.method ?? '');
  }

  /** Call it when the request begins. @returns false if the rest of the body cannot arrive. */
  begin(): boolean {
    if (this.#isBroken) return false;
    this.#state = 'begun';
    return true;
  }

  /**
   * Call it if the connection cannot be read any further. The body then counts as cut off, even if
   * the rest of it still arrives: the client may be sent an error, so its request must have no effect.
   *
   * @returns `complete` if the whole body has arrived; otherwise whether its request is `queued`,
   *   has `begun` without reading the body, or reads it, so that the body is `awaited`. A request
   *   that is queued must no longer be carried out.
   */
  breakOff(): 'complete' | 'queued' | 'begun' | 'awaited' {
    if (this.#incoming.complete) return 'complete';
    this.#isBroken = true;
    this.#stopFinishing();
    return this.#state;
  }

  async bytes(subject: string | null): Promise<Uint8Array> {
    const { limit, budget, timeout, onTimeout } = this.#settings;
    const declared = this.#admit(limit);
    const incoming = this.#incoming;
    const buffer = new GrowingBuffer(declared, limit, budget, subject);
    this.#buffer = buffer;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => onTimeout(this, incoming.socket), timeout);
      let settled = false;
      const settle = () => {
        settled = true;
        this.#state = 'begun';
        clearTimeout(timer);
      };
      const onData = (chunk: Uint8Array) => {
        if (settled) return;
        const outcome = this.#count(chunk) ? 'too fine' : buffer.add(chunk);
        if (outcome === 'added') return;
        settle();
        reject(refusals[outcome](limit));
      };
      // `close` follows every `end`, so an error is created only if it is needed.
      const onEnd = () => {
        if (settled) return;
        settle();
        if (this.#isWhole) resolve(buffer.bytes());
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
    const { timeout, onTimeout } = this.#settings;
    const incoming = this.#incoming;
    // The connection stays open for the response.
    const chunks = incoming.iterator({ destroyOnReturn: false });
    let size = 0;
    let waited = 0;
    try {
      for (let stretch = 1; ; ) {
        const begun = performance.now();
        const timer = setTimeout(
          () => onTimeout(this, incoming.socket),
          Math.max(timeout - waited, 0),
        );
        const next = await chunks.next().finally(() => clearTimeout(timer));
        if (next.done === true) break;
        const chunk: Uint8Array = next.value;
        size += chunk.length;
        if (size > limit) throw tooLarge(limit);
        if (this.#count(chunk)) throw tooFine();
        // The time that the reader takes for a chunk does not count against the client.
        waited += performance.now() - begun;
        if (size >= stretch * STREAM_STRETCH_BYTES) {
          stretch = Math.floor(size / STREAM_STRETCH_BYTES) + 1;
          waited = 0;
        }
        yield chunk;
      }
    } catch (error) {
      throw error instanceof CatalogError || !incoming.destroyed ? error : cutOff();
    } finally {
      this.#state = 'begun';
      await chunks.return?.();
    }
    if (!this.#isWhole) throw cutOff();
  }

  /** @returns the declared length of the body in bytes; 0 if it is unknown. */
  #admit(limit: number): number {
    const declared = declaredLength(this.#incoming.headers);
    if (declared > limit) throw tooLarge(limit);
    // No more events of the request will come.
    if (this.#isBroken || this.#incoming.destroyed) throw cutOff();
    this.#state = 'awaited';
    this.#waiting?.writeContinue();
    this.#waiting = null;
    return declared;
  }

  /** Counts a chunk. @returns whether there are too many chunks for the bytes received. */
  #count(chunk: Uint8Array): boolean {
    this.#chunks += 1;
    this.#received += chunk.length;
    return this.#isTooFine;
  }

  get #isWhole(): boolean {
    return this.#incoming.complete && !this.#isBroken;
  }

  get #isTooFine(): boolean {
    return this.#chunks > CHUNKS.free && this.#received < this.#chunks * CHUNKS.bytes;
  }

  /** Call it when the request was handled: its bytes no longer count. */
  release(): void {
    this.#buffer?.release();
  }

  /**
   * Receives and drops the rest of the body. Call it when there is a response, which does not depend
   * on the rest any more.
   *
   * @returns whether the end arrived within {@link DRAIN}. If not, the connection cannot be reused.
   */
  finish(): boolean | Promise<boolean> {
    const incoming = this.#incoming;
    this.#state = 'begun';
    if (incoming.complete) return true;
    if (incoming.destroyed || this.#isBroken || this.#isTooFine) return false;
    // The client will send nothing.
    if (this.#waiting !== null) return false;
    if (declaredLength(incoming.headers) > DRAIN.bytes) return false;
    return new Promise((resolve) => {
      const begun = performance.now();
      let size = 0;
      const quiet = setTimeout(() => settle(false), DRAIN.quietMilliseconds);
      const settle = (whole: boolean) => {
        clearTimeout(quiet);
        incoming.off('data', onData);
        resolve(whole);
      };
      const onData = (chunk: Uint8Array) => {
        size += chunk.length;
        const long = performance.now() - begun > DRAIN.milliseconds;
        if (size > DRAIN.bytes || long || this.#count(chunk)) settle(false);
        else quiet.refresh();
      };
      this.#stopFinishing = () => settle(false);
      incoming.on('data', onData);
      incoming.on('end', () => settle(incoming.complete));
      incoming.on('error', () => settle(false));
      incoming.on('close', () => settle(false));
    });
  }

  /**
   * Receives and drops what still arrives until the connection is closed, unless its chunks are too
   * small. Call it after {@link finish}, when the response was sent.
   */
  drop(): void {
    const incoming = this.#incoming;
    if (this.#isTooFine) {
      incoming.pause();
      return;
    }
    let chunks = 0;
    let bytes = 0;
    incoming.on('data', (chunk: Uint8Array) => {
      chunks += 1;
      bytes += chunk.length;
      const { free, bytes: least } = DROPPED_CHUNKS;
      if (chunks > free && bytes < chunks * least) incoming.pause();
    });
    incoming.resume();
  }
}

function tooLarge(limit: number): CatalogError {
  return new CatalogError('body_too_large', `the body is larger than ${limit} bytes`);
}

function cutOff(): CatalogError {
  return new CatalogError('malformed_request', 'the body is cut off');
}

function tooFine(): CatalogError {
  return new CatalogError(
    'malformed_request',
    `the body has more than ${CHUNKS.free} chunks of less than ${CHUNKS.bytes} bytes on average; send larger ones`,
  );
}

const refusals = { 'too large': tooLarge, 'too fine': tooFine, 'over budget': noRoom };

function noRoom(): CatalogError {
  return new CatalogError('busy', 'too many large bodies arrive at once; try again later');
}
