/** Every limit over a raw socket: what is below it is served, what is above it is told so. */
import { connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { exchangeRaw } from '../../support/raw.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after(killServers);

const PATIENCE = 15_000;

const get = (target: string, headers: readonly string[] = []) =>
  [`GET ${target} HTTP/1.1`, 'Host: catalog', ...headers, '', ''].join('\r\n');

const LAST = 'Connection: close';

/** A connection that stays, and what has come over it. */
class Wire {
  text = '';
  closed = false;
  readonly socket: Socket;

  constructor(server: Pick<TestServer, 'url'>, localAddress?: string) {
    const { hostname, port } = new URL(server.url);
    this.socket = connect({
      port: Number(port),
      host: hostname,
      ...(localAddress !== undefined && { localAddress }),
    });
    this.socket.on('data', (chunk) => (this.text += chunk.toString('latin1')));
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
  args: readonly string[],
  run: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startServer({ args });
  await run(server);
  const { status, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(stderr, '', 'a limit that holds is no fault');
}

/** A refusal in the shape of every other (spec 3.1), after which the connection ends. */
function assertRefused(text: string, status: number): void {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), text.slice(0, 300));
  assert.match(text, /\r\nconnection: close\r\n/i);
  assert.match(text, /\r\nx-content-type-options: nosniff\r\n/i);
  assert.type(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).error, 'string');
}

async function statusOf(server: TestServer, chunks: readonly string[]): Promise<string> {
  const { text, closed } = await exchangeRaw(server, chunks, PATIENCE);
  assert.ok(closed, 'the connection hangs');
  return text;
}

test('--max-headers: headers up to it are read, more are 431', () =>
  withServer(['--max-headers', '2KiB'], async (server) => {
    const sized = (bytes: number) => get('/healthz', [`X-Large: ${'x'.repeat(bytes)}`, LAST]);
    assert.match(await statusOf(server, [sized(1800)]), /^HTTP\/1\.1 200 /);
    assertRefused(await statusOf(server, [sized(2048)]), 431);
  }));

test('--max-headers larger than the default is taken as well', () =>
  withServer(['--max-headers', '64KiB'], async (server) => {
    const sized = (bytes: number) => get('/healthz', [`X-Large: ${'x'.repeat(bytes)}`, LAST]);
    assert.match(await statusOf(server, [sized(60_000)]), /^HTTP\/1\.1 200 /);
    assertRefused(await statusOf(server, [sized(70_000)]), 431);
  }));

test('--max-url: a target of so many bytes is served, one more is 414', () =>
  withServer(['--max-url', '300'], async (server) => {
    const target = (bytes: number) => `/books/?x=${'y'.repeat(bytes - '/books/?x='.length)}`;
    assert.match(await statusOf(server, [get(target(300), [LAST])]), /^HTTP\/1\.1 200 /);
    const refused = await statusOf(server, [get(target(301), [LAST])]);
    assertRefused(refused, 414);
    assert.match(refused, 'at most 300 bytes');
  }));

test('a target within the default limit is served, one above it is 414', () =>
  withServer([], async (server) => {
    const target = (bytes: number) => `/books/?x=${'y'.repeat(bytes - '/books/?x='.length)}`;
    assert.match(await statusOf(server, [get(target(8192), [LAST])]), /^HTTP\/1\.1 200 /);
    assertRefused(await statusOf(server, [get(target(8193), [LAST])]), 414);
  }));

test('--max-json-depth: a body nested so deep is judged by its members, one level more is 422', () =>
  withServer(['--max-json-depth', '8'], async (server) => {
    const nested = (depth: number) => {
      const x = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
      return `{"name":"Emma","pub_date":"1815-12-23","x":${x}}`;
    };
    assert.is((await send(server, 'POST', '/books/', { body: nested(8) })).status, 201);
    const refused = await send(server, 'POST', '/books/', { body: nested(9) });
    assert.is(refused.status, 422);
    assert.is(refused.json.error, 'the body is nested more than 8 levels deep');
    const closed = `${'{"a":'.repeat(9)}1${'}'.repeat(9)}`;
    assert.is((await send(server, 'POST', '/books/', { body: closed })).status, 422);
    const open = '['.repeat(100_000);
    assert.is((await send(server, 'POST', '/books/', { body: open })).status, 400);
    assert.is((await send(server, 'GET', '/books/')).json.length, 1);
  }));

test('--max-json-elements: an array that is longer is 422, wherever it is', () =>
  withServer(['--max-json-elements', '3'], async (server) => {
    const brands = (count: number) => Array.from({ length: count }, () => ({ name: 'Brand' }));
    assert.is((await send(server, 'POST', '/admin/brands/', { body: brands(3) })).status, 201);
    const refused = await send(server, 'POST', '/admin/brands/', { body: brands(4) });
    assert.is(refused.status, 422);
    assert.is(refused.json.error, 'an array of the body has 4 elements, more than 3');
    const hidden = { name: 'Brand', x: { y: [1, 2, 3, 4] } };
    assert.is((await send(server, 'POST', '/admin/brands/', { body: hidden })).status, 422);
    assert.is((await send(server, 'GET', '/admin/brands/')).json.length, 3);
  }));

