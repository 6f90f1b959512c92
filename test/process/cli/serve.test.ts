/** spec 8.3, 8.9 and 8.10: `serve` as a process: its output, its lock, its signals. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FileLock } from '../../../src/disk/lock.ts';
import { createCatalog, make, skuFields } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  type Finished,
  killServers,
  runCommand,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { PROGRAM } from '../../support/paths.ts';
import { assertAtRest } from '../pages/rest.ts';

test.after(killServers);

function assertOneLine({ status, stdout, stderr }: Finished): void {
  assert.is(status, 1, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
}

test('serve prints only the line with its address, and exits 0 on SIGTERM', async () => {
  const server = await startServer();
  assert.is((await send(server, 'GET', '/books/')).status, 200);
  const { status, signal, stdout, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(signal, null);
  assert.match(stdout, /^listening on http:\/\/127\.0\.0\.1:[1-9]\d*\n$/);
  assert.is(stderr, '');
});

test('serve answers requests as soon as it has printed its address', async () => {
  for (let round = 0; round < 3; round += 1) {
    const server = await startServer();
    assert.is((await send(server, 'GET', '/')).status, 200);
    await server.stop();
  }
});

test('serve creates an empty store if there is none, accessible only to the owner', async () => {
  const data = join(temporaryDirectory(), 'a', 'b');
  const server = await startServer({ data });
  assert.equal((await send(server, 'GET', '/books/')).json, []);
  assert.ok(existsSync(join(data, 'catalog.json')));
  for (const name of ['', 'changes', 'pages']) {
    assert.is(statSync(join(data, name)).mode & 0o077, 0, name);
  }
  const { stderr } = await server.stop();
  assert.match(stderr, /^catalog-server: created an empty store in [^\n]+ --data\n$/);
  assert.match(stderr, data);
  const report = await runCommand(['migrate', '--data', data]);
  assert.is(report.status, 0);
  assert.match(report.stdout, 'nothing to do');
});

test('after a restart the rows are there, and ids continue', async () => {
  const body = { name: 'Emma', pub_date: '1815-12-23' };
  const first = await startServer();
  const created = await send(first, 'POST', '/books/', { body });
  await first.stop();
  const second = await startServer({ data: first.data });
  assert.equal((await send(second, 'GET', '/books/')).json, [created.json]);
  assert.is((await send(second, 'POST', '/books/', { body })).json.id, created.json.id + 1);
  await second.stop();
});

test('--port 0 gives each server a different free port', async () => {
  const [one, two] = await Promise.all([startServer(), startServer()]);
  assert.is.not(one.url, two.url);
  await Promise.all([one.stop(), two.stop()]);
});

test('a port in use exits 1 with one line that names the port and the flag', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const port = String((holder.address() as AddressInfo).port);
  try {
    const data = temporaryDirectory();
    const finished = await runCommand(['serve', '--data', data, '--port', port]);
    assertOneLine(finished);
    assert.match(finished.stderr, port);
    assert.match(finished.stderr, '--port');
    assert.equal(readdirSync(data), [], 'no store is created');
  } finally {
    holder.close();
  }
});

test('an address of another machine exits 1 with one line that names it and --host', async () => {
  const args = ['serve', '--data', temporaryDirectory(), '--port', '0', '--host', '203.0.113.1'];
  const finished = await runCommand(args);
  assertOneLine(finished);
  assert.match(finished.stderr, '203.0.113.1');
  assert.match(finished.stderr, '--host');
});

test('a host name without an address exits 1 with one line that names it and --host', async () => {
  const data = temporaryDirectory();
  const args = ['serve', '--data', data, '--port', '0', '--host', 'none.invalid'];
  const finished = await runCommand(args);
  assertOneLine(finished);
  assert.match(
    finished.stderr,
    /cannot listen on none\.invalid; choose an address of this machine with --host/,
  );
});

test('a lock file that a killed server left does not block the next server', async () => {
  const server = await startServer();
  await server.kill();
  const again = await startServer({ data: server.data });
  assert.is((await again.stop()).status, 0);
});

function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  );
}

function testWithIPv6(name: string, run: () => Promise<void>): void {
  if (hasIPv6()) test(name, run);
  else test.skip(`${name} (skipped: this machine has no IPv6)`, run);
}

testWithIPv6('serve listens on an IPv6 address and prints it in brackets', async () => {
  const server = await startServer({ args: ['--host', '::1'] });
  assert.match(server.url, /^http:\/\/\[::1\]:\d+$/);
  assert.is((await send(server, 'GET', '/books/')).status, 200);
  await server.stop();
});

/** A connection that collects what it receives. */
class Wire {
  text = '';
  closed = false;
  readonly #socket: Socket;

