/**
 * Requests to other hosts and to etcd (spec 15.10): they are not sent to the proxy of the
 * environment, certificates are verified whatever the environment says, and redirects are not
 * followed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdClient } from '../../../src/hosts/cluster/etcd-client.ts';
import { EtcdLog } from '../../../src/hosts/cluster/etcd-log.ts';
import { responds } from '../../../src/hosts/cluster/probe.ts';
import { HttpPrimary } from '../../../src/hosts/following/primary-client.ts';
import { Forwarder } from '../../../src/hosts/forwarding/forwarder.ts';
import { make } from '../../support/catalog.ts';
import { tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { CALL_MS, makeCertificate, startEtcd, testWithEtcd } from '../../support/etcd.ts';
import { freePorts } from '../../support/ports.ts';
import { type ForwardProxy, startForwardProxy } from '../../support/forward-proxy.ts';
import { requestWith } from '../../support/request.ts';
import { killServers, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test.after.each(killServers);

/** A server with a certificate that no authority has signed, and the paths that it was asked for. */
class Host implements AsyncDisposable {
  readonly asked: string[] = [];
  /** Another origin, to which all requests are redirected. */
  movedTo: string | null = null;
  readonly #server: Server;
  readonly #scheme: string;

  constructor(scheme: 'http' | 'https') {
    const answer: Parameters<typeof createServer>[1] = ({ url }, response) => {
      this.asked.push(url ?? '');
      const location = { ...(this.movedTo !== null && { location: `${this.movedTo}${url}` }) };
      // A forwarder sends a body without a length on in pieces, which nothing reads here.
      response.writeHead(this.movedTo === null ? 200 : 307, { ...location, 'content-length': '2' });
      response.end('{}');
    };
    this.#scheme = scheme;
    if (scheme === 'http') {
      this.#server = createServer(answer);
      return;
    }
    const { cert, key } = makeCertificate(temporaryDirectory());
    this.#server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, answer);
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Makes one request of each kind. Whether it succeeds does not matter. */
async function askInEveryWay(origin: string, certificates?: { ca: string }): Promise<void> {
  const etcd = new EtcdClient({ endpoints: [origin], prefix: '/', certificates });
  const forwarder = new Forwarder({ maxOpen: 1 });
  const address = { origin, basePath: '' };
  const primary = new HttpPrimary({ address, token: () => 'secret', version: '1' });
  await Promise.allSettled([
    etcd.call('kv/txn', {}),
    forwarder.forward(requestWith({ path: '/books/' }), origin),
    primary.state(null),
    responds(origin),
  ]);
}

const EVERY_WAY = ['/admin/hosts/state/', '/books/', '/healthz', '/v3/kv/txn'];

/** Runs `work` with variables of the environment. */
async function withEnvironment(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<void>,
): Promise<void> {
  const names = Object.keys(variables);
  const before = names.map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

test('no request to a host or to etcd is sent to the proxy of the environment', async () => {
  await using proxy = await startForwardProxy();
  await using host = new Host('http');
  const origin = await host.listen();
  await withEnvironment(proxy.environment, async () => {
    await fetch(`${origin}/other`);
    assert.equal(proxy.requests, [`GET ${origin}/other`], 'other requests are');
    await askInEveryWay(origin);
    await askInEveryWay('https://127.0.0.1:1');
  });
  assert.is(proxy.requests.length, 1, proxy.requests.join('\n'));
  assert.equal(host.asked.sort(), [...EVERY_WAY, '/other'].sort());
});

test('a redirect is not followed, so no other server gets the token', async () => {
  await using other = new Host('http');
  await using host = new Host('http');
  host.movedTo = await other.listen();
  await askInEveryWay(await host.listen());
  assert.equal(host.asked.sort(), EVERY_WAY);
  assert.equal(other.asked, []);
});

test('certificates are verified also with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  await using host = new Host('https');
  const origin = await host.listen();
  const { ca } = makeCertificate(temporaryDirectory());
  await withEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, async () => {
    assert.is((await fetch(`${origin}/other`)).status, 200, 'those of other requests are not');
    await askInEveryWay(origin);
    await askInEveryWay(origin, { ca: readFileSync(ca, 'utf8') });
  });
  assert.equal(host.asked, ['/other']);
});

test('a follower reaches its primary without the proxy, and webhooks use it', async () => {
  await using proxy = await startForwardProxy();
  await using receiver = new Host('http');
  const env = proxy.environment;
  const primary = await startServer({ args: ['--followers'], env });
  const url = `${await receiver.listen()}/hook`;
  await make(primary, '/admin/webhooks/', { url });
  const token = join(temporaryDirectory(), 'token');
  writeFileSync(token, await tokenFor('admin'), { mode: 0o600 });
  const args = ['--follow', primary.url, '--token-file', token];
  const follower = await startServer({ data: temporaryDirectory(), args, env });
  await ready(follower.url);
  await make(follower, '/admin/brands/', { name: 'A' });
  await until('the delivery arrives', () => receiver.asked.length > 0);
  assert.equal([...new Set(proxy.requests)], [`POST ${url}`]);
});

testWithEtcd('hosts reach etcd and each other without the proxy', async () => {
  await using proxy = await startForwardProxy();
  const etcd = await startEtcd(1);
  try {
    const first = await startMember(etcd.url('shop'), proxy);
    await ready(first.url);
    for (const name of ['A', 'B', 'C']) await make(first, '/admin/brands/', { name });
    const { endpoints } = etcd;
    const client = new EtcdClient({ endpoints, prefix: '/shop/', timeoutMs: CALL_MS });
    await new EtcdLog(client).trim(3);
    // The log does not have all change sets, so this host fetches a base from the first one.
    const second = await startMember(etcd.url('shop'), proxy);
    await ready(second.url);
    // The first host is the writer.
    await make(second, '/admin/brands/', { name: 'D' });
    assert.equal(proxy.requests, []);
  } finally {
    await killServers();
    await etcd.close();
  }
});

async function startMember(log: string, { environment }: ForwardProxy) {
  const [port] = await freePorts(1);
  const own = ['--port', `${port}`, '--advertise', `http://127.0.0.1:${port}`];
  return startServer({
    data: temporaryDirectory(),
    args: [...own, '--log', log],
    env: environment,
  });
}

const ready = (url: string) =>
  until('the host is ready', async () => (await fetch(`${url}/readyz`)).status === 200);

test.run();
