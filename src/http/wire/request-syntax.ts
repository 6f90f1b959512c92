/** Finds requests that node:http accepts but RFC 9112 does not allow. */
import type { IncomingMessage } from 'node:http';

/** RFC 9110, section 4.2.1: a name or an address in brackets, and a port; each may be missing. */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** The absolute form, which proxies send (RFC 9112, section 3.2.2): authority, path and query. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)\/?/i;

/**
 * Two hosts, or a length and a coding that two servers may read differently, can smuggle a request
 * past a proxy.
 *
 * @returns what is wrong with the request, as a sentence for the client; null if it is valid.
 */
export function syntaxError(incoming: IncomingMessage): string | null {
  const { headers, httpVersion, url = '' } = incoming;
  const { host } = headers;
  // RFC 9112, section 3.2.
  if (host === undefined) {
    if (httpVersion === '1.1') return 'an HTTP/1.1 request must have a Host header';
  } else if (!isAuthority(host)) {
    return isJoined(host)
      ? 'the request has more than one Host header'
      : 'the Host header is not a valid host and port';
  }
  // RFC 9110, section 8.6: even equal lengths may be refused, and a proxy may have read another.
  const length = headers['content-length'];
  if (length !== undefined && isJoined(length)) {
    return 'the request has more than one Content-Length header';
  }
  const coding = headers['transfer-encoding'];
  // RFC 9112, section 6.1.
  if (coding !== undefined) {
    if (httpVersion !== '1.1') return 'an HTTP/1.0 request must not have Transfer-Encoding';
    if (coding.toLowerCase() !== 'chunked') return 'the only supported transfer coding is chunked';
  }
  if (isPath(url)) return null;
  const authority = ABSOLUTE.exec(url)?.[1];
  // RFC 9110, sections 4.2.1 and 4.2.4: no empty host, no user.
  if (authority === undefined || /^(?::|$)/.test(authority) || !isAuthority(authority)) {
    return 'the request target must be a path, or an http URL with a host and without a user';
  }
  return null;
}

/** Bytes of the names and values of the headers. Equal names, whose values are joined, count once. */
export function headerBytes({ headers }: IncomingMessage): number {
  let bytes = 0;
  // To make a list of the entries takes several times as long.
  for (const name in headers) {
    const value = headers[name] ?? '';
    bytes += name.length + (typeof value === 'string' ? value.length : value.join().length);
  }
  return bytes;
}

/** @returns path and query of the target; an absolute form names this server (RFC 9112, 3.2.2). */
export function targetOf({ url = '/' }: IncomingMessage): string {
  return isPath(url) ? url : url.replace(ABSOLUTE, '/');
}

/** The last valid authority. Nearly all requests name the same one, and to compare is cheaper. */
let lastValid = '';

function isAuthority(text: string): boolean {
  if (text === lastValid) return true;
  if (!AUTHORITY.test(text)) return false;
  lastValid = text;
  return true;
}

/**
 * Whether a target is a path, perhaps with a query. The engine compiles `charCodeAt` to a few
 * instructions, but calls `startsWith`.
 */
export function isPath(target: string): boolean {
  return target.charCodeAt(0) === SLASH;
}

const SLASH = 0x2f;

/** Whether node:http has joined the values of several headers, which no valid one looks like. */
function isJoined(value: string): boolean {
  return value.includes(', ');
}
