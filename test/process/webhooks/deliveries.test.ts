/** spec 14.7: deliveries of a server that is killed, and of one that is stopped. */
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createConnections } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make } from '../../support/catalog.ts';
import { tokenFor } from '../../support/client.ts';
import { measured, valuesOf } from '../../support/metrics.ts';
import { killServers, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

interface Delivery {
  readonly id: string;
  readonly names: readonly unknown[];
}

/** Verified deliveries, in order. The receiver responds only while `answers` is true. */
const received: Delivery[] = [];
const unanswered: ServerResponse[] = [];
let secret = '';
let answers = true;

const receiver = createServer((incoming, outgoing) => {
  let body = '';
  incoming.setEncoding('utf8').on('data', (chunk) => (body += chunk));
  incoming.on('end', () => {
    const headers = incoming.headers as Record<string, string>;
    const { data } = new Webhook(secret).verify(body, headers) as {
      data: { after: { name: string } }[];
    };
    received.push({ id: headers['webhook-id'] ?? '', names: data.map(({ after }) => after.name) });
    if (answers) outgoing.writeHead(204).end();
    else unanswered.push(outgoing);
  });
});

test.before(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)));

test.after(async () => {
  await killServers();
  receiver.closeAllConnections();
  receiver.close();
});

test('a delivery without a response is repeated after a kill, with the same id and in order', async () => {
  const server = await startServer();
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  ({ secret } = await make(server, '/admin/webhooks/', { url }));
  await make(server, '/admin/brands/', { name: 'A' });
  await until('A arrives', () => received.length === 1);
  answers = false;
  await make(server, '/admin/brands/', { name: 'B' });
  await make(server, '/admin/brands/', { name: 'C' });
  await until('B arrives', () => received.length >= 2);
  await server.kill();
  answers = true;
  const again = await startServer({ data: server.data });
  const names = () => received.flatMap((each) => each.names);
  await until('C arrives', () => names().includes('C'));
  const last = names().lastIndexOf('B');
  assert.equal(names().slice(last), ['B', 'C']);
  assert.ok(last > names().indexOf('B'), 'B arrives again');
  const byName = Map.groupBy(received, (each) => String(each.names[0]));
  for (const [name, all] of byName) {
    assert.is(new Set(all.map(({ id }) => id)).size, 1, `${name} has one id at every attempt`);
  }
  const { status } = await again.stop();
  assert.is(status, 0);
});

test('a failed delivery is counted as failed, and its webhook as failing', async () => {
  const { server, operator } = await measured();
  const hangUp = createConnections((socket) => socket.destroy());
  await new Promise<void>((resolve) => hangUp.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = hangUp.address() as AddressInfo;
    await make(server, '/admin/webhooks/', { url: `http://127.0.0.1:${port}/` });
    await make(server, '/admin/brands/', { name: 'F' });
    const value = async (name: string) => (await valuesOf(operator)).get(name) ?? Number.NaN;
    const attempts = (outcome: string) =>
      value(`catalog_webhook_deliveries_total{outcome="${outcome}"}`);
    const counted = async () => (await attempts('failed')) + (await attempts('delivered'));
    await until('an attempt is counted', async () => (await counted()) >= 1);
    assert.is(await attempts('delivered'), 0);
    await until('it fails', async () => (await value('catalog_webhooks_failing')) === 1);
  } finally {
    hangUp.close();
  }
  assert.is((await server.stop()).status, 0);
});

test('a stop ends waiting requests, streams and deliveries; metrics count them while they run', async () => {
  const { server, operator } = await measured();
  const { port } = receiver.address() as AddressInfo;
  ({ secret } = await make(server, '/admin/webhooks/', { url: `http://127.0.0.1:${port}/` }));
  const value = async (name: string) => (await valuesOf(operator)).get(name);
  await make(server, '/admin/brands/', { name: 'D' });
  const delivered = 'catalog_webhook_deliveries_total{outcome="delivered"}';
  await until('D is delivered', async () => (await value(delivered)) === 1);
  // An attempt counts before the webhook moves on to the next change set.
  await until('nothing is left', async () => (await value('catalog_webhook_lag')) === 0);
  assert.is(await value('catalog_webhooks_failing'), 0);
  answers = false;
  const before = received.length;
  await make(server, '/admin/brands/', { name: 'E' });
  await until('E arrives', () => received.length > before);
  assert.is(await value('catalog_webhook_lag'), 1);
  const headers = { authorization: `Bearer ${await tokenFor('viewer')}` };
  const accept = 'text/event-stream';
  const stream = await fetch(`${server.url}/admin/changes/?since=0`, {
    headers: { ...headers, accept },
  });
  const waiting = fetch(`${server.url}/admin/changes/?wait=60s`, { headers });
  await until('both wait', async () => (await value('catalog_change_readers')) === 2);
  let text = '';
  const reading = (async () => {
    for await (const piece of stream.body ?? []) text += Buffer.from(piece).toString();
  })();
  await until('the stream has sent two', () => /^id: \d+\ndata: \[[^\n]*\]\n\nid: /.test(text));
  const finished = server.stop();
  // A request that is still running after 10 seconds would get no response.
  assert.equal([(await waiting).status, await (await waiting).json()], [200, []]);
  await reading;
  assert.is((await finished).status, 0);
});

test.run();
