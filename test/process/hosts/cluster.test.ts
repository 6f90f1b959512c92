/**
 * Three hosts over three etcd nodes (spec 15.20 to 15.27). A long run:
 * `KILLS=100 bun test/process/hosts/cluster.test.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { parseLogAddress } from '../../../src/hosts/cluster/address.ts';
import { EtcdClient } from '../../../src/hosts/cluster/etcd-client.ts';
import { readLiveHosts } from '../../../src/hosts/cluster/registry.ts';
import { createCatalog } from '../../support/catalog.ts';
import { type Received, send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  CALL_MS,
  type Etcd,
  HAS_ETCD,
  startEtcd,
  testWithEtcd as test,
} from '../../support/etcd.ts';
import { measured, valuesOf } from '../../support/metrics.ts';
import { killServers, runCommand, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { type Host, Ledger, startHosts } from './cluster-ledger.ts';
import { Registers } from './register-clients.ts';

const KILLS = Number(process.env['KILLS'] || 20);

const WRITERS = 6;

/** Number of rows that clients read and write through any host, and number of these clients. */
const REGISTERS = 3;
const CLIENTS = 4;

let etcd: Etcd;
let hosts: Host[] = [];

uvuTest.before(async () => {
  if (!HAS_ETCD) return;
  etcd = await startEtcd();
  hosts = await startHosts(etcd);
});

uvuTest.after(async () => {
  for (const host of hosts) host.signal('SIGCONT');
  await killServers();
  if (HAS_ETCD) await etcd.close();
});

const hostAt = (nth: number): Host => hosts[nth % hosts.length] as Host;

/** Failures, each followed by its repair. */
const BLOWS: readonly ((nth: number) => Promise<void>)[] = [
  async (nth) => {
    await hostAt(nth).kill();
    await hostAt(nth).start();
  },
  async (nth) => {
    // Until it has ended, it holds its port and its files.
    await etcd.kill(nth % 3);
    await pause(300);
    etcd.start(nth % 3);
  },
  async (nth) => {
    hostAt(nth).signal('SIGSTOP');
    await pause(1000);
    hostAt(nth).signal('SIGCONT');
  },
  async (nth) => {
    etcd.signal(nth % 3, 'SIGSTOP');
    await pause(1000);
    etcd.signal(nth % 3, 'SIGCONT');
  },
];

/** Writes until a host answers that it is done: after a pause it may be unknown for a while. */
async function writeUntilDone(
  host: Host,
  method: string,
  path: string,
  body: object,
): Promise<Received> {
  let answer: Received | undefined;
  await until(`${method} ${path} is done`, async () => {
    answer = await send(host, method, path, { body });
    if (answer.status !== 503) assert.is(answer.status, 200, answer.text);
    return answer.status === 200;
  });
  return answer as Received;
}

async function inStep(): Promise<void> {
  for (const host of hosts) await host.ready();
  const book = { name: 'last', pub_date: '2024-02-29' };
  const { headers } = await writeUntilDone(hostAt(0), 'PUT', '/books/1/', book);
  const wanted = Number(headers.get('catalog-sequence'));
  for (const host of hosts) {
    await until('a host has everything', async () => {
      const answer = await fetch(`${host.url}/healthz`);
      return Number(answer.headers.get('catalog-sequence')) >= wanted;
    });
  }
}

test('under kills and pauses, every host has each answered write once, and rows are linearizable', async () => {
  const { sku } = await createCatalog(hostAt(0));
  await send(hostAt(0), 'POST', '/books/', { body: { name: 'first', pub_date: '2024-02-29' } });
  const ledger = new Ledger(hosts);
  const registers = new Registers(hosts);
  await registers.create(REGISTERS);
  const writing = Array.from({ length: WRITERS }, (_, nth) => ledger.write(nth));
  const working = Array.from({ length: CLIENTS }, () => registers.work());
  try {
    for (let nth = 0; nth < KILLS; nth += 1) {
      const before = ledger.created.size;
      await (BLOWS[nth % BLOWS.length] as (nth: number) => Promise<void>)(
        Math.floor(nth / 4) + nth,
      );
      await until('writes are answered again', () => ledger.created.size > before + WRITERS);
    }
  } finally {
    ledger.end();
    registers.end();
    await Promise.all([...writing, ...working]);
  }
  process.stdout.write(
    `${KILLS} kills and pauses: ${ledger.created.size} books; ${registers.answers} answers of ${REGISTERS} rows, ${registers.unknown} writes without one\n`,
  );
  registers.judge();
  await writeUntilDone(hostAt(1), 'PATCH', `/admin/skus/${sku}/`, { price: 4321 });
  await inStep();
  const ids = [...ledger.created.values()];
  assert.is(new Set(ids).size, ids.length, 'no id is given twice');
  for (const host of hosts) {
    const books = (await send(host, 'GET', '/books/')).json as { id: number; name: string }[];
    const byName = new Map(books.map(({ id, name }) => [name, id]));
    assert.is(byName.size, books.length, 'nothing is created twice');
    for (const [name, id] of ledger.created) assert.is(byName.get(name), id, name);
  }
  const backups = await Promise.all(hosts.map(backupOf));
  assert.ok(
    backups.every((bytes) => bytes.equals(backups[0] as Buffer)),
    'backups are equal',
  );
  const pages = await Promise.all(
    hosts.map(async ({ url }) => (await fetch(`${url}/pages/skus/${sku}.html`)).text()),
  );
  assert.equal(new Set(pages).size, 1, 'pages are equal');
  assert.ok(pages[0]?.includes('43.21') === true || pages[0]?.includes('4321') === true);
});

