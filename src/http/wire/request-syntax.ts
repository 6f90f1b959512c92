/** Requests that node:http accepts, and RFC 9112 does not. */
import type { IncomingMessage } from 'node:http';

/** RFC 9110, section 4.2.1: a name, or an address in brackets, and a port; it may be empty. */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** The absolute form, which proxies send (RFC 9112, section 3.2.2): authority, path and query. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)\/?/i;

/**
 * Two hosts, or a length and a coding that two readers may take differently, can smuggle a request
 * past a proxy.
 *
 * @returns what is wrong with the request, a sentence for the client; null if it is valid.
 */
export function syntaxError(incoming: IncomingMessage): string | null {
  const { headers, httpVersion, url = '' } = incoming;
  const { host } = headers;
  // RFC 9112, section 3.2.
  if (host === undefined) {
    if (httpVersion === '1.1') return 'an HTTP/1.1 request names its host';
  } else {
    if (!AUTHORITY.test(host)) return 'the Host header is no host and port';
    if (occurrences(incoming.rawHeaders, 'host') > 1) return 'a request names one host, once';
  }
  // RFC 9110, section 8.6: equal lengths too may be refused, and a proxy may have read another one.
  if (
    headers['content-length'] !== undefined &&
    occurrences(incoming.rawHeaders, 'content-length') > 1
  ) {
    return 'a request names the length of its content once';
  }
  const coding = headers['transfer-encoding'];
  // RFC 9112, section 6.1.
  if (coding !== undefined) {
    if (httpVersion !== '1.1') return 'HTTP/1.0 has no Transfer-Encoding';
    if (coding.toLowerCase() !== 'chunked')
      return 'the one transfer coding that is read is chunked';
  }
  if (url.startsWith('/')) return null;
  const authority = ABSOLUTE.exec(url)?.[1];
  // RFC 9110, sections 4.2.1 and 4.2.4: no empty host, no user.
  if (authority === undefined || /^(?::|$)/.test(authority) || !AUTHORITY.test(authority)) {
    return 'the target of a request is a path, or an http address with a host and no user';
  }
  return null;
}

/** @returns path and query of the target; the absolute form means this server (RFC 9112, 3.2.2). */
export function targetOf({ url = '/' }: IncomingMessage): string {
  return url.startsWith('/') ? url : url.replace(ABSOLUTE, '/');
}

/** @param rawHeaders name and value alternate. */
function occurrences(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}
