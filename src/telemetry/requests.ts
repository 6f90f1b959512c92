/** One line of the log for every response. */
import type { Log } from './log.ts';

/** What is known of a response once it has been handed to the connection. */
export interface AccessRecord {
  /** Identifies the request in the log and in the body of a 5xx. */
  readonly id: string;
  readonly method: string;
  /** As sent, without the query, which may contain secrets. */
  readonly path: string;
  /** The shape of the path, such as `/books/{id}/`; null if there is no such path. */
  readonly route: string | null;
  readonly status: number;
  /** From the request's headers to the response's, in milliseconds. */
  readonly milliseconds: number;
  /** Of the response's body. */
  readonly bytes: number;
  /** The subject of the token; null if no token was required. */
  readonly subject: string | null;
  /** Of the client, as far as proxies are trusted. */
  readonly address: string;
  /** Whether the client had gone before the response came. */
  readonly aborted: boolean;
}

/** Characters. Longer paths are cut, so that a line has a bounded size. */
const MAX_PATH_LENGTH = 1024;

/** Routes that monitors request every few seconds. */
const PROBES: ReadonlySet<string | null> = new Set(['/healthz', '/readyz', '/metrics']);

/** A fault is an error. A 503, which an overloaded or closing server sends, is not. */
export function levelOf(status: number): 'error' | 'info' {
  return status >= 500 && status !== 503 ? 'error' : 'info';
}

/** Logs a response: at `debug` for monitors, otherwise at the level of its status. */
export function logResponse(log: Log, record: AccessRecord): void {
  const { route, status } = record;
  const level = PROBES.has(route) ? 'debug' : levelOf(status);
  if (!log.writes(level)) return;
  const { id, method, path, milliseconds, bytes, subject, address, aborted } = record;
  log[level]('request', {
    request_id: id,
    method,
    path: path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path,
    status,
    ms: Math.round(milliseconds * 1000) / 1000,
    bytes,
    ...(subject !== null && { subject }),
    address,
    ...(aborted && { aborted }),
  });
}
