/** A server with several worker processes (spec 15.18). */
import {
  cpSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readerAheadContinues } from '../../support/ahead.ts';
import { send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../support/paths.ts';
import { measured, valuesOf } from '../../support/metrics.ts';
import { freePorts, portFlags } from '../../support/ports.ts';
import { request as rawRequest } from '../../support/raw.ts';
import {
  killServers,
  runCommand,
  SECRET,
  serving,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { sendOnce } from '../../support/single-request.ts';
import { until } from '../../support/until.ts';

test.after.each(killServers);

const WORKERS = ['--workers', '2'];

const book = (name: string) => ({ name, pub_date: '2026-11-22', readcount: 0, commentcount: 0 });

/** The process ids of the workers of a server. */
function workersOf({ child: { pid } }: TestServer): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

/** Whether a process holds the server's end of a connection. */
function holds(pid: number, { localPort = 0, remotePort = 0 }: Socket): boolean {
  const hex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const connections = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/));
  const inode = connections.find(
    ([, local = '', remote = '']) =>
      local.endsWith(hex(remotePort)) && remote.endsWith(hex(localPort)),
  )?.[9];
  const files = `/proc/${pid}/fd`;
  return readdirSync(files).some((fd) => targetOf(join(files, fd)) === `socket:[${inode}]`);
}

/** The target of a link; "" if it is gone. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** Sends a request without a body. @returns the status of its response. */
async function statusOver(
  socket: Socket,
  path: string,
  headers: readonly string[],
): Promise<number> {
  return Number((await textOver(socket, path, headers)).slice('HTTP/1.1 '.length, 12));
}

/** Sends a request without a body. @returns its response, with headers. */
function textOver(socket: Socket, path: string, headers: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (settle: () => void) => {
      socket.off('data', onData).off('close', onClose);
      settle();
    };
    const onClose = () => end(() => reject(new Error(`the connection was closed after ${text}`)));
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const [, length] = /^HTTP\/1\.1 .*?\r\ncontent-length: (\d+)\r\n/is.exec(text) ?? [];
      const body = text.indexOf('\r\n\r\n') + 4;
      if (body > 4 && text.length >= body + Number(length)) end(() => resolve(text));
    };
    socket.on('data', onData).on('close', onClose);
    socket.write(rawRequest(`GET ${path}`, headers));
  });
}

/** Opens connections until each worker holds one. @returns one connection of each worker. */
async function connectionsOf(server: TestServer): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(server.url);
  const workers = workersOf(server);
  const byWorker = new Map<number, Socket>();
  await until('each worker holds a connection', async () => {
    const socket = connect(Number(port), hostname);
    // Its answer shows that a worker has accepted the connection.
    await statusOver(socket, '/healthz', []);
    const worker = workers.find((pid) => holds(pid, socket)) ?? 0;
    if (byWorker.has(worker)) socket.destroy();
    else byWorker.set(worker, socket);
    return byWorker.size === 2;
  });
  assert.equal(new Set(byWorker.keys()), new Set(workers));
  return [...byWorker.values()];
}

/** Opens connections until a worker holds one. */
async function connectionTo(server: TestServer, worker: number): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    await statusOver(socket, '/healthz', []);
    if (holds(worker, socket)) return socket;
    socket.destroy();
  }
}

const isThere = (pid: number) => existsSync(`/proc/${pid}`);

