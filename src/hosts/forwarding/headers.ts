/** The headers of a request that is passed on, and of the response to it (RFC 9110, section 7.6). */
import type { HttpRequest } from '../../http/message.ts';

/** Fields that are about one connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Fields of a request that this host sets itself, or that are about its body on the connection. */
const SET_HERE = new Set([
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-request-id',
  'via',
]);

/**
 * Bytes of the headers that a request may gain when it is passed on: those that are set here, and
 * those of the HTTP client. They take up to 400.
 */
export const ADDED_HEADER_BYTES = 1024;

/** Hosts that may pass a request on before it counts as a loop. */
const MAX_HOPS = 3;

/** A host as `Via` names it (RFC 9110, section 7.6.3): `1.1 catalog-0f3c9a71b2d44e58`. */
const HOST_IN_VIA = /^1\.1 (catalog-[0-9a-f]{16})$/;

type Headers = HttpRequest['headers'];

/** @returns the hosts of this program that have passed the request on, in order. */
function hostsBefore(headers: Headers): readonly string[] {
  return listOf(headers['via']).flatMap((each) => HOST_IN_VIA.exec(each)?.[1] ?? []);
}

/** Whether passing the request on would make a loop. @param pseudonym of this host. */
export function isLoop(headers: Headers, pseudonym: string): boolean {
  const hosts = hostsBefore(headers);
  return hosts.length >= MAX_HOPS || hosts.includes(pseudonym);
}

/**
 * The headers with which a request is passed on: those of the client, and the client's address.
 *
 * `X-Forwarded-For` holds only the client's address, as this host determined it from the proxies
 * that it trusts. The value that the client sent is not passed on.
 *
 * @param pseudonym of this host.
 */
export function requestHeaders(
  { headers, address, trace }: HttpRequest,
  pseudonym: string,
): Record<string, string> {
  const connection = new Set(listOf(headers['connection']).map((name) => name.toLowerCase()));
  const sent: Record<string, string> = {
    // Without it Bun's fetch asks for encodings that the client may not know.
    'accept-encoding': 'identity',
    'user-agent': 'catalog-server',
  };
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HOP_BY_HOP.has(name) || SET_HERE.has(name)) continue;
    if (connection.has(name)) continue;
    sent[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  sent['via'] = [...listOf(headers['via']), `1.1 ${pseudonym}`].join(', ');
  sent['x-forwarded-for'] = address;
  sent['x-request-id'] = trace.id;
  return sent;
}

/** Fields of a response that this host sets itself. */
const SET_ON_RESPONSE = new Set(['date', 'x-request-id', 'content-length']);

/** Names that are not written with a capital after each hyphen. */
const SPELLINGS: Readonly<Record<string, string>> = {
  etag: 'ETag',
  'www-authenticate': 'WWW-Authenticate',
};

/** The headers of a response to pass back, without the length of its body. */
export function responseHeaders(received: Iterable<[string, string]>): Record<string, string> {
  const entries = [...received];
  const connection = entries.find(([name]) => name === 'connection')?.[1];
  const dropped = new Set(listOf(connection).map((name) => name.toLowerCase()));
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (HOP_BY_HOP.has(name) || SET_ON_RESPONSE.has(name) || dropped.has(name)) continue;
    headers[SPELLINGS[name] ?? name.replace(/(?:^|-)[a-z]/g, (s) => s.toUpperCase())] = value;
  }
  return headers;
}

/** The elements of a header that is a list. */
function listOf(value: string | string[] | undefined): string[] {
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
