/** How much of everything a server takes; docs/security.md has the table. */
import type { ConnectionLimits } from './connections.ts';

export interface Limits extends ConnectionLimits {
  /** Bytes of a body. */
  readonly body: number;
  /** Bytes of all headers together. */
  readonly headers: number;
  /** Bytes of a request's target, path and query. */
  readonly url: number;
  /** Milliseconds until the headers are there. */
  readonly headersTimeout: number;
  /** Milliseconds until the whole request is there. */
  readonly requestTimeout: number;
  /** Milliseconds that an idle connection stays open. */
  readonly keepAliveTimeout: number;
  /** Milliseconds that a client may take to read an answer. */
  readonly sendTimeout: number;
  /** Requests on one connection that wait for the one before them. */
  readonly pipelined: number;
}

export const LIMITS: Limits = {
  body: 1024 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  sendTimeout: 60_000,
  pipelined: 500,
  connections: 10_000,
  connectionsPerAddress: 4096,
};
