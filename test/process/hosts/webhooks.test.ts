/** Webhooks of hosts that share a log: one host delivers, and another takes over (spec 15.28). */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { make } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { type Etcd, HAS_ETCD, startEtcd, testWithEtcd as test } from '../../support/etcd.ts';
import { freePorts } from '../../support/ports.ts';
import { killServers } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Host } from './cluster-ledger.ts';

/** Verified deliveries, in order. */
const received: { readonly id: string; readonly name: string }[] = [];
let secret = '';

const receiver = createServer((incoming, outgoing) => {
  let body = '';
  incoming.setEncoding('utf8').on('data', (chunk) => (body += chunk));
  incoming.on('end', () => {
    const headers = incoming.headers as Record<string, string>;
    const { data } = new Webhook(secret).verify(body, headers) as {
      data: { after: { name: string } }[];
    };
    received.push({ id: headers['webhook-id'] ?? '', name: data[0]?.after.name ?? '' });
    outgoing.writeHead(204).end();
  });
});

let etcd: Etcd;

uvuTest.before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  if (HAS_ETCD) etcd = await startEtcd(1);
});

uvuTest.after(async () => {
  await killServers();
  receiver.closeAllConnections();
  receiver.close();
  if (HAS_ETCD) await etcd.close();
});

/** Creates a brand; repeats the request until the response is 201. */
async function create(host: Host, name: string): Promise<void> {
  await until(`${name} is created`, async () => {
    const { status } = await send(host, 'POST', '/admin/brands/', {
      body: { name },
      headers: { 'Idempotency-Key': name },
      undescribed: 'the writer was killed',
    });
    return status === 201;
  });
}

const names = () => received.map(({ name }) => name);

/** The names of new deliveries, as seen by a receiver that drops known ids. */
function newIn(later: typeof received, earlier: typeof received): string[] {
  const seen = new Set(earlier.map(({ id }) => id));
  return later.flatMap(({ id, name }) => {
    if (seen.has(id)) return [];
    seen.add(id);
    return [name];
  });
}

test('one host delivers; if it is killed or stopped, another delivers the next changes in order', async () => {
  const [first, second] = (await freePorts(2)).map((port) => new Host(etcd, port)) as [Host, Host];
  await first.start();
  await first.ready();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  ({ secret } = await make(first, '/admin/webhooks/', { url, resources: ['brands'] }));
  await create(first, 'A');
  await until('the first host delivers', () => received.length === 1);
  await second.start();
  await second.ready();
  for (const name of ['B', 'C']) await create(first, name);
  for (const name of ['D', 'E']) await create(second, name);
  await until('all of them arrive', () => names().includes('E'));
  for (const host of [first, second]) {
    const list = () => send(host, 'GET', '/admin/webhooks/1/deliveries/');
    await until('a host has the list', async () => (await list()).json.length === 5);
  }
  assert.equal(names(), ['A', 'B', 'C', 'D', 'E'], 'none comes twice from two hosts');

  await first.kill();
  for (const name of ['F', 'G', 'H']) await create(second, name);
  await until('the second host has taken over', () => names().includes('H'));
  const [earlier, later] = [received.slice(0, 5), received.slice(5)];
  assert.equal(newIn(later, earlier), ['F', 'G', 'H']);

  // After a normal stop, the next host continues exactly where the last one ended.
  await first.start();
  await first.ready();
  const { length } = received;
  await second.stop();
  await create(first, 'I');
  await until('the first host delivers again', () => received.length > length);
  assert.equal(names().slice(length), ['I']);
});

uvuTest.run();
