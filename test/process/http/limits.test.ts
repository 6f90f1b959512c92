/** Every limit over a raw socket: a request within it is served, one beyond it is rejected. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Limits } from '../../../src/http/wire/limits.ts';
import { type Reachable, send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../support/paths.ts';
import { exchangeRaw } from '../../support/raw.ts';
import {
  closeListening,
  listen,
  type Listening,
  type ListeningOptions,
} from '../../support/listening.ts';
import { killServers, SECRET, serving, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after(async () => {
  await closeListening();
  await killServers();
});

const get = (target: string, headers: readonly string[] = []) =>
  [`GET ${target} HTTP/1.1`, 'Host: catalog', ...headers, '', ''].join('\r\n');

const LAST = 'Connection: close';

const BOOK = '{"name":"Emma","pub_date":"1815-12-23"}';
const POST = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${BOOK.length}\r\n\r\n${BOOK}`;

/** The last request, with a header of this length. */
const withHeader = (bytes: number) => get('/healthz', [`X-Large: ${'x'.repeat(bytes)}`, LAST]);

/** A target of this length. */
const targetOf = (bytes: number) => `/books/?_=${'y'.repeat(bytes - '/books/?_='.length)}`;

/** Bytes of a body that counts for the memory of all bodies. */
const LARGE_BODY = 32 * 1024;

/** Requests that may wait for changes at once (src/resources/changes/change-feed.ts). */
const PLACES = 250;

/** A connection that stays open, and the text received over it. */
class Wire {
  text = '';
  /** Whether the server has ended its side of the connection. */
  ended = false;
  closed = false;
  readonly socket: Socket;

  constructor(
    server: Reachable,
    options: Pick<TcpNetConnectOpts, 'localAddress' | 'allowHalfOpen'> = {},
  ) {
    const { hostname, port } = new URL(server.url);
    this.socket = connect({ port: Number(port), host: hostname, ...options });
    this.socket.on('data', (chunk) => (this.text += chunk.toString('latin1')));
    this.socket.on('end', () => {
      this.ended = true;
    });
    this.socket.on('close', () => {
      this.closed = true;
    });
    this.socket.on('error', () => {});
  }

  /** Sends one request and waits for the response. */
  async ask(): Promise<string> {
    this.text = '';
    this.socket.write(get('/healthz'));
    await until('the answer is there', () => /\r\n\r\n.*\}$/s.test(this.text) || this.closed);
    return this.text;
  }
}

async function withServer(
  limits: Partial<Limits>,
  run: (server: Listening) => Promise<void>,
  options: ListeningOptions = {},
): Promise<void> {
  const server = await listen({ ...options, limits });
  await run(server);
  await server.stop();
  assert.equal(server.log, [], 'a limit that holds is no fault');
}

/** An error response, in the common shape (spec 3.1), that closes the connection. */
function assertRefused(text: string, status: number): void {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), text.slice(0, 300));
  assert.match(text, /\r\nconnection: close\r\n/i);
  assert.match(text, /\r\nx-content-type-options: nosniff\r\n/i);
  assert.type(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).error, 'string');
}

test('headers within the limit are accepted, larger headers are 431', () =>
  withServer({ headers: 2 * 1024 }, async (server) => {
    assert.match(await exchangeRaw(server, [withHeader(1800)]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [withHeader(2048)]), 431);
  }));

test('100 headers are accepted, 101 headers are 431', () =>
  withServer({}, async (server) => {
    // Host and Connection are two of them.
    const counted = (count: number) =>
      get('/healthz', [...Array.from({ length: count - 2 }, (_, index) => `X-${index}: 1`), LAST]);
    assert.match(await exchangeRaw(server, [counted(100)]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [counted(101)]), 431);
  }));

test('a header limit of 64 KiB, above the default, is enforced', () =>
  withServer({ headers: 64 * 1024 }, async (server) => {
    assert.match(await exchangeRaw(server, [withHeader(60_000)]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [withHeader(70_000)]), 431);
  }));

