/**
 * Requests with a method that node:http does not know, such as FETCH: its parser stops at the
 * method. The application gets them all the same, without headers and body, so that they are 404
 * or 405 like any other method that a path does not have (spec 3.8).
 */
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpRequest, NO_BODY } from '../message.ts';
import { peerAddress } from './client-address.ts';
import { isPath } from './request-syntax.ts';
import { Trace } from './trace.ts';

/** An error of node:http's parser. */
export interface ParseError extends NodeJS.ErrnoException {
  /** The bytes that arrived together with the error. */
  readonly rawPacket?: Buffer;
}

/** A whole request line; in front of it may be the empty line that RFC 9112, section 2.2, allows. */
const REQUEST_LINE = /^(?:\r\n)?([\w!#$%&'*+.^`|~-]+) ([\x21-\x7e]+) HTTP\/1\.[01]\r\n/;

/** UTF-16 units of a packet in which its request line must end. */
const MAX_LINE = 16 * 1024;

const KNOWN_METHODS = new Set(METHODS);

/**
 * @returns the request that the parser has stopped at; null if the error is another one, if the
 *   packet does not begin with the request line, or if the target is not a path.
 */
export function unknownMethod({ code, rawPacket }: ParseError, socket: Socket): HttpRequest | null {
  if (code !== 'HPE_INVALID_METHOD') return null;
  const packet = rawPacket?.toString('latin1', 0, MAX_LINE) ?? '';
  const [, method, target] = REQUEST_LINE.exec(packet) ?? [];
  if (method === undefined || target === undefined || !isPath(target)) return null;
  // If the method is known, the error is in a request after the first one of the packet. Bun has
  // changed the methods of those that it read to lower case.
  if (KNOWN_METHODS.has(method.toUpperCase())) return null;
  const [path = '', ...search] = target.split('?');
  return {
    method,
    path,
    search: search.join('?'),
    headers: {},
    address: peerAddress({ socket }),
    trace: new Trace(),
    body: NO_BODY,
    whenGone: () => () => {},
  };
}