interface WorkerResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends a request over a new connection, so that any worker may get it. */
function sendAnew(url: string, method: string, body?: string): Promise<WorkerResponse> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request(url, { method, headers, agent: false }, (incoming) => {
      let text = '';
      incoming.on('data', (chunk) => (text += chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

test('every GET gets the same response from a server with workers as from a single process', async () => {
  const one = await startServer({ demo: true });
  await one.stop();
  const copy = temporaryDirectory();
  cpSync(one.data, copy, { recursive: true });
  const alone = await startServer({ data: one.data });
  const shared = await startServer({ data: copy, args: WORKERS });
  const { json } = await send(alone, 'GET', '/openapi.json', { token: null });
  const paths = Object.entries(json.paths as Record<string, Record<string, unknown>>)
    .filter(([, operations]) => operations['get'] !== undefined)
    .map(([path]) => path.replaceAll(/\{\w+\}/g, '1'));
  assert.ok(paths.length > 40, `${paths.length} paths`);
  for (const path of [...paths, '/admin/skus/?keyword=phone&sortby=price', '/admin/nothing/']) {
    const undescribed = 'both are compared';
    let expected = await send(alone, 'GET', path, { undescribed });
    let found = await send(shared, 'GET', path, { undescribed });
    // Both check their pages after the start, and the summary counts the pages in work.
    if (path === '/admin/summary/') {
      await until('both have looked at their pages', async () => {
        expected = await send(alone, 'GET', path);
        found = await send(shared, 'GET', path);
        return found.text === expected.text;
      });
    }
    assert.is(found.status, expected.status, path);
    assert.is(found.text, expected.text, path);
    for (const name of ['content-type', 'etag', 'link', 'cache-control', 'vary']) {
      assert.is(found.headers.get(name), expected.headers.get(name), `${name} of ${path}`);
    }
  }
  const refused = await send(shared, 'GET', '/admin/skus/', { token: null });
  assert.is(refused.status, 401);
});

test('after a write is answered, every connection reads the new value', async () => {
  const server = await startServer({ args: WORKERS });
  const { status, body } = await sendAnew(
    `${server.url}/books/`,
    'POST',
    JSON.stringify(book('First')),
  );
  assert.is(status, 201, body);
  const url = `${server.url}/books/1/`;
  for (let nth = 0; nth < 100; nth += 1) {
    const name = `Name ${nth}`;
    const written = await sendAnew(url, 'PUT', JSON.stringify(book(name)));
    assert.is(written.status, 200, written.body);
    const reads = await Promise.all(Array.from({ length: 4 }, () => sendAnew(url, 'GET')));
    for (const read of reads) assert.is((JSON.parse(read.body) as { name: string }).name, name);
  }
  assert.is(workersOf(server).length, 2);
});

/**
 * Reads a book and then something else over one connection, while a write of the book waits for the
 * other worker, which is stopped. The worker of the connection shows the write already.
 *
 * @returns the change sets that both responses show, and whether the write still waited when the
 *   second one was requested. After five seconds it does not, because the stopped worker is killed.
 */
async function readDuringWrite(server: TestServer, name: string, bookPath: string, path: string) {
  await until('there are both workers', () => workersOf(server).length === 2);
  const [worker = 0, other = 0] = workersOf(server);
  const [writing, reading] = [
    await connectionTo(server, worker),
    await connectionTo(server, worker),
  ];
  process.kill(other, 'SIGSTOP');
  try {
    const body = JSON.stringify(book(name));
    writing.write(rawRequest(`PUT ${bookPath}`, ['Content-Type: application/json'], body));
    let first = '';
    await until('the book shows it', async () => {
      first = await textOver(reading, bookPath, []);
      return first.includes(name);
    });
    const wasWaiting = isThere(other);
    const second = await textOver(reading, path, []);
    const sequenceOf = (text: string) => Number(/\r\ncatalog-sequence: (\d+)/i.exec(text)?.[1]);
    return { first: sequenceOf(first), second: sequenceOf(second), wasWaiting };
  } finally {
    if (isThere(other)) process.kill(other, 'SIGCONT');
    for (const socket of [writing, reading]) socket.destroy();
  }
}

test('a page is never older than what its connection has shown, even while a worker is stopped', async () => {
  const server = await startServer({ demo: true, args: WORKERS });
  const shown = await readDuringWrite(server, 'Early', '/books/1/', '/pages/skus/1.html');
  assert.ok(shown.second >= shown.first, JSON.stringify(shown));
});

/** Writes that may end while the readiness is on its way. */
const MAX_WAITS = 3;

test('the readiness does not wait for a write, below a base path as well', async () => {
  const server = await startServer({ demo: true, args: [...WORKERS, '--base-path', '/shop'] });
  let [rounds, waits] = [0, 0];
  // The write may end at any moment, so a slow machine tries again.
  await until('the readiness is answered before the write', async () => {
    const name = `Early ${(rounds += 1)}`;
    const shown = await readDuringWrite(server, name, '/shop/books/1/', '/shop/readyz');
    if (shown.second < shown.first) return true;
    if (shown.wasWaiting) waits += 1;
    assert.ok(waits < MAX_WAITS, `the readiness has waited for ${waits} writes`);
    return false;
  });
});

test('a reader of changes continues at a worker that does not show its last change yet', async () => {
  const server = await startServer({ demo: true, args: WORKERS });
  await readerAheadContinues(server, server);
});

test('a killed worker is replaced, and no answered write is lost or invisible', async () => {
  const server = await startServer({ args: WORKERS });
  const answered = new Set<number>();
  const over = new AbortController();
  const write = async () => {
    while (!over.signal.aborted) {
      const name = `Book ${answered.size}`;
      const answer = await sendAnew(
        `${server.url}/books/`,
        'POST',
        JSON.stringify(book(name)),
      ).catch(() => null);
      if (answer?.status !== 201) continue;
      const { id } = JSON.parse(answer.body) as { id: number };
      answered.add(id);
      const read = await sendAnew(`${server.url}/books/${id}/`, 'GET').catch(() => null);
      if (read !== null) assert.is(read.status, 200, `book ${id} is read by any worker`);
    }
  };
  const writers = [write(), write(), write()];
  for (let round = 1; round <= 4; round += 1) {
    await until('there are both workers', () => workersOf(server).length === 2);
    const count = answered.size;
    await until('writes were answered', () => answered.size > count + 10);
    const [first = 0] = workersOf(server);
    process.kill(first, 'SIGKILL');
    await until('it is replaced', () => {
      const now = workersOf(server);
      return now.length === 2 && !now.includes(first);
    });
  }
  over.abort();
  await Promise.all(writers);
  const { status } = await server.stop();
  assert.is(status, 0);
  assert.match(server.said(), /a worker ended \(SIGKILL\)/);
  const again = await startServer({ data: server.data });
  const { json } = await send(again, 'GET', '/books/');
  const ids = new Set((json as { id: number }[]).map(({ id }) => id));
  assert.equal(
    [...answered].filter((id) => !ids.has(id)),
    [],
  );
});

// If the program is run from source, the executable is Bun.
const testOfExecutable = PROGRAM.endsWith('.ts') ? test.skip : test;

testOfExecutable(
  'a killed worker is replaced even if the executable was deleted by an upgrade',
  async () => {
    const binary = `${PROGRAM}-${process.pid}`;
    linkSync(PROGRAM, binary);
    const server = await startServer({ args: WORKERS, binary }).finally(() => unlinkSync(binary));
    const [first = 0] = workersOf(server);
    process.kill(first, 'SIGKILL');
    await until('it is replaced', () =>
      server.said().includes('a new worker has replaced the one that ended'),
    );
    const { status } = await server.stop();
    assert.is(status, 0, server.said());
  },
);

test('a server is not ready while it has no worker', async () => {
  const [port] = await freePorts(1);
  const server = await startServer({ args: [...WORKERS, '--metrics-port', `${port}`] });
  const readiness = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
  const is = (expected: object) =>
    until(`it is ${JSON.stringify(expected)}`, async () => {
      return JSON.stringify(await readiness()) === JSON.stringify(expected);
    });
  await is({ status: 'ready' });
  // Without the base no worker can start.
  const [base, aside] = ['catalog.json', 'aside.json'].map((name) => join(server.data, name));
  renameSync(base as string, aside as string);
  for (const pid of workersOf(server)) process.kill(pid, 'SIGKILL');
  await is({ error: 'not ready: no worker is ready' });
  renameSync(aside as string, base as string);
  await is({ status: 'ready' });
});

test('workers end if the main process is killed, and the server can be started again', async () => {
  const args = [...WORKERS, ...(await portFlags())];
  const server = await startServer({ args });
  const workers = workersOf(server);
  await send(server, 'POST', '/books/', { body: book('Answered') });
  await server.kill();
  await until('no worker is left', () => !workers.some(isThere));
  const again = await startServer({ data: server.data, args });
  assert.is((await send(again, 'GET', '/books/')).json.length, 1);
  assert.is(again.url, server.url);
});

test('a stop answers the current request, and leaves no worker process and no socket', async () => {
  const server = await startServer({ args: WORKERS });
  const workers = workersOf(server);
  const path = join(server.data, 'workers.sock');
  assert.is(statSync(path).mode & 0o077, 0, 'no other user reaches the process that writes');
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const text = JSON.stringify(book('Late'));
  let received = '';
  socket.on('data', (chunk) => (received += chunk));
  const headers = `Content-Type: application/json\r\nContent-Length: ${text.length}`;
  socket.write(`POST /books/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${headers}\r\n\r\n`);
  await until('the request is under way', () => received.startsWith('HTTP/1.1 100 '));
  // As from systemd: every process gets the signal.
  for (const worker of workers) process.kill(worker, 'SIGTERM');
  const stopped = server.stop();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(text);
  const { status, stderr } = await stopped;
  await closed;
  assert.match(received, /\r\n\r\nHTTP\/1\.1 201 /);
  assert.is(status, 0);
  assert.is(stderr, '');
  assert.not.ok(workers.some(isThere));
  assert.not.ok(existsSync(path));
});

test('a stop answers the readers of changes that wait in a worker, and ends their streams', async () => {
  const { server, operator } = await measured({ args: WORKERS });
  const read = (query: string, accept: string, authorization: string) =>
    sendOnce(`${server.url}/admin/changes/?since=0${query}`, {
      method: 'GET',
      accept,
      authorization,
    });
  const authorization = `Bearer ${await tokenFor('viewer')}`;
  const reading = Promise.all([
    read('', 'text/event-stream', authorization),
    read('&wait=60s', 'application/json', authorization),
  ]);
  await until('both are counted', async () => {
    const readers = await valuesOf(operator).then((values) => values.get('catalog_change_readers'));
    return readers === 2;
  });
  const [{ status }, responses] = await Promise.all([server.stop(), reading]);
  assert.is(status, 0);
  assert.equal(
    responses.map((response) => response.status),
    [200, 200],
  );
});

test('every request has one line in the log, with the client that a trusted proxy names', async () => {
  const flags = ['--log-level', 'info', '--trust-proxy', 'loopback'];
  const server = await startServer({ args: [...WORKERS, ...flags] });
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  await send(server, 'GET', '/books/', { headers });
  await send(server, 'POST', '/books/', { headers, body: book('Passed on') });
  const { stderr } = await server.stop();
  const lines = stderr.split('\n').filter((line) => line.includes('"path":"/books/"'));
  const logged = lines.map((line) => JSON.parse(line));
  assert.equal(
    logged.map(({ method, status, address }) => `${method} ${status} ${address}`).sort(),
    ['GET 200 203.0.113.9', 'POST 201 203.0.113.9'],
  );
});

test('one client may write over all connections of a worker at a time, as with one process', async () => {
  const limits = ['--max-connections', '4', '--max-connections-per-address', '0'];
  // A limit of the main process, which sends no requests, does not limit the workers.
  const env = { BUN_CONFIG_MAX_HTTP_REQUESTS: '1' };
  const server = await startServer({ args: [...WORKERS, ...limits], env });
  const [worker = 0] = workersOf(server);
  const text = JSON.stringify(book('Together'));
  const headers = ['Content-Type: application/json', `Content-Length: ${text.length}`];
  const clients: { readonly socket: Socket; received: string }[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const client = { socket: await connectionTo(server, worker), received: '' };
    clients.push(client);
    client.socket.on('data', (chunk) => (client.received += chunk));
    client.socket.write(rawRequest('POST /books/', [...headers, 'Expect: 100-continue']));
    await until('the process that writes waits for the body', () => client.received !== '');
  }
  for (const { socket } of clients) socket.write(text);
  const isAnswered = () => clients.every(({ received }) => received.includes('\r\n\r\n{'));
  await until('all are answered', isAnswered);
  for (const { received } of clients) {
    assert.match(received, / 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  }
});

test('the process that writes closes no idle connection of a worker, which may be about to use it', async () => {
  const server = await startServer({ args: WORKERS });
  const socket = connect(join(server.data, 'workers.sock'));
  const text = await textOver(socket, '/books/', []);
  socket.destroy();
  assert.match(text, /^connection: keep-alive\r$/im);
  assert.not.match(text, /^keep-alive:/im, 'it names a time after which it closes');
});

test('the process that writes judges the length of a body, after the checks that come before', async () => {
  const limits = ['--max-body', '1KiB', '--max-import', '1KiB'];
  const server = await startServer({ args: [...WORKERS, ...limits] });
  const sent = { body: { name: 'x'.repeat(100_000) }, token: null };
  assert.is((await send(server, 'POST', '/admin/brands/', sent)).status, 401);
  assert.is((await send(server, 'PUT', '/books/999/', sent)).status, 404);
  const { status, json } = await send(server, 'POST', '/books/', sent);
  assert.equal([status, json], [413, { error: 'the body is larger than 1024 bytes' }]);
  assert.is((await server.stop()).status, 0);
});

test('a revoked token, and a token of a disabled account, is 401 in every worker', async () => {
  const server = await startServer({ demo: true, args: WORKERS });
  const added = await runCommand(['users', 'add', 'ann', '--data', server.data], {
    input: 'correct horse battery\n',
  });
  assert.is(added.status, 0, added.stderr);
  const login = await send(server, 'POST', '/admin/tokens/', {
    token: null,
    body: { username: 'ann', password: 'correct horse battery' },
  });
  const revoked = await tokenFor('viewer', { sub: 'eve', jti: 'token-of-eve' });
  const connections = await connectionsOf(server);
  const statuses = (token: string) =>
    Promise.all(
      connections.map((socket) =>
        statusOver(socket, '/admin/skus/?per_page=1', [`Authorization: Bearer ${token}`]),
      ),
    );
  assert.equal(await statuses(revoked), [200, 200]);
  assert.is((await send(server, 'DELETE', '/admin/tokens/token-of-eve/')).status, 204);
  assert.equal(await statuses(revoked), [401, 401]);
  assert.equal(await statuses(login.json.token), [200, 200]);
  const disabled = await send(server, 'PATCH', '/admin/users/ann/', { body: { disabled: true } });
  assert.is(disabled.status, 200, disabled.text);
  assert.equal(await statuses(login.json.token), [401, 401]);
});

test('the metrics count the requests of all workers', async () => {
  const [port] = await freePorts(1);
  const server = await startServer({ args: [...WORKERS, '--metrics-port', `${port}`] });
  const connections = await connectionsOf(server);
  for (const [nth, socket] of connections.entries()) {
    for (let sent = 0; sent < 10 + nth; sent += 1) await statusOver(socket, '/books/', []);
  }
  const count = /duration_seconds_count\{method="GET",route="\/books\/",status="200"\} (\d+)/;
  // The last figures of a worker count while it takes longer than a second for new ones.
  await until('all are counted', async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const counted = Number(count.exec(text)?.[1] ?? 0);
    assert.ok(counted <= 21, `${counted}`);
    return counted === 21;
  });
});

(existsSync('/proc/self/limits') ? test : test.skip)(
  'two workers that may have 256 file descriptors take 32 connections each (spec 11.5)',
  async () => {
    const serve = [PROGRAM, 'serve', '--data', temporaryDirectory(), '--port', '0', ...WORKERS];
    const env = { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET };
    const limited = ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...serve];
    const server = await serving(spawn('sh', limited, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
    const { hostname, port } = new URL(server.url);
    const taken: Socket[] = [];
    // The system decides which worker gets a connection.
    for (let n = 0; n < 150; n += 1) {
      const socket = connect({ port: Number(port), host: hostname });
      socket.write('GET /healthz HTTP/1.1\r\nHost: catalog\r\n\r\n');
      const [response] = (await once(socket, 'data')) as [Buffer];
      if (response.toString().startsWith('HTTP/1.1 200 ')) taken.push(socket);
      else socket.destroy();
    }
    assert.ok(taken.length >= 32 && taken.length <= 64, `${taken.length} connections`);
    for (const socket of taken) socket.destroy();
    assert.is((await server.stop()).status, 0);
  },
);

test('a second server with workers on the same port fails, although workers can share a port', async () => {
  const other = await startServer({ args: WORKERS });
  const { port } = new URL(other.url);
  const data = temporaryDirectory();
  const { status, stderr } = await runCommand([
    'serve',
    '--data',
    data,
    '--port',
    port,
    ...WORKERS,
  ]);
  assert.is(status, 1);
  assert.match(stderr, /port \d+ of 127\.0\.0\.1 is in use/);
});

test('--workers fails with --log, with --follow, and with a data directory whose path is too long', async () => {
  for (const host of [
    ['--log', 'etcd://127.0.0.1:1/x'],
    ['--follow', 'http://127.0.0.1:1', '--token-file', 'token'],
  ]) {
    const together = await runCommand(['serve', '--workers', '2', ...host]);
    assert.is(together.status, 2, together.stderr);
    assert.match(together.stderr, /has only one worker/);
  }
  const data = join(temporaryDirectory(), 'long'.repeat(30));
  const { stderr } = await runCommand(['serve', '--data', data, '--port', '0', ...WORKERS]);
  assert.match(stderr, /give a shorter --data/);
  assert.not(existsSync(data), 'no store was created');
});

test.run();