test('a target at the limit is served, a target one byte longer is 414', () =>
  withServer({ url: 300 }, async (server) => {
    assert.match(await exchangeRaw(server, [get(targetOf(300), [LAST])]), /^HTTP\/1\.1 200 /);
    const refused = await exchangeRaw(server, [get(targetOf(301), [LAST])]);
    assertRefused(refused, 414);
    assert.match(refused, 'longer than 300 bytes');
  }));

test('a target and headers that are both at their limits are served, one more byte is refused', () =>
  withServer({ headers: 16 * 1024, url: 32 * 1024 }, async (server) => {
    const others = ['Host', 'catalog', 'Connection', 'close', 'X-Large'].join('').length;
    const sized = (target: number, headers: number) => {
      return get(targetOf(target), [`X-Large: ${'x'.repeat(headers - others)}`, LAST]);
    };
    const largest = sized(32 * 1024, 16 * 1024);
    assert.match(await exchangeRaw(server, [largest]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [sized(32 * 1024, 16 * 1024 + 1)]), 431);
    assertRefused(await exchangeRaw(server, [sized(100, 16 * 1024 + 1)]), 431);
    assertRefused(await exchangeRaw(server, [sized(32 * 1024 + 1, 100)]), 414);
  }));

test('by default a target of 8192 bytes is served, and one of 8193 bytes is 414', () =>
  withServer({}, async (server) => {
    assert.match(await exchangeRaw(server, [get(targetOf(8192), [LAST])]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [get(targetOf(8193), [LAST])]), 414);
  }));

test('--headers-timeout: headers that arrive too slowly, byte by byte, are 408', () =>
  withServer({ headersTimeout: 300, requestTimeout: 30_000 }, async (server) => {
    const wire = new Wire(server);
    const bytes = get('/healthz', [`X: ${'x'.repeat(400)}`]);
    let sent = 0;
    const timer = setInterval(() => wire.socket.write(bytes[sent++] ?? ''), 20);
    await until('the connection is closed', () => wire.closed);
    clearInterval(timer);
    assert.ok(sent < bytes.length, 'it did not wait for the end');
    assertRefused(wire.text, 408);
  }));

test('--headers-timeout: a connection on which no bytes arrive is closed', () =>
  withServer({ headersTimeout: 300, requestTimeout: 600 }, async (server) => {
    const wire = new Wire(server);
    await until('the connection is closed', () => wire.closed);
  }));

test('a client that disconnects while it waits for changes frees its place at once', () =>
  withServer({}, async (server) => {
    const token = `Authorization: Bearer ${await tokenFor('viewer')}`;
    const statusNow = async () => {
      const answer = await exchangeRaw(server, [get('/admin/changes/', [token, LAST])]);
      return answer.slice(9, 12);
    };
    const [stays, ...others] = Array.from({ length: PLACES }, () => {
      const wire = new Wire(server);
      wire.socket.write(get('/admin/changes/?wait=60s', [token]));
      return wire;
    });
    await until('every place is taken', async () => (await statusNow()) === '503');
    for (const wire of others) wire.socket.destroy();
    await until('the places are free', async () => (await statusNow()) === '200');
    assert.is(stays?.text, '', 'their time is not over');
    stays?.socket.destroy();
  }));

