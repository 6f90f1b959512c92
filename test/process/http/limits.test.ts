/** Every limit over a raw socket: below it a request is served, above it it is refused. */
import { existsSync, readdirSync } from 'node:fs';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Limits } from '../../../src/http/wire/limits.ts';
import { type Reachable, send, tokenFor } from '../../support/client.ts';
import { exchangeRaw } from '../../support/raw.ts';
import {
  closeListening,
  listen,
  type Listening,
  type ListeningOptions,
} from '../../support/listening.ts';
import { killServers, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after(async () => {
  await closeListening();
  await killServers();
});

const get = (target: string, headers: readonly string[] = []) =>
  [`GET ${target} HTTP/1.1`, 'Host: catalog', ...headers, '', ''].join('\r\n');

const LAST = 'Connection: close';

/** Answers with changes that may be open (src/resources/changes/change-feed.ts). */
const PLACES = 250;

/** A connection that stays, and what has come over it. */
class Wire {
  text = '';
  /** Whether the server sends no more. */
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

  /** Sends one request, and waits for its answer. */
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

/** A refusal in the shape of every other (spec 3.1), after which the connection ends. */
function assertRefused(text: string, status: number): void {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), text.slice(0, 300));
  assert.match(text, /\r\nconnection: close\r\n/i);
  assert.match(text, /\r\nx-content-type-options: nosniff\r\n/i);
  assert.type(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).error, 'string');
}

test('headers up to the limit are read, more are 431', () =>
  withServer({ headers: 2 * 1024 }, async (server) => {
    const sized = (bytes: number) => get('/healthz', [`X-Large: ${'x'.repeat(bytes)}`, LAST]);
    assert.match(await exchangeRaw(server, [sized(1800)]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [sized(2048)]), 431);
  }));

test('198 headers are read, more are 431', () =>
  withServer({}, async (server) => {
    // Host and Connection are two of them.
    const counted = (count: number) =>
      get('/healthz', [...Array.from({ length: count - 2 }, (_, index) => `X-${index}: 1`), LAST]);
    assert.match(await exchangeRaw(server, [counted(198)]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [counted(199)]), 431);
  }));

test('a limit of headers above the default is one as well', () =>
  withServer({ headers: 64 * 1024 }, async (server) => {
    const sized = (bytes: number) => get('/healthz', [`X-Large: ${'x'.repeat(bytes)}`, LAST]);
    assert.match(await exchangeRaw(server, [sized(60_000)]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [sized(70_000)]), 431);
  }));

test('a target of so many bytes is served, one more is 414', () =>
  withServer({ url: 300 }, async (server) => {
    const target = (bytes: number) => `/books/?_=${'y'.repeat(bytes - '/books/?_='.length)}`;
    assert.match(await exchangeRaw(server, [get(target(300), [LAST])]), /^HTTP\/1\.1 200 /);
    const refused = await exchangeRaw(server, [get(target(301), [LAST])]);
    assertRefused(refused, 414);
    assert.match(refused, 'longer than 300 bytes');
  }));

test('a target within the default limit is served, one above it is 414', () =>
  withServer({}, async (server) => {
    const target = (bytes: number) => `/books/?_=${'y'.repeat(bytes - '/books/?_='.length)}`;
    assert.match(await exchangeRaw(server, [get(target(8192), [LAST])]), /^HTTP\/1\.1 200 /);
    assertRefused(await exchangeRaw(server, [get(target(8193), [LAST])]), 414);
  }));

