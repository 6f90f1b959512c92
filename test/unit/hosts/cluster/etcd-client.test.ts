/** To which node of etcd a call is sent. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdClient } from '../../../../src/hosts/cluster/etcd-client.ts';

const TIMEOUT_MS = 500;

const servers: Server[] = [];

interface EtcdResponse {
  readonly status: number;
  readonly body: object;
}

/** A node; while it has no answer it accepts requests and does not respond. */
async function node(first?: EtcdResponse) {
  const asked: string[] = [];
  let answer = first;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (answer === undefined) return;
    response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const become = (other: EtcdResponse) => void (answer = other);
  return { url: `http://127.0.0.1:${port}`, asked, become };
}

const clientOf = (nodes: readonly { url: string }[]) =>
  new EtcdClient({ endpoints: nodes.map(({ url }) => url), prefix: '/', timeoutMs: TIMEOUT_MS });

const UP = { status: 200, body: { kvs: [] } };
const WITHOUT_MAJORITY = { status: 503, body: { error: 'etcdserver: no leader', code: 14 } };

test.after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

test('the first call finds a node that answers, and later calls are sent to it', async () => {
  const [silent, alone, up] = [await node(), await node(WITHOUT_MAJORITY), await node(UP)];
  const off = { url: 'http://127.0.0.1:1' };
  const client = clientOf([silent, off, alone, up]);
  assert.equal(await client.call('kv/txn', {}), UP.body);
  assert.equal(await client.call('lease/grant', {}), UP.body);
  assert.equal(up.asked, ['/v3/kv/range', '/v3/kv/txn', '/v3/lease/grant']);
  assert.equal([silent.asked, alone.asked], [['/v3/kv/range'], ['/v3/kv/range']], 'asked once');
});

test('a refusal of the login by a node is reported as the error of the call', async () => {
  const refusal = { status: 400, body: { error: 'etcdserver: user name is empty', code: 3 } };
  const client = clientOf([{ url: 'http://127.0.0.1:1' }, await node(refusal)]);
  const error = await client.call('kv/txn', {}).then(
    () => null,
    (thrown: unknown) => String(thrown),
  );
  assert.match(error ?? '', 'does not accept the user and password');
});

test('if no node answers, calls fail with the errors of the nodes in turn', async () => {
  const [silent, alone] = [await node(), await node(WITHOUT_MAJORITY)];
  const client = clientOf([alone, silent]);
  const failure = () => client.call('kv/txn', {}).catch((thrown: unknown) => String(thrown));
  assert.match(String(await failure()), 'etcd does not answer: etcdserver: no leader');
  assert.match(String(await failure()), `no answer in ${TIMEOUT_MS} ms`);
  assert.match(String(await failure()), 'no leader', 'in turn');
});

test('after failures the calls find a node that recovers, and are sent to it from then on', async () => {
  const [one, two] = [await node(WITHOUT_MAJORITY), await node(WITHOUT_MAJORITY)];
  const client = clientOf([one, two]);
  const answer = () => client.call('kv/txn', {}).catch((thrown: unknown) => String(thrown));
  for (let each = 0; each < 2; each += 1) assert.match(String(await answer()), 'no leader');
  two.become(UP);
  const answers = [await answer(), await answer(), await answer()];
  assert.match(String(answers[0]), 'no leader', 'it is the turn of the first node');
  assert.equal(answers.slice(1), [UP.body, UP.body]);
});

test('a response of more than 64 MiB is refused, without its length or compressed as well', async () => {
  const json = Buffer.alloc(65 * 1024 * 1024, ' ');
  json.write('{}');
  const packed = gzipSync(json);
  const server = createServer(({ url }, response) => {
    if (url === '/v3/packed') response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    // Its length is not known before it is sent.
    else response.writeHead(200).write(json, () => response.end());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // The time must not end the calls.
  const timeoutMs = 60_000;
  const endpoints = [`http://127.0.0.1:${port}`];
  const client = new EtcdClient({ endpoints, prefix: '/', timeoutMs });
  for (const path of ['plain', 'packed']) {
    const failure = await client.call(path, {}).catch((thrown: unknown) => String(thrown));
    assert.match(String(failure), 'the answer is too long', path);
  }
});

test.run();
