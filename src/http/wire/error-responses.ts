/** Responses to bytes that never became a request of the application. */
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from '../message.ts';
import { uncachedJson } from '../rules/uncached-json.ts';
import type { ParseError } from './unknown-methods.ts';

/** A response that ends its connection. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** @param retryAfter seconds after which the client may try again. */
function errorResponse(status: number, error: string, retryAfter?: number): ErrorResponse {
  const retry = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return uncachedJson(status, { error }, retry);
}

export const HEADERS_TOO_LARGE = 'the headers are too large';

export const ERROR_RESPONSES = {
  malformed: errorResponse(400, 'the request is not valid HTTP'),
  notMethod: errorResponse(
    400,
    'the request is not valid HTTP, or HTTP defines no such method; methods are in upper case',
  ),
  notEncoded: errorResponse(
    400,
    'the request target has characters that must be percent-encoded; é, for example, is %C3%A9',
  ),
  tunnel: errorResponse(400, 'this server is not a proxy; CONNECT is not supported'),
  headers: errorResponse(431, HEADERS_TOO_LARGE),
  slow: errorResponse(408, 'the request took too long to arrive'),
  connections: errorResponse(503, 'there are too many connections; try again later', 1),
  memory: errorResponse(503, 'the server is short of memory; try again later', 10),
  connectionsOfAddress: errorResponse(
    429,
    'there are too many connections from your address; close some',
    1,
  ),
} as const satisfies Readonly<Record<string, ErrorResponse>>;

const BY_CODE: Readonly<Record<string, ErrorResponse>> = {
  HPE_HEADER_OVERFLOW: ERROR_RESPONSES.headers,
  HPE_INVALID_URL: ERROR_RESPONSES.notEncoded,
  HPE_INVALID_METHOD: ERROR_RESPONSES.notMethod,
  ERR_HTTP_REQUEST_TIMEOUT: ERROR_RESPONSES.slow,
};

/** The response to an error of node:http's parser. */
export function responseToParseError({ code = '' }: ParseError): ErrorResponse {
  return BY_CODE[code] ?? ERROR_RESPONSES.malformed;
}

/**
 * The response as it is sent over the network.
 *
 * @param head whether the body is left out, as in the response to HEAD.
 */
export function serialize({ status, headers, body }: ErrorResponse, head: boolean): Uint8Array {
  const all = {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, '', ''];
  const bytes = Buffer.from(lines.join('\r\n'));
  return head ? bytes : Buffer.concat([bytes, Buffer.from(body)]);
}

/** The response to a request that node:http parsed but that does not reach the application. */
export function rejection(status: 400 | 414 | 417 | 431 | 503, error: string): HttpResponse {
  return uncachedJson(status, { error }, { Connection: 'close' });
}
