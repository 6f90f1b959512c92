/** Answers to what is no request that the application could read. */
import type { Duplex } from 'node:stream';
import type { HttpResponse } from '../message.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';

export interface Refusal {
  readonly status: number;
  readonly reason: string;
  /** What the body says. */
  readonly error: string;
  /** Seconds after which it may be tried again. */
  readonly retryAfter?: number;
}

export const REFUSALS = {
  malformed: { status: 400, reason: 'Bad Request', error: 'this is not HTTP' },
  tunnel: { status: 400, reason: 'Bad Request', error: 'this is no proxy' },
  headers: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    error: 'the headers are too large',
  },
  slow: {
    status: 408,
    reason: 'Request Timeout',
    error: 'the request took too long to arrive',
  },
  connections: {
    status: 503,
    reason: 'Service Unavailable',
    error: 'there are too many connections; try again later',
    retryAfter: 1,
  },
  connectionsOfAddress: {
    status: 429,
    reason: 'Too Many Requests',
    error: 'there are too many connections from your address; close some',
    retryAfter: 1,
  },
} as const satisfies Readonly<Record<string, Refusal>>;

const BY_CODE: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: REFUSALS.headers,
  ERR_HTTP_REQUEST_TIMEOUT: REFUSALS.slow,
};

/**
 * Answers what node:http could not read as a request, in the shape of every other failure.
 *
 * @returns the answer; null where nobody is there to get one.
 */
export function refuse(error: NodeJS.ErrnoException, socket: Duplex): Refusal | null {
  if (error.code !== 'ECONNRESET') {
    return refuseWith(BY_CODE[error.code ?? ''] ?? REFUSALS.malformed, socket);
  }
  socket.destroy();
  return null;
}

/** @returns the refusal; null where nobody is there to get it. */
export function refuseWith(refusal: Refusal, socket: Duplex): Refusal | null {
  if (!socket.writable) {
    socket.destroy();
    return null;
  }
  socket.end(refusalText(refusal));
  return refusal;
}

/** The whole answer as it goes over the wire; the connection ends with it. */
export function refusalText({ status, reason, error, retryAfter }: Refusal): string {
  const body = JSON.stringify({ error });
  return [
    `HTTP/1.1 ${status} ${reason}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** The answer to a request that node:http hands over, but that is not to be read any further. */
export function refused(status: 400 | 414 | 417 | 503, message: string): HttpResponse {
  return {
    status,
    headers: {
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    },
    body: JSON.stringify({ error: message }),
  };
}
