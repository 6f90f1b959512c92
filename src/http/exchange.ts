/** A request and its answer as plain values: what the rest of src/http works with. */

export interface Request {
  readonly method: string;
  /** As sent, not decoded, without the query. */
  readonly path: string;
  /** What follows `?`, not decoded. */
  readonly search: string;
  /** By lower-case name; repeated ones joined or first-wins as RFC 9110, section 5.3 allows. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address, IPv4 or IPv6; "" where it is gone already. */
  readonly address: string;
  /** Reads the whole body. @throws CatalogError `body_too_large`, `malformed_request`. */
  readonly body: () => Promise<Uint8Array>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Null where the status has none (204, 304). A HEAD answer keeps it, for its length. */
  readonly body: string | Uint8Array | null;
}

/** One header as text; undefined where it was not sent. */
export function header(request: Request, name: string): string | undefined {
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
