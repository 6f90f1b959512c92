/** A request and its response as plain values, which the rest of src/http works with. */
import type { PooledBuffer } from '../resources/text/pooled-buffer.ts';
import type { Trace } from './wire/trace.ts';

/** The body of a request. It is read once: either whole, or as a stream. */
export interface RequestBody {
  /**
   * Reads the whole body into memory, up to the limit of the server (`--max-body`).
   *
   * @param subject of the request's token, which gets only a share of the memory for bodies; null
   *   if the request has no valid token. All such requests together get a smaller share.
   * @throws CatalogError `body_too_large`, `busy` if there is no memory for it, `malformed_request`
   *   if the client stops half-way.
   */
  bytes(subject: string | null): Promise<Uint8Array>;
  /**
   * Reads the body in pieces. The connection is paused while the caller works on a piece, so at most
   * a few pieces are in memory. A caller that stops early need not read the rest.
   *
   * @param limit bytes of the whole body.
   * @throws CatalogError `body_too_large`, `malformed_request` if the client stops half-way.
   */
  stream(limit: number): AsyncIterable<Uint8Array>;
}

/** The body of a request that has none. */
export const NO_BODY: RequestBody = {
  bytes: () => Promise.resolve(new Uint8Array()),
  stream: async function* () {},
};

/** Whether a method reads: GET, and HEAD, which has the same meaning without the content. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether a method of the service is safe: it changes nothing (RFC 9110, section 9.2.1). */
export function isSafe(method: string): boolean {
  return isRead(method) || method === 'OPTIONS';
}

export interface HttpRequest {
  readonly method: string;
  /** As sent, not decoded, without the query. */
  readonly path: string;
  /** What follows `?`, not decoded. */
  readonly search: string;
  /** By lower-case name. Of a repeated header the values are joined, or the first one is kept. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Address of the client; a trusted proxy may name it. */
  readonly address: string;
  /** What the log says about the request. */
  readonly trace: Trace;
  /** Empty if the request has none. */
  readonly body: RequestBody;
  /**
   * Calls `listener` if the client disconnects before it has the response; at once if it already
   * has. For long waits.
   *
   * @returns a function that removes the listener.
   */
  whenGone(listener: () => void): () => void;
}

/**
 * A body that is made while it is sent, in pieces of at most 64 KiB.
 *
 * The next piece is requested when the client has taken the previous ones. `return()` is called if
 * the client disconnects before the end, and without a call of `next()` for HEAD. If a piece fails,
 * the connection is cut, because the status has already been sent: check what can be checked before
 * returning the response.
 */
export type BodyStream = AsyncIterable<string | Uint8Array>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /**
   * Null if the status has no body (204, 304). The response to HEAD has the same body as the one to
   * GET, so that its length is known; only the headers are sent.
   */
  readonly body: string | Uint8Array | PooledBuffer | BodyStream | null;
}

/** The value of a header as one string; undefined if it was not sent. */
export function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Calls `next` at once if the value is available, and when the promise resolves otherwise. */
export function whenReady<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
