/** Several promotions among hosts that follow each other (spec 15.14, 15.15). */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HttpPrimary } from '../../../src/hosts/following/primary-client.ts';
import { send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { portFlags } from '../../support/ports.ts';
import { killServers, runCommand, startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after.each(killServers);

const port = ({ url }: { readonly url: string }) => ['--port', new URL(url).port];

/** Starts a host that follows `primary`, and waits until it has every change set. */
async function follow(primary: TestServer): Promise<TestServer> {
  const file = join(temporaryDirectory(), 'token');
  writeFileSync(file, await tokenFor('admin'), { mode: 0o600 });
  const following = ['--followers', '--follow', primary.url, '--token-file', file];
  const args = [...following, ...(await portFlags())];
  const follower = await startServer({ data: temporaryDirectory(), args });
  const ready = { undescribed: 'the catalog may be closed' };
  await until(
    'the follower is in step',
    async () => (await send(follower, 'GET', '/readyz', ready)).status === 200,
  );
  return follower;
}

/** Promotes the directory of a stopped host, and starts it at its address. */
async function promote(host: TestServer, ...args: readonly string[]) {
  const { status, stdout, stderr } = await runCommand(['promote', '--data', host.data, ...args]);
  assert.is(status, 0, stderr);
  const primary = await startServer({ data: host.data, args: ['--followers', ...port(host)] });
  return { primary, stdout };
}

const write = (server: TestServer) =>
  send(server, 'POST', '/books/', {
    body: { name: 'A book', pub_date: '2026-11-22', readcount: 0, commentcount: 0 },
  });

const isRefused = (server: TestServer) =>
  until('it takes no more writes', async () => (await write(server)).status === 503);

test('spec 15.15: a former primary that is promoted again begins a later epoch than its successor, and informs it', async () => {
  const a = await startServer({ demo: true, args: ['--followers', ...(await portFlags())] });
  const b = await follow(a);
  await b.stop();
  const { primary: successor } = await promote(b);
  await isRefused(a);
  await successor.kill();
  await a.stop();
  const { primary, stdout } = await promote(a, '--notify', b.url);
  assert.match(stdout, /epoch 3 begins/);
  assert.is((await write(primary)).status, 201);
  // It comes back without knowing, at its address.
  const back = await startServer({ data: b.data, args: port(b) });
  await isRefused(back);
  assert.match((await back.stop()).stderr, /another host was made the primary in epoch 3/);
});

test('spec 15.15: a primary that was lost two promotions ago is informed when it comes back', async () => {
  const a = await startServer({ demo: true, args: ['--followers', ...(await portFlags())] });
  const b = await follow(a);
  await a.kill();
  await b.stop();
  const { primary: second } = await promote(b);
  const c = await follow(second);
  await second.kill();
  await c.stop();
  const { primary: third } = await promote(c);
  assert.is((await write(third)).status, 201);
  for (const { data, url } of [a, b]) {
    const back = await startServer({ data, args: port({ url }) });
    await isRefused(back);
    assert.match((await back.stop()).stderr, /another host was made the primary in epoch 3/);
  }
  assert.is((await write(third)).status, 201);
});

test('the state of an earlier version, without predecessors, is accepted', async () => {
  const digest = 'd'.repeat(64);
  const state = {
    history: 'a'.repeat(32),
    epochs: [{ number: 1, writer: 'b'.repeat(32), after: 0 }],
    role: 'primary',
    primary: null,
    schema: 5,
    sequence: 1,
    digest,
    base_bytes: 1,
    credentials: digest,
    secret: null,
  };
  const server = createServer((_, outgoing) => outgoing.end(JSON.stringify(state)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const address = { origin, basePath: '' };
  const primary = new HttpPrimary({ address, token: () => 'a.b.c', version: '0' });
  assert.equal(await primary.state(null), { ...state, predecessors: [] });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test.run();