test('--headers-timeout: headers that come byte by byte are 408', () =>
  withServer(['--headers-timeout', '1s', '--request-timeout', '30s'], async (server) => {
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
  withServer(['--headers-timeout', '1s', '--request-timeout', '2s'], async (server) => {
    const wire = new Wire(server);
    await until('the connection is closed', () => wire.closed);
  }));

test('--request-timeout: a body that comes byte by byte ends with the connection', () =>
  withServer(['--headers-timeout', '1s', '--request-timeout', '2s'], async (server) => {
    const wire = new Wire(server);
    wire.socket.write('POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => wire.socket.write(' '), 20);
    await until('the connection is closed', () => wire.closed);
    clearInterval(timer);
    assert.not.match(wire.text, /^HTTP\/1\.1 2/);
    assert.equal((await send(server, 'GET', '/books/')).json, []);
  }));

test('--headers-timeout longer than --request-timeout is no more than that', () =>
  withServer(['--headers-timeout', '90s', '--request-timeout', '1s'], async (server) => {
    const wire = new Wire(server);
    wire.socket.write('GET / HTTP/1.1\r\n');
    await until('the connection is closed', () => wire.closed);
    assertRefused(wire.text, 408);
  }));

test('--keep-alive-timeout: an idle connection is closed, one in use is not', () =>
  withServer(['--keep-alive-timeout', '2s'], async (server) => {
    const idle = new Wire(server);
    const busy = new Wire(server);
    assert.match(await idle.ask(), /^HTTP\/1\.1 200 [^]*keep-alive: timeout=2\r\n/i);
    let asked = 0;
    await until('the idle one is closed', async () => {
      assert.match(await busy.ask(), /^HTTP\/1\.1 200 /);
      asked += 1;
      return idle.closed;
    });
    assert.ok(asked > 10);
    assert.not.ok(busy.closed);
    busy.socket.destroy();
  }));

test('--max-connections: one more is 503, and served when another has gone', () =>
  withServer(['--max-connections', '3'], async (server) => {
    const wires = [new Wire(server), new Wire(server), new Wire(server)];
    for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
    const refused = await statusOf(server, [get('/healthz')]);
    assertRefused(refused, 503);
    assert.match(refused, /\r\nRetry-After: 1\r\n/);
    assert.match(await (wires[0] as Wire).ask(), /^HTTP\/1\.1 200 /);
    wires[0]?.socket.destroy();
    await until('a place is free', async () =>
      (await statusOf(server, [get('/healthz', [LAST])])).startsWith('HTTP/1.1 200'),
    );
    for (const wire of wires) wire.socket.destroy();
  }));

test('what comes over a refused connection is not carried out', () =>
  withServer(['--max-connections', '1'], async (server) => {
    const wire = new Wire(server);
    await wire.ask();
    const body = '{"name":"Emma","pub_date":"1815-12-23"}';
    const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const refused = await statusOf(server, [post + post]);
    assertRefused(refused, 503);
    wire.text = '';
    wire.socket.write(get('/books/'));
    await until('the list is there', () => wire.text.endsWith('\r\n\r\n[]'));
    wire.socket.destroy();
  }));

test('--max-connections-per-address: one more is 429, another address is served', () =>
  withServer(['--max-connections-per-address', '2'], async (server) => {
    const wires = [new Wire(server), new Wire(server)];
    for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
    const refused = await statusOf(server, [get('/healthz')]);
    assertRefused(refused, 429);
    assert.match(refused, /\r\nRetry-After: 1\r\n/);
    const other = new Wire(server, '127.0.0.2');
    assert.match(await other.ask(), /^HTTP\/1\.1 200 /);
    for (const wire of [...wires, other]) wire.socket.destroy();
  }));

for (const args of [
  ['--max-connections-per-address', '0'],
  ['--max-connections-per-address', '2', '--trust-proxy', 'loopback'],
]) {
  test(`${args.join(' ')}: any number from one address`, () =>
    withServer(args, async (server) => {
      const wires = Array.from({ length: 20 }, () => new Wire(server));
      for (const wire of wires) assert.match(await wire.ask(), /^HTTP\/1\.1 200 /);
      for (const wire of wires) wire.socket.destroy();
    }));
}

test('--max-pipelined: so many wait, the next is 503 in its turn, and the connection ends', () =>
  withServer(['--max-pipelined', '3'], async (server) => {
    // A write first: those behind it wait for the disk.
    const body = '{"name":"Emma","pub_date":"1815-12-23"}';
    const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const text = await statusOf(server, [post + get('/healthz').repeat(7)]);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    assert.equal(statuses, [201, 200, 200, 200, 503]);
    assert.match(text, 'more than 3 requests wait on this connection');
    assert.is((await send(server, 'GET', '/books/')).json.length, 1);
  }));

test('twice as many as --max-pipelined end the connection at once', () =>
  withServer(['--max-pipelined', '3'], async (server) => {
    const body = '{"name":"Emma","pub_date":"1815-12-23"}';
    const post = `POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.not.match(await statusOf(server, [post + get('/healthz').repeat(40)]), ' 503 ');
    assert.is((await send(server, 'GET', '/books/')).status, 200);
  }));

test('--send-timeout: a client that does not read its answers loses the connection', () =>
  withServer(['--send-timeout', '1s'], async (server) => {
    const wire = new Wire(server);
    wire.socket.pause();
    // The viewer's bundle is large enough not to fit into the buffers of the sockets.
    wire.socket.write(get('/docs/swagger-ui-bundle.js').repeat(20));
    const begun = performance.now();
    await until('the server has closed it', async () => {
      wire.socket.write('X');
      return wire.closed || wire.socket.destroyed;
    });
    assert.ok(performance.now() - begun < 15_000);
    assert.is((await send(server, 'GET', '/books/')).status, 200);
  }));

test('a client that reads late gets every answer whole', () =>
  withServer([], async (server) => {
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
  withServer([], async (server) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.end(get('/healthz').repeat(3) + get('/healthz', [LAST]));
    await new Promise((resolve) => socket.on('end', resolve));
    assert.is([...text.matchAll(/HTTP\/1\.1 200 /g)].length, 4);
    socket.destroy();
  }));

test.run();