  constructor(server: TestServer) {
    const { hostname, port } = new URL(server.url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('data', (chunk) => (this.text += chunk.toString()));
    this.#socket.on('close', () => {
      this.closed = true;
    });
    this.#socket.on('error', () => {});
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** Whether the server accepts a new connection. */
function takesConnections(server: TestServer): Promise<boolean> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

const BOOK = JSON.stringify({ name: 'Half sent', pub_date: '2001-02-03' });

/** Sends a request with only a part of its body, after the server has read the headers. */
async function halfSent(server: TestServer): Promise<Wire> {
  const wire = new Wire(server);
  wire.write(
    `POST /books/ HTTP/1.1\r\nHost: test\r\nContent-Length: ${BOOK.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await until('the server reads the body', () => wire.text.includes('100 Continue'));
  wire.write(BOOK.slice(0, 10));
  return wire;
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`on ${signal} the current request is answered, and new connections are refused`, async () => {
    const server = await startServer();
    const wire = await halfSent(server);
    server.child.kill(signal);
    await until('connections are refused', async () => !(await takesConnections(server)));
    assert.is(server.child.exitCode, null, 'it waits for the request');
    wire.write(BOOK.slice(10));
    await until('the connection is closed', () => wire.closed);
    assert.match(wire.text, /\r\nHTTP\/1\.1 201 /);
    assert.match(wire.text, /\r\nconnection: close\r\n/i);
    assert.match(wire.text, '"name":"Half sent"');
    const { status, stderr } = await server.finished;
    assert.is(status, 0);
    assert.is(stderr, '');
    const again = await startServer({ data: server.data });
    assert.is((await send(again, 'GET', '/books/1/')).json.name, 'Half sent');
    await again.stop();
  });
}

test('a second signal exits at once', async () => {
  const server = await startServer();
  const wire = await halfSent(server);
  server.child.kill('SIGTERM');
  await until('connections are refused', async () => !(await takesConnections(server)));
  assert.is(server.child.exitCode, null, 'it waits for the request');
  server.child.kill('SIGTERM');
  // After the grace period of 10 seconds the status would be 0.
  const { status, signal } = await server.finished;
  assert.ok(status === 143 || signal === 'SIGTERM', `${status} ${signal}`);
  wire.destroy();
});

test('a request that never ends delays the exit by the grace period of 10 seconds', async () => {
  const server = await startServer();
  const wire = await halfSent(server);
  const begun = Date.now();
  const { status } = await server.stop();
  const taken = Date.now() - begun;
  assert.is(status, 0);
  assert.ok(taken >= 9_500, `${taken} ms`);
  wire.destroy();
});

test('queued pages are written before the exit', async () => {
  const server = await startServer();
  const of = await createCatalog(server);
  for (let index = 0; index < 40; index += 1) await make(server, '/admin/skus/', skuFields(of));
  const folder = join(server.data, 'pages', 'skus');
  // Temporary files appear and disappear while the pages are written.
  const pages = () => readdirSync(folder).filter((name) => name.endsWith('.html'));
  const texts = () => pages().map((name) => readFileSync(join(folder, name), 'utf8'));
  await until('the pages are there', () => pages().length === 41);
  // While this test holds the pages' lock they stay queued.
  const lock = new FileLock(join(server.data, 'pages.lock'));
  lock.lock();
  const body = { name: 'Queued' };
  await send(server, 'PATCH', `/admin/brands/${of.brand}/`, { body });
  const stoppedAt = performance.now();
  server.child.kill('SIGTERM');
  await until('connections are refused', async () => !(await takesConnections(server)));
  assert.not.ok(
    texts().some((text) => text.includes('by <bdi>Queued</bdi>')),
    'none is written yet',
  );
  lock.close();
  await assertAtRest(server, stoppedAt);
  assert.ok(texts().every((text) => text.includes('by <bdi>Queued</bdi>')));
});

test('pages that cannot be written delay the exit by their grace period of 5 seconds', async () => {
  const server = await startServer();
  const of = await createCatalog(server);
  const lock = new FileLock(join(server.data, 'pages.lock'));
  lock.lock();
  await send(server, 'PATCH', `/admin/brands/${of.brand}/`, { body: { name: 'Queued' } });
  const begun = Date.now();
  const { status } = await server.stop();
  const taken = Date.now() - begun;
  lock.close();
  assert.is(status, 0);
  // Only a lower bound: a slow machine takes longer.
  assert.ok(taken >= 4_500, `${taken} ms`);
});

test('SIGTERM during the start exits 0 and leaves a usable directory', async () => {
  const data = temporaryDirectory();
  const early = spawn(PROGRAM, ['serve', '--data', data, '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: 'ignore',
  });
  // The key file is created early in the start, after the signal handlers are installed.
  await until('it has begun', () => existsSync(join(data, 'keys.json')));
  early.kill('SIGTERM');
  const status = await new Promise((resolve) => early.on('close', resolve));
  assert.is(status, 0);
  assert.is((await runCommand(['migrate', '--data', data])).status, 0);
});

test.run();
