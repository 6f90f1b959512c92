/** Bytes to a socket and bytes back, for what no HTTP client would send. */
import { connect } from 'node:net';
import * as assert from 'uvu/assert';
import type { Reachable } from './client.ts';

/** Milliseconds without a byte after which a connection counts as one that hangs. */
const HANGS_AFTER_MS = 120_000;

/**
 * Writes the chunks one after the other.
 *
 * @returns all that comes back until the server closes the connection.
 * @throws Error if the server leaves it open.
 */
export function exchangeRaw(
  server: Reachable,
  chunks: readonly (string | Uint8Array)[],
): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setTimeout(HANGS_AFTER_MS, () => {
      socket.destroy();
      reject(new Error(`the connection hangs after ${JSON.stringify(text)}`));
    });
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('close', () => resolve(text));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close before it has read everything.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('connect', () => {
      for (const chunk of chunks) socket.write(chunk);
    });
  });
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Request text; a body gets its Content-Length unless the headers frame it themselves. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  const framed = headers.some((header) => /^(?:content-length|transfer-encoding):/i.test(header));
  const length = body === '' || framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${line} HTTP/1.1`, 'Host: catalog', ...headers, ...length, '', body].join('\r\n');
}

/**
 * Takes the responses of a connection apart, by their own lengths.
 *
 * @param heads positions of responses that have a length and no body: those to HEAD.
 */
export function responsesIn(text: string, heads: readonly number[] = []): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(line) ?? [];
    assert.ok(end > 0 && status !== undefined, `no response begins here: ${rest.slice(0, 200)}`);
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
      }),
    );
    const length = heads.includes(responses.length) ? 0 : Number(headers['content-length'] ?? 0);
    const from = end + 4;
    assert.ok(rest.length >= from + length, `a response is cut off: ${rest}`);
    responses.push({ status: Number(status), headers, body: rest.slice(from, from + length) });
    rest = rest.slice(from + length);
  }
  return responses;
}