test('--request-timeout: a body that arrives too slowly closes the connection', () =>
  withServer({ headersTimeout: 300, requestTimeout: 600 }, async (server) => {
    const wire = new Wire(server);
    wire.socket.write('POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => wire.socket.write(' '), 20);
    await until('the connection is closed', () => wire.closed);
    clearInterval(timer);
    assert.not.match(wire.text, /^HTTP\/1\.1 2/);
    assert.equal((await send(server, 'GET', '/books/')).json, []);
  }));

test('--max-body-memory: slow bodies without a token leave room for the bodies of others', () =>
  withServer({ bodyMemory: 16 * LARGE_BODY, body: LARGE_BODY }, async (server) => {
    const post = (path: string, body: string, headers: readonly string[] = []) => {
      const length = `Content-Length: ${body.length}`;
      return [`POST ${path} HTTP/1.1`, 'Host: a', length, ...headers, '', body].join('\r\n');
    };
    const slow = Array.from({ length: 20 }, () => new Wire(server));
    const book = JSON.stringify({ name: 'Emma', pub_date: '1815-12-23' });
    // The last byte of each body is not sent.
    const withheld = post('/books/', book.padEnd(LARGE_BODY)).slice(0, -1);
    for (const wire of slow) wire.socket.write(withheld);
    const refused = () => slow.filter(({ closed }) => closed);
    await until('only their share is left', () => refused().length >= 16);
    for (const { text } of refused()) {
      assertRefused(text, 503);
      assert.match(text, /\r\nRetry-After: 1\r\n/);
    }
    const small = await exchangeRaw(server, [post('/books/', book, [LAST])]);
    assert.match(small, /^HTTP\/1\.1 201 /, 'a usual body without a token');
    const token = `Authorization: Bearer ${await tokenFor('editor')}`;
    const brands = JSON.stringify([{ name: 'Acme' }]).padEnd(LARGE_BODY);
    const large = await exchangeRaw(server, [post('/admin/brands/bulk/', brands, [token, LAST])]);
    assert.match(large, /^HTTP\/1\.1 201 /, 'a large body with a token');
    for (const { socket, closed } of slow) if (!closed) socket.write(' ');
    await until('those within the share are answered', () =>
      slow.every(({ closed, text }) => closed || text.includes('\r\n\r\n')),
    );
    for (const wire of slow.filter(({ closed }) => !closed)) {
      assert.match(wire.text, /^HTTP\/1\.1 201 /);
      wire.socket.destroy();
    }
  }));

test('--request-timeout also limits the headers if --headers-timeout is longer', () =>
  withServer({ headersTimeout: 90_000, requestTimeout: 300 }, async (server) => {
    const wire = new Wire(server);
    wire.socket.write('GET / HTTP/1.1\r\n');
    await until('the connection is closed', () => wire.closed);
    assertRefused(wire.text, 408);
  }));

/** Milliseconds. */
const KEEP_ALIVE = 2000;

/** Requests of a connection in use after which one that is idle for too long must be closed. */
const MAX_LATE = 1000;

/**
 * Sends requests over one connection until the server closes another one, which is idle.
 *
 * @returns whether the connection in use stayed open; null if it was idle for too long as well,
 *   because the machine stood still.
 */
async function outlivesIdle(server: Listening): Promise<boolean | null> {
  const [idle, busy] = [new Wire(server), new Wire(server)];
  assert.match(await idle.ask(), /^HTTP\/1\.1 200 [^]*keep-alive: timeout=2\r\n/i);
  const begun = performance.now();
  // The server waits from a response to the next request, so for less than two requests take.
  let [previous, longest, late] = [begun, 0, 0];
  while (!idle.closed && !busy.closed) {
    const asked = performance.now();
    const text = await busy.ask();
    longest = Math.max(longest, performance.now() - previous);
    previous = asked;
    if (!busy.closed) assert.match(text, /^HTTP\/1\.1 200 /);
    if (asked - begun > KEEP_ALIVE) late += 1;
    assert.ok(late < MAX_LATE, 'the idle one stays open');
  }
  const isOpen = !busy.closed;
  for (const { socket } of [idle, busy]) socket.destroy();
  return isOpen || longest < KEEP_ALIVE / 2 ? isOpen : null;
}

test('--keep-alive-timeout: an idle connection is closed, a connection in use is not', () =>
  withServer({ keepAliveTimeout: KEEP_ALIVE }, async (server) => {
    let isOpen: boolean | null;
    do isOpen = await outlivesIdle(server);
    while (isOpen === null);
    assert.ok(isOpen, 'a connection in use stays open');
  }));

test('--max-connections: a connection above the limit is 503 until another one closes', () =>
  withServer({ connections: 3 }, async (server) => {
    const wires = [new Wire(server), new Wire(server), new Wire(server)];
    for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
    const refused = await exchangeRaw(server, [get('/healthz')]);
    assertRefused(refused, 503);
    assert.match(refused, /\r\nRetry-After: 1\r\n/);
    assert.match(await (wires[0] as Wire).ask(), /^HTTP\/1\.1 200 /);
    wires[0]?.socket.destroy();
    await until('a place is free', async () =>
      (await exchangeRaw(server, [get('/healthz', [LAST])])).startsWith('HTTP/1.1 200'),
    );
    for (const wire of wires) wire.socket.destroy();
  }));

test('requests on a connection above the limit are not carried out', () =>
  withServer({ connections: 1 }, async (server) => {
    const wire = new Wire(server);
    await wire.ask();
    const refused = await exchangeRaw(server, [POST + POST]);
    assertRefused(refused, 503);
    wire.text = '';
    wire.socket.write(get('/books/'));
    await until('the list is there', () => wire.text.endsWith('\r\n\r\n[]'));
    wire.socket.destroy();
  }));

test('--max-connections-per-address: one more is 429, and another address is served', () =>
  withServer({ connectionsPerAddress: 2 }, async (server) => {
    const wires = [new Wire(server), new Wire(server)];
    for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
    const refused = await exchangeRaw(server, [get('/healthz')]);
    assertRefused(refused, 429);
    assert.match(refused, /\r\nRetry-After: 1\r\n/);
    const other = new Wire(server, { localAddress: '127.0.0.2' });
    assert.match(await other.ask(), /^HTTP\/1\.1 200 /);
    for (const wire of [...wires, other]) wire.socket.destroy();
  }));

for (const [what, limit, trustProxy] of [
  ['with the limit 0', 0, []],
  ['from a trusted proxy', 2, ['loopback']],
] as const) {
  test(`--max-connections-per-address: ${what}, one address may open 20 connections`, () =>
    withServer(
      { connectionsPerAddress: limit },
      async (server) => {
        const wires = Array.from({ length: 20 }, () => new Wire(server));
        for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
        for (const wire of wires) wire.socket.destroy();
      },
      { trustProxy },
    ));
}

test('--max-pipelined: with 3, the fourth waiting request is 503 and closes the connection', () =>
  withServer({ pipelined: 3 }, async (server) => {
    // The first request is a write: those after it wait until it is on the disk.
    const text = await exchangeRaw(server, [POST + get('/healthz').repeat(7)]);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    assert.equal(statuses, [201, 200, 200, 200, 503]);
    assert.match(text, 'too many requests are waiting on this connection');
    assert.is((await send(server, 'GET', '/books/')).json.length, 1);
  }));

test('more than twice --max-pipelined requests close the connection without a 503', () =>
  withServer({ pipelined: 3 }, async (server) => {
    assert.not.match(await exchangeRaw(server, [POST + get('/healthz').repeat(40)]), ' 503 ');
    assert.is((await send(server, 'GET', '/books/')).status, 200);
  }));

test('--send-timeout: the connection of a client that does not read is closed', () =>
  withServer({ sendTimeout: 300 }, async (server) => {
    const wire = new Wire(server);
    wire.socket.pause();
    // The viewer's bundle is large enough not to fit into the buffers of the sockets.
    wire.socket.write(get('/docs/swagger-ui-bundle.js').repeat(20));
    await until('the server has closed it', async () => {
      wire.socket.write('X');
      return wire.closed || wire.socket.destroyed;
    });
    assert.is((await send(server, 'GET', '/books/')).status, 200);
  }));

test('a client that starts to read late gets every response in full', () =>
  withServer({}, async (server) => {
    const { hostname, port } = new URL(server.url);
    const expected = (await send(server, 'GET', '/docs/swagger-ui-bundle.js')).text.length;
    const socket = connect(Number(port), hostname);
    socket.pause();
    const target = '/docs/swagger-ui-bundle.js';
    socket.write(get(target).repeat(4) + get(target, [LAST]));
    await Bun.sleep(300);
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.resume();
    await new Promise((resolve) => socket.on('close', resolve));
    assert.ok(bytes > 5 * expected && bytes < 5 * (expected + 2000), `${bytes} of ${expected}`);
  }));

test('a client that half-closes the connection after its requests gets every response', () =>
  withServer({}, async (server) => {
    const { hostname, port } = new URL(server.url);
    // /healthz is answered at once; a list has to be built first.
    for (const path of ['/healthz', '/books/']) {
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.end(get(path).repeat(3) + get(path, [LAST]));
      await new Promise((resolve) => socket.on('end', resolve));
      assert.is([...text.matchAll(/HTTP\/1\.1 200 /g)].length, 4, path);
      socket.destroy();
    }
  }));

test('--max-headers, --max-url and --max-pipelined set the limits', async () => {
  const args = ['--max-headers', '2KiB', '--max-url', '300', '--max-pipelined', '1'];
  const server = await startServer({ args });
  assertRefused(await exchangeRaw(server, [withHeader(2048)]), 431);
  assertRefused(await exchangeRaw(server, [get(`/${'y'.repeat(300)}`, [LAST])]), 414);
  const pipelined = await exchangeRaw(server, [POST + get('/healthz').repeat(2)]);
  assert.match(pipelined, 'too many requests are waiting on this connection');
  assert.is((await server.stop()).status, 0);
});

// A separate server: connections of earlier requests must not count.
test('--max-connections-per-address sets the limit', async () => {
  const server = await startServer({ args: ['--max-connections-per-address', '2'] });
  const wires = [new Wire(server), new Wire(server)];
  for (const wire of wires) await wire.ask();
  assertRefused(await exchangeRaw(server, [get('/healthz')]), 429);
  for (const wire of wires) wire.socket.destroy();
  const { status, stderr } = await server.stop();
  assert.equal([status, stderr], [0, '']);
});

const hasProc = existsSync('/proc/self/fd');

(hasProc ? test : test.skip)(
  'a server that may have 100 file descriptors takes 25 connections',
  async () => {
    const serve = [PROGRAM, 'serve', '--data', temporaryDirectory(), '--port', '0'];
    const env = { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET };
    const limited = ['-c', 'ulimit -n 100 && exec "$@"', 'sh', ...serve];
    const server = await serving(spawn('sh', limited, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
    const wires = Array.from({ length: 25 }, () => new Wire(server));
    for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [get('/healthz')]), 503);
    for (const wire of wires) wire.socket.destroy();
    assert.is((await server.stop()).status, 0);
  },
);

(hasProc ? test : test.skip)(
  '400 refused connections that clients keep open hold fewer than 150 file descriptors',
  async () => {
    const server = await startServer({ args: ['--max-connections-per-address', '1'] });
    const descriptors = () => readdirSync(`/proc/${server.child.pid}/fd`).length;
    const wires = [new Wire(server), new Wire(server, { localAddress: '127.0.0.2' })];
    for (const wire of wires) await wire.ask();
    const before = descriptors();
    const kept = Array.from({ length: 400 }, () => new Wire(server, { allowHalfOpen: true }));
    for (const { socket } of kept) socket.write('GET / HTTP/1.1\r\n');
    await until('each is refused', () => kept.every(({ ended, closed }) => ended || closed));
    // When this is answered, the server has finished its work for the refused connections.
    assert.match((await wires[1]?.ask()) ?? '', /^HTTP\/1\.1 200 /);
    const more = descriptors() - before;
    // The server keeps at most 100 of them; the rest allows for other descriptors, as of files.
    assert.ok(more < 150, `${more} descriptors`);
    for (const { socket } of [...wires, ...kept]) socket.destroy();
    const { status, stderr } = await server.stop();
    assert.equal([status, stderr], [0, '']);
  },
);

test.run();
