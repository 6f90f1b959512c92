/** The limits of a server (spec 11.3 to 11.5). */
import type { ConnectionLimits } from './connections.ts';

export interface Limits extends ConnectionLimits {
  /** Bytes of one body that is read whole. */
  readonly body: number;
  /** Bytes of all bodies in memory. */
  readonly bodyMemory: number;
  /** Bytes of all headers of a request together. */
  readonly headers: number;
  /** Bytes of a request's target, path and query. */
  readonly url: number;
  /** Milliseconds for the headers to arrive. */
  readonly headersTimeout: number;
  /** Milliseconds for the body to arrive, or for each MiB of a stream. */
  readonly requestTimeout: number;
  /** Milliseconds that an idle connection stays open. */
  readonly keepAliveTimeout: number;
  /** Milliseconds for a client to read a response, or each 64 KiB of a large one. */
  readonly sendTimeout: number;
  /** Requests on one connection that wait for the one before them. */
  readonly pipelined: number;
  /** Responses that wait for clients that do not read them. */
  readonly unread: number;
}

export const LIMITS: Limits = {
  body: 1024 * 1024,
  bodyMemory: 64 * 1024 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  // The engine closes a connection without a response if its first request has not arrived after 8
  // to 12 s, and this timeout is checked once a second.
  headersTimeout: 6000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  sendTimeout: 60_000,
  pipelined: 500,
  // With what the engine keeps for each, they take some 100 MiB.
  unread: 512,
  connections: 10_000,
  connectionsPerAddress: 4096,
};
