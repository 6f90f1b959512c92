/** A request and its answer as plain values: what the rest of src/http works with. */
import type { Trace } from './wire/trace.ts';

export interface HttpRequest {
  readonly method: string;
  /** As sent, not decoded, without the query. */
  readonly path: string;
  /** What follows `?`, not decoded. */
  readonly search: string;
  /** By lower-case name; repeated ones joined or first-wins as RFC 9110, section 5.3 allows. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of the client, as far as proxies are trusted. */
  readonly address: string;
  /** What the log tells of it. */
  readonly trace: Trace;
  /** Reads the whole body. @throws CatalogError `body_too_large`, `malformed_request`. */
  readonly body: () => Promise<Uint8Array>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Null where the status has none (204, 304). A HEAD answer keeps it, for its length. */
  readonly body: string | Uint8Array | null;
}

/** One header as text; undefined where it was not sent. */
export function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Goes on at once with a value that is there, later with one that is promised. */
export function whenReady<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
