/** One line of the log for every answer. */
import type { Log } from './log.ts';

/** What is known of an answer when it has been handed over. */
export interface AccessRecord {
  /** Names the exchange in the log and in the body of a 5xx. */
  readonly id: string;
  readonly method: string;
  /** As sent, without the query, which may hold what is nobody's business. */
  readonly path: string;
  /** The shape of the path, such as `/books/{id}/`; null where it leads nowhere. */
  readonly route: string | null;
  readonly status: number;
  /** From the request's headers to the answer's, in milliseconds. */
  readonly milliseconds: number;
  /** Of the answer's body. */
  readonly bytes: number;
  /** Whom the token is for; null where none was asked. */
  readonly subject: string | null;
  /** Of the client, as far as proxies are trusted. */
  readonly address: string;
  /** Whether the client had gone before the answer came. */
  readonly aborted: boolean;
}

/** Longer paths are cut: the log is no place to store things. */
const MAX_PATH_LENGTH = 1024;

/** Routes that monitors ask every few seconds. */
const PROBES: ReadonlySet<string | null> = new Set(['/healthz', '/readyz', '/metrics']);

/** A fault is an error; that there is too much to do, or that the server goes, is none. */
export function levelOf(status: number): 'error' | 'info' {
  return status >= 500 && status !== 503 ? 'error' : 'info';
}

/** Logs an answer: what monitors ask for at `debug`, the rest as its status has it. */
export function logAnswer(log: Log, answered: AccessRecord): void {
  const { route, status } = answered;
  const level = PROBES.has(route) ? 'debug' : levelOf(status);
  if (!log.writes(level)) return;
  const { id, method, path, milliseconds, bytes, subject, address, aborted } = answered;
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
