/** Bytes to a socket and bytes back, for what no HTTP client would send. */
import { connect } from 'node:net';
import * as assert from 'uvu/assert';
import type { TestServer } from './server.ts';

/**
 * Writes the chunks one after the other, and returns all that comes back until the server closes
 * the connection or, where it stays open, until nothing has come for `quiet` milliseconds.
 */
export function exchangeRaw(
  server: Pick<TestServer, 'url'>,
  chunks: readonly (string | Uint8Array)[],
  quiet = 400,
): Promise<{ text: string; closed: boolean }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let timer: ReturnType<typeof setTimeout>;
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), quiet);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      wait();
    });
    socket.on('close', () => finish(true));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish(true);
      else reject(error);
    });
    socket.on('connect', () => {
      for (const chunk of chunks) socket.write(chunk);
      wait();
    });
  });
}

export interface Answered {
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
 * Takes the answers of a connection apart, by their own lengths.
 *
 * @param heads positions of answers that have a length and no body: those to HEAD.
 */
export function answersIn(text: string, heads: readonly number[] = []): Answered[] {
  const answers: Answered[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(line) ?? [];
    assert.ok(end > 0 && status !== undefined, `no answer begins here: ${rest.slice(0, 200)}`);
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
      }),
    );
    const length = heads.includes(answers.length) ? 0 : Number(headers['content-length'] ?? 0);
    const from = end + 4;
    assert.ok(rest.length >= from + length, `an answer is cut off: ${rest}`);
    answers.push({ status: Number(status), headers, body: rest.slice(from, from + length) });
    rest = rest.slice(from + length);
  }
  return answers;
}
