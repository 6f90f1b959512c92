/** Responses to bytes that never became a request of the application. */
import { METHODS } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpResponse } from '../message.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';
import { UNCACHED, uncachedJson } from '../rules/uncached-json.ts';

/** A response that ends its connection. */
export interface ErrorResponse {
  readonly status: number;
  readonly reason: string;
  /** The member `error` of the body. */
  readonly error: string;
  /** Seconds after which the client may try again. */
  readonly retryAfter?: number;
}

export const ERROR_RESPONSES = {
  malformed: { status: 400, reason: 'Bad Request', error: 'the request is not valid HTTP' },
  method: {
    status: 501,
    reason: 'Not Implemented',
    error: 'HTTP defines no such method',
  },
  notMethod: {
    status: 400,
    reason: 'Bad Request',
    error:
      'the request is not valid HTTP, or HTTP defines no such method; methods are in upper case',
  },
  tunnel: {
    status: 400,
    reason: 'Bad Request',
    error: 'this server is not a proxy; CONNECT is not supported',
  },
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
  memory: {
    status: 503,
    reason: 'Service Unavailable',
    error: 'the server is short of memory; try again later',
    retryAfter: 10,
  },
  connectionsOfAddress: {
    status: 429,
    reason: 'Too Many Requests',
    error: 'there are too many connections from your address; close some',
    retryAfter: 1,
  },
} as const satisfies Readonly<Record<string, ErrorResponse>>;

const BY_CODE: Readonly<Record<string, ErrorResponse>> = {
  HPE_HEADER_OVERFLOW: ERROR_RESPONSES.headers,
  ERR_HTTP_REQUEST_TIMEOUT: ERROR_RESPONSES.slow,
};

/** An error of node:http's parser. */
interface ParseError extends NodeJS.ErrnoException {
  /** The bytes that arrived together with the error. */
  readonly rawPacket?: Buffer;
}

/** A whole request line; in front of it may be the empty line that RFC 9112, section 2.2, allows. */
const REQUEST_LINE = /^(?:\r\n)?([\w!#$%&'*+.^`|~-]+) \S+ HTTP\/1\.[01]\r\n/;

/** UTF-16 units of a packet in which its request line must end. */
const MAX_LINE = 16 * 1024;

const KNOWN_METHODS = new Set(METHODS);

/** The response to an error of node:http's parser. */
export function responseToParseError({ code = '', rawPacket }: ParseError): ErrorResponse {
  if (code !== 'HPE_INVALID_METHOD') return BY_CODE[code] ?? ERROR_RESPONSES.malformed;
  const [, method] = REQUEST_LINE.exec(rawPacket?.toString('latin1', 0, MAX_LINE) ?? '') ?? [];
  // If the method is known, the error is in a request after the first one of the packet. Bun has
  // changed the methods of those that it read to lower case.
  return method === undefined || KNOWN_METHODS.has(method.toUpperCase())
    ? ERROR_RESPONSES.notMethod
    : ERROR_RESPONSES.method;
}

/** Sends the response and ends the connection. @returns whether the client can still receive it. */
export function endWith(response: ErrorResponse, socket: Duplex): boolean {
  if (!socket.writable) {
    socket.destroy();
    return false;
  }
  socket.end(serialize(response));
  return true;
}

/** The response as it is sent over the network. */
export function serialize({ status, reason, error, retryAfter }: ErrorResponse): string {
  const body = JSON.stringify({ error });
  return [
    `HTTP/1.1 ${status} ${reason}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(UNCACHED).map(([name, value]) => `${name}: ${value}`),
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** The response to a request that node:http parsed but that does not reach the application. */
export function rejection(status: 400 | 414 | 417 | 503, error: string): HttpResponse {
  return uncachedJson(status, { error }, { Connection: 'close' });
}