async function backupOf({ data }: Host): Promise<Buffer> {
  const file = join(temporaryDirectory(), 'backup.json');
  const { status, stderr } = await runCommand(['backup', '--data', data, file]);
  assert.is(status, 0, stderr);
  return readFileSync(file);
}

test('a token revoked on one host is 401 on all hosts', async () => {
  const token = await tokenFor('viewer', { sub: 'leaver' });
  const seen = (host: Host) => send(host, 'GET', '/admin/skus/', { token });
  for (const host of hosts) assert.is((await seen(host)).status, 200);
  // A command on one host, while its server runs.
  const { data } = hostAt(2);
  const revoked = await runCommand(['tokens', 'revoke', '--data', data, '--subject', 'leaver']);
  assert.is(revoked.status, 0, revoked.stderr);
  assert.is((await seen(hostAt(2))).status, 401, 'at once on the host of the command');
  for (const host of hosts) {
    await until('the token has ended', async () => (await seen(host)).status === 401);
  }
});

test('hosts that have their secret from the environment make no signing keys', () => {
  for (const { data } of hosts) {
    assert.ok(existsSync(join(data, DATA_FILES.webhookKey)));
    assert.not.ok(existsSync(join(data, DATA_FILES.keys)));
  }
});

test('without a majority public reads work, writes and tokens are 503, and no host is ready', async () => {
  etcd.signal(0, 'SIGSTOP');
  etcd.signal(1, 'SIGSTOP');
  await until('two nodes stand still', () => etcd.isStopped(0) && etcd.isStopped(1));
  try {
    const body = { name: 'nobody knows', pub_date: '2024-02-29' };
    const headers = { 'Idempotency-Key': 'unknown' };
    const write = () => send(hostAt(0), 'POST', '/books/', { headers, body });
    assert.is((await write()).status, 503);
    for (const host of hosts) {
      await until('the host is not ready', async () => {
        return (await fetch(`${host.url}/readyz`)).status === 503;
      });
      assert.is((await send(host, 'GET', '/books/1/')).status, 200);
    }
    assert.is((await write()).status, 503);
    const cutOff = () => send(hostAt(1), 'GET', '/admin/skus/', { undescribed: 'a 503' });
    await until('a host that is cut off accepts no token', async () => {
      return (await cutOff()).status === 503;
    });
  } finally {
    etcd.signal(0, 'SIGCONT');
    etcd.signal(1, 'SIGCONT');
  }
  for (const host of hosts) await host.ready();
});

test('metrics say how far behind the log a host is, and for how long the log was silent', async () => {
  const { server, operator } = await measured({ args: ['--log', etcd.url('measured')] });
  const book = { name: 'Emma', pub_date: '1815-12-23' };
  assert.is((await send(server, 'POST', '/books/', { body: book })).status, 201);
  const values = await valuesOf(operator);
  assert.is(values.get('catalog_log_behind'), 0);
  assert.ok((values.get('catalog_log_silence_seconds') ?? Number.NaN) >= 0);
  await server.stop();
});

test('a host that is stopped is no longer registered', async () => {
  const url = etcd.url('stopped');
  const host = await startServer({ args: ['--log', url, '--log-timeout', '1m'] });
  const client = new EtcdClient({
    endpoints: etcd.endpoints,
    prefix: parseLogAddress(url).prefix,
    timeoutMs: CALL_MS,
  });
  const registered = () => readLiveHosts(client);
  await until('it is registered', async () => (await registered()).length === 1);
  assert.is((await host.stop()).status, 0);
  assert.equal(await registered(), []);
});

test('a host that answers for another one does not show an import of its own in its place', async () => {
  /** Imports a brand at a host of its own, which then stops. @returns the answer to both requests. */
  const importAt = async (asked: string | null) => {
    const server = await startServer({
      data: temporaryDirectory(),
      args: ['--log', etcd.url('imports')],
    });
    const body = [{ name: 'Quill' }];
    let sent: Received | undefined;
    await until('the import is received', async () => {
      sent = await send(server, 'POST', '/admin/brands/imports/', { body });
      return sent.status === 202;
    });
    const found = asked === null ? null : (await send(server, 'GET', asked)).status;
    await server.stop();
    return { location: sent?.headers.get('location') ?? '', found };
  };
  const { location: first } = await importAt(null);
  const second = await importAt(first);
  assert.is.not(second.location, first);
  assert.is(second.found, 404);
});

test('a store with a different history cannot join the log', async () => {
  const data = temporaryDirectory();
  await runCommand(['migrate', '--data', data, '--demo']);
  const start = () =>
    startServer({ data, args: ['--log', etcd.url('shop')] }).then(
      () => '',
      (error: unknown) => String(error),
    );
  assert.match(await start(), 'different histories');
});

test('serve without --log fails in the directory of a host of the log', async () => {
  const host = hostAt(2);
  await host.kill();
  const served = await runCommand(['serve', '--data', host.data, '--port', '0']);
  assert.is(served.status, 1);
  assert.match(served.stderr, 'cluster.json');
  await host.start();
  await host.ready();
});

uvuTest.run();
