/** `--metrics-port`: the metrics and health checks on a separate port. */
import { once } from 'node:events';
import { mkdirSync, renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { diskSpace } from '../../../src/disk/free-space.ts';
import { make } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { measured, pagesAtRest, valuesOf } from '../../support/metrics.ts';
import { exchangeRaw } from '../../support/raw.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after(killServers);

const BOOK = { name: 'Emma', pub_date: '1815-12-23' };

const COUNT = 'catalog_http_request_duration_seconds_count';

test('metrics count requests by method, route and status, and writes by outcome', async () => {
  const observed = await measured();
  const { server, operator } = observed;
  for (let index = 1; index <= 3; index += 1) {
    assert.is((await send(server, 'POST', '/books/', { body: BOOK })).status, 201);
    await send(server, 'GET', `/books/${index}/`);
    await send(server, 'GET', `/1.0/books/${index}/`);
    await send(server, 'GET', `/nowhere/${index}/`);
  }
  await send(server, 'GET', '/admin/skus/5/specs/7/');
  await send(server, 'PUT', '/books/1/', { body: { name: '' } });
  await exchangeRaw(server, ['BREW /pot HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n']);
  await pagesAtRest(observed);
  const values = await valuesOf(operator);
  const requests = (method: string, route: string, status: number) =>
    values.get(`${COUNT}{method="${method}",route="${route}",status="${status}"}`);
  assert.is(requests('POST', '/books/', 201), 3);
  assert.is(requests('GET', '/books/{id}/', 200), 6);
  assert.is(requests('GET', 'none', 404), 3);
  assert.is(requests('GET', '/admin/skus/{id}/specs/{id}/', 404), 1);
  assert.is(requests('PUT', '/books/{id}/', 422), 1);
  assert.is(values.get('catalog_rows{kind="books"}'), 3);
  assert.is(values.get('catalog_commit_duration_seconds_count{outcome="durable"}'), 3);
  assert.is(values.get('catalog_commit_group_size_sum'), 3);
  assert.is(values.get('catalog_page_queue_length'), 0);
  assert.is(values.get('catalog_commit_queue_length'), 0);
  assert.is(values.get('catalog_ready'), 1);
  assert.is(values.get('catalog_backup_age_seconds'), undefined, 'none was made');
  for (const name of [
    'catalog_store_bytes{file="base"}',
    'catalog_store_bytes{file="changes"}',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_start_time_seconds',
    'catalog_http_response_bytes_total',
  ]) {
    assert.ok((values.get(name) ?? 0) > 0, name);
  }
  await server.stop();
});

test('a server whose disk is nearly full is not ready, but accepts writes (spec 11.8)', async () => {
  const { free } = diskSpace(tmpdir());
  const { server, operator } = await measured({
    args: ['--min-free-disk', String(free + 2 ** 30)],
  });
  const answer = await send(server, 'GET', '/readyz', { token: null });
  assert.is(answer.status, 503);
  assert.match(
    answer.json.error,
    /^not ready: the disk is nearly full: less than \d+ MiB are free$/,
  );
  assert.is((await send(server, 'POST', '/books/', { body: BOOK })).status, 201);
  const values = await valuesOf(operator);
  assert.is(values.get('catalog_ready'), 0);
  assert.is(values.get('catalog_disk_min_free_bytes'), free + 2 ** 30);
  assert.ok((values.get('catalog_disk_free_bytes') ?? 0) > 0);
  await server.stop();
});

test('a page that cannot be written, and a change set that is not archived, are in the metrics', async () => {
  const archive = temporaryDirectory();
  const observed = await measured({ args: ['--archive', `file://${archive}`] });
  const { server, operator } = observed;
  await pagesAtRest(observed);
  const behind = async () => (await valuesOf(operator)).get('catalog_archive_behind_change_sets');
  await until('the archive is complete', async () => (await behind()) === 0);
  renameSync(archive, `${archive}.away`);
  mkdirSync(join(server.data, 'pages', 'categories', '1.html'));
  await make(server, '/admin/categories/', { name: 'Phones', parent_id: null });
  const failed = async () => (await valuesOf(operator)).get('catalog_pages_failed');
  await until('the page has failed', async () => (await failed()) === 1);
  const values = await valuesOf(operator);
  assert.is(values.get('catalog_archive_behind_change_sets'), 1);
  for (const name of ['catalog_archive_behind_seconds', 'catalog_page_queue_oldest_seconds']) {
    assert.ok((values.get(name) ?? 0) > 0, name);
  }
  renameSync(`${archive}.away`, archive);
  await server.stop();
});

test('a checkpoint is in the metrics', async () => {
  const { server, operator } = await measured({ args: ['--checkpoint-size', '4KiB'] });
  for (let book = 1; book <= 3; book += 1) {
    assert.is((await send(server, 'POST', '/books/', { body: BOOK })).status, 201);
  }
  const name = 'catalog_checkpoint_duration_seconds_count{outcome="durable"}';
  const count = async () => (await valuesOf(operator)).get(name);
  await until('a checkpoint was written', async () => Number(await count()) > 0);
  await server.stop();
});

test('unknown methods and paths create no new time series', async () => {
  const { server, operator } = await measured();
  const series = async () =>
    [...(await valuesOf(operator)).keys()].filter((name) => name.startsWith(COUNT));
  await send(server, 'GET', '/nowhere/0/');
  await send(server, 'PROPFIND', '/nowhere/0/', { undescribed: 'a method that fetch allows' });
  const before = await series();
  for (let index = 1; index < 40; index += 1) {
    await send(server, 'GET', `/nowhere/${index}/x${index}/`);
    await send(server, index % 2 === 0 ? 'REPORT' : 'MKCOL', `/nowhere/${index}/`, {
      undescribed: 'a method that fetch allows',
    });
  }
  assert.equal(await series(), before);
  await server.stop();
});

test('names in paths create no new time series', async () => {
  const { server, operator } = await measured();
  const routes = ['/console/{path}', '/admin/users/{name}/', '/admin/tokens/{jti}/'];
  for (const name of ['ann', 'bob', 'cleo']) {
    for (const route of routes) await send(server, 'GET', route.replace(/\{\w+\}/, name));
  }
  const counts = [...(await valuesOf(operator))].filter(([name]) => name.startsWith(COUNT));
  const expected = [200, 404, 405].map(
    (status, index) => `${COUNT}{method="GET",route="${routes[index]}",status="${status}"}`,
  );
  assert.equal(
    counts,
    expected.map((series) => [series, 3]),
  );
  await server.stop();
});

test('the metrics port serves /metrics, /healthz and /readyz, and nothing of the catalog', async () => {
  const { server, operator } = await measured({ args: ['--base-path', '/api'] });
  const get = (path: string, init: RequestInit = {}) => fetch(`${operator.url}${path}`, init);
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const answer = await get(path);
    assert.is(answer.status, 200, path);
    assert.is(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.is(answer.headers.get('cache-control'), 'no-store');
    assert.is((await get(path, { method: 'POST', body: '{}' })).status, 405);
  }
  for (const path of ['/books/', '/api/books/', '/', '/openapi.json', '/metrics/', '/toString']) {
    assert.is((await get(path)).status, 404, path);
  }
  assert.is((await send(server, 'GET', '/api/metrics')).status, 404);
  await server.stop();
});

test('the metrics port takes 100 connections, and more are 503', async () => {
  const { server, operator } = await measured();
  const { hostname, port } = new URL(operator.url);
  const sockets: Socket[] = [];
  const open = async (count: number) => {
    const opened = Array.from({ length: count }, () => connect(Number(port), hostname));
    sockets.push(...opened);
    await Promise.all(opened.map((socket) => once(socket, 'connect')));
    // The system gives the server a connection that sends nothing only after a second.
    for (const socket of opened) socket.on('error', () => {}).write('G');
  };
  await open(100);
  const get = () =>
    exchangeRaw(operator, ['GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n']);
  await until('there is no place', async () => {
    if ((await get()).startsWith('HTTP/1.1 503 ')) return true;
    // An earlier connection had one when the last of them was refused, and has ended since.
    await open(1);
    return false;
  });
  assert.ok(sockets.length < 110, `${sockets.length} connections`);
  assert.is((await send(server, 'GET', '/healthz')).status, 200);
  for (const socket of sockets) socket.destroy();
  await until('there is a place', async () => (await get()).startsWith('HTTP/1.1 200 '));
  await server.stop();
});

test('without --metrics-port, /metrics is 404', async () => {
  const server = await startServer();
  assert.is((await send(server, 'GET', '/metrics')).status, 404);
  await server.stop();
});

test('during the shutdown /readyz on the metrics port is 503 and /healthz is 200', async () => {
  const { server, operator } = await measured();
  const wire = await halfSent(server);
  server.child.kill('SIGTERM');
  await until(
    'it is not ready',
    async () => (await fetch(`${operator.url}/readyz`)).status === 503,
  );
  const answer = await fetch(`${operator.url}/readyz`);
  assert.equal(await answer.json(), { error: 'not ready: the server is shutting down' });
  assert.is((await fetch(`${operator.url}/healthz`)).status, 200, 'it still lives');
  wire.destroy();
  assert.is((await server.finished).status, 0);
});

/** Sends the headers of a request whose body never arrives. */
async function halfSent(server: TestServer) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.write(
    'POST /books/ HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n',
  );
  await until('the server reads the body', () => text.includes('100 Continue'));
  return socket;
}

test('if the metrics port is in use, the error names --metrics-port', async () => {
  const { server, operator } = await measured();
  const port = new URL(operator.url).port;
  try {
    const other = await startServer({ args: ['--metrics-port', port] });
    await other.stop();
    assert.unreachable('the port is in use');
  } catch (error) {
    assert.match(String(error), `port ${port} of 127.0.0.1 is in use`);
    assert.match(String(error), 'with --metrics-port');
  }
  await server.stop();
});

test.run();