test('--headers-timeout: headers that come byte by byte are 408', () =>
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

test('--headers-timeout: a connection over which nothing comes is closed', () =>
  withServer({ headersTimeout: 300, requestTimeout: 600 }, async (server) => {
    const wire = new Wire(server);
    await until('the connection is closed', () => wire.closed);
  }));

test('a client that goes while it waits for changes gives its place back at once', () =>
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

test('--request-timeout: a body that comes byte by byte ends with the connection', () =>
  withServer({ headersTimeout: 300, requestTimeout: 600 }, async (server) => {
    const wire = new Wire(server);
    wire.socket.write('POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => wire.socket.write(' '), 20);
    await until('the connection is closed', () => wire.closed);
    clearInterval(timer);
    assert.not.match(wire.text, /^HTTP\/1\.1 2/);
    assert.equal((await send(server, 'GET', '/books/')).json, []);
  }));

test('--headers-timeout longer than --request-timeout is no more than that', () =>
  withServer({ headersTimeout: 90_000, requestTimeout: 300 }, async (server) => {
    const wire = new Wire(server);
    wire.socket.write('GET / HTTP/1.1\r\n');
    await until('the connection is closed', () => wire.closed);
    assertRefused(wire.text, 408);
  }));

test('--keep-alive-timeout: an idle connection is closed, one in use is not', () =>
  withServer({ keepAliveTimeout: 2_000 }, async (server) => {
    const idle = new Wire(server);
    const busy = new Wire(server);
    assert.match(await idle.ask(), /^HTTP\/1\.1 200 [^]*keep-alive: timeout=2\r\n/i);
    await until('the idle one is closed', async () => {
      assert.match(await busy.ask(), /^HTTP\/1\.1 200 /);
      return idle.closed;
    });
    assert.not.ok(busy.closed);
    busy.socket.destroy();
  }));

test('--max-connections: one more is 503, and served after another has closed', () =>
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

test('what comes over a refused connection is not carried out', () =>
  withServer({ connections: 1 }, async (server) => {
    const wire = new Wire(server);
    await wire.ask();
    const body = '{"name":"Emma","pub_date":"1815-12-23"}';
    const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const refused = await exchangeRaw(server, [post + post]);
    assertRefused(refused, 503);
    wire.text = '';
    wire.socket.write(get('/books/'));
    await until('the list is there', () => wire.text.endsWith('\r\n\r\n[]'));
    wire.socket.destroy();
  }));

test('--max-connections-per-address: one more is 429, another address is served', () =>
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
  ['without a limit', 0, []],
  ['behind a proxy that is trusted', 2, ['loopback']],
] as const) {
  test(`${what}: any number of connections from one address`, () =>
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

test('--max-pipelined: so many wait, the next is 503 in its turn, and the connection ends', () =>
  withServer({ pipelined: 3 }, async (server) => {
    // A write first: the requests after it wait for the disk.
    const body = '{"name":"Emma","pub_date":"1815-12-23"}';
    const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const text = await exchangeRaw(server, [post + get('/healthz').repeat(7)]);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    assert.equal(statuses, [201, 200, 200, 200, 503]);
    assert.match(text, 'more than 3 requests are waiting on this connection');
    assert.is((await send(server, 'GET', '/books/')).json.length, 1);
  }));

test('twice as many as --max-pipelined end the connection at once', () =>
  withServer({ pipelined: 3 }, async (server) => {
    const body = '{"name":"Emma","pub_date":"1815-12-23"}';
    const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.not.match(await exchangeRaw(server, [post + get('/healthz').repeat(40)]), ' 503 ');
    assert.is((await send(server, 'GET', '/books/')).status, 200);
  }));

test('--send-timeout: a client that does not read its answers loses the connection', () =>
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

test('a client that reads late gets every answer whole', () =>
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

test('a client that ends its side after its requests gets every answer', () =>
  withServer({}, async (server) => {
    const { hostname, port } = new URL(server.url);
    // An answer that is ready, and a list, which is put together first.
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

test('the flags set the limits', async () => {
  const args = ['--max-headers', '2KiB', '--max-url', '300', '--max-pipelined', '1'];
  const server = await startServer({ args });
  const large = get('/healthz', [`X-Large: ${'x'.repeat(2048)}`, LAST]);
  assertRefused(await exchangeRaw(server, [large]), 431);
  assertRefused(await exchangeRaw(server, [get(`/${'y'.repeat(300)}`, [LAST])]), 414);
  const body = '{"name":"Emma","pub_date":"1815-12-23"}';
  const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const pipelined = await exchangeRaw(server, [post + get('/healthz').repeat(2)]);
  assert.match(pipelined, 'more than 1 requests are waiting on this connection');
  assert.is((await server.stop()).status, 0);
});

// A server of its own: no connection of an earlier request can still count.
test('the flag sets how many connections an address may have', async () => {
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
  'refused connections that their clients keep have at most 100 descriptors',
  async () => {
    const server = await startServer({ args: ['--max-connections-per-address', '1'] });
    const descriptors = () => readdirSync(`/proc/${server.child.pid}/fd`).length;
    const wires = [new Wire(server), new Wire(server, { localAddress: '127.0.0.2' })];
    for (const wire of wires) await wire.ask();
    const before = descriptors();
    const kept = Array.from({ length: 400 }, () => new Wire(server, { allowHalfOpen: true }));
    for (const { socket } of kept) socket.write('GET / HTTP/1.1\r\n');
    await until('each is refused', () => kept.every(({ ended, closed }) => ended || closed));
    // By then the server has done all that it had to do for the refusals.
    assert.match((await wires[1]?.ask()) ?? '', /^HTTP\/1\.1 200 /);
    const more = descriptors() - before;
    // Others may come and go, such as those of files.
    assert.ok(more < 150, `${more} descriptors`);
    for (const { socket } of [...wires, ...kept]) socket.destroy();
    const { status, stderr } = await server.stop();
    assert.equal([status, stderr], [0, '']);
  },
);

test.run();
