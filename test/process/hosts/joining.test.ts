/** A host with an empty directory joins a log whose first change sets were trimmed (spec 15.24). */
import { existsSync } from 'node:fs';
import { createServer, request as requestTo } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { EtcdClient } from '../../../src/hosts/cluster/etcd-client.ts';
import { EtcdLog } from '../../../src/hosts/cluster/etcd-log.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  CALL_MS,
  type Etcd,
  HAS_ETCD,
  startEtcd,
  testWithEtcd as test,
} from '../../support/etcd.ts';
import { freePorts } from '../../support/ports.ts';
import {
  killServers,
  runCommand,
  SECRET,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { backupOf } from './backups.ts';

let etcd: Etcd;

uvuTest.before(async () => {
  if (HAS_ETCD) etcd = await startEtcd(1);
});

uvuTest.after(() => (HAS_ETCD ? etcd.close() : undefined));
uvuTest.after.each(killServers);

const HASTE = ['--log-timeout', '3s', '--log-level', 'info', '--log-format', 'text'];

/** Starts a host; without `env` its keys are in files, which the log shares. */
async function start(
  prefix: string,
  data: string,
  { env, log = etcd.url(prefix) }: { env?: Record<string, string>; log?: string } = {},
) {
  const [port] = await freePorts(1);
  const own = ['--port', `${port}`, '--advertise', `http://127.0.0.1:${port}`];
  const args = [...own, '--log', log, ...HASTE];
  return startServer({ data, args, ownKeys: true, ...(env !== undefined && { env }) });
}

/** A ready host over a log whose first change sets were trimmed. */
async function startOld(prefix: string, data: string): Promise<TestServer> {
  const old = await start(prefix, data);
  await ready(old);
  for (const name of ['one', 'two', 'three']) await send(old, 'POST', '/books/', book(name));
  const { endpoints } = etcd;
  const client = new EtcdClient({ endpoints, prefix: `/${prefix}/`, timeoutMs: CALL_MS });
  await new EtcdLog(client).trim(3);
  return old;
}

/** The response to `/readyz`. */
async function readiness({ url }: TestServer): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, text: await answer.text() };
}

/**
 * Waits until the host is ready.
 *
 * @param other the host that it needs for that.
 * @throws Error with the output of both if it exits instead.
 */
async function ready(server: TestServer, other?: TestServer): Promise<void> {
  await until('the host is ready', async () => {
    if (server.child.exitCode !== null) {
      const needed = other === undefined ? '' : `; the other host: ${other.said()}`;
      throw new Error(`it has ended: ${server.said()}${needed}`);
    }
    return (await readiness(server)).status === 200;
  });
}

/** A node of etcd that falls silent: it takes the requests that come then, and does not respond. */
async function startSilencing(isSilent: () => boolean) {
  let held = 0;
  const server = createServer((incoming, outgoing) => {
    if (isSilent()) {
      held += 1;
      return;
    }
    const { method, headers, url = '' } = incoming;
    const to = requestTo(`${etcd.endpoints[0]}${url}`, { method, headers, agent: false });
    to.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(outgoing);
    });
    to.on('error', (error) => outgoing.destroy(error));
    incoming.pipe(to);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: (prefix: string) => `etcd://127.0.0.1:${(server.address() as AddressInfo).port}/${prefix}`,
    held: () => held,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const book = (name: string) => ({ body: { name, pub_date: '2026-11-22' } });

test('a host with an empty directory fetches its base from another host as soon as one is up', async () => {
  const data = temporaryDirectory();
  let old = await startOld('shop', data);
  // All other hosts are down. After a normal stop they are no longer registered.
  await old.stop();
  const empty = temporaryDirectory();
  const young = await start('shop', empty);
  const { status, text } = await readiness(young);
  assert.is(status, 503);
  assert.match(text, /is fetching a base from another host \(0 %\)/);
  assert.is((await fetch(`${young.url}/healthz`)).status, 200);
  const read = await send(young, 'GET', '/books/1/', { undescribed: 'there is no catalog yet' });
  assert.is(read.status, 503);
  await until('it says what it waits for', () =>
    young.said().includes('no other host with --advertise has reported yet'),
  );

  old = await start('shop', data);
  await ready(old);
  await ready(young, old);
  // The log arrives over another pipe than the responses.
  await until('it says what it took', () =>
    /fetched a base of \d+ bytes as of change set 3/.test(young.said()),
  );
  assert.is((await send(young, 'GET', '/books/1/')).json.name, 'one');
  const written = await send(young, 'POST', '/books/', book('four'));
  assert.is(written.status, 201);
  await until('the old host has it', async () => {
    return (await send(old, 'GET', `/books/${written.json.id}/`)).status === 200;
  });
  assert.is(await backupOf(empty), await backupOf(data));
});

test('a host with other keys gets no base, and its directory cannot be served alone', async () => {
  await startOld('keys', temporaryDirectory());
  const data = temporaryDirectory();
  const stranger = await start('keys', data, { env: { CATALOG_JWT_SECRET: SECRET } });
  await until('it says why', () => stranger.said().includes('have the same CATALOG_JWT_SECRET'));
  assert.is((await readiness(stranger)).status, 503);
  assert.is((await stranger.stop()).status, 0, 'it ends in order');
  const alone = await runCommand(['serve', '--data', data, '--port', '0']);
  assert.is(alone.status, 1);
  assert.match(alone.stderr, 'only serve --log may write to it');
});

test('a host that is stopped when it has its base, and the log has fallen silent, ends in order', async () => {
  await startOld('silent', temporaryDirectory());
  const data = temporaryDirectory();
  await using node = await startSilencing(() => existsSync(join(data, DATA_FILES.base)));
  const young = await start('silent', data, { log: node.url('silent') });
  await until('it waits for the log', () => node.held() > 0);
  const { status, stderr } = await young.stop();
  assert.is(status, 0, stderr);
  assert.not.match(stderr, 'cannot be used');
});

uvuTest.run();
