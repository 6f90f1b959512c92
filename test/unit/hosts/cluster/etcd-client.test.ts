/** To which node of etcd a call is sent. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { EtcdClient } from '../../../../src/hosts/cluster/etcd-client.ts';
import { until } from '../../../support/until.ts';

/** Milliseconds after which a node counts as silent; a node that is to answer gets much more. */
const SHORT_MS = 2000;
const LONG_MS = 60_000;

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

const clientOf = (nodes: readonly { url: string }[], timeoutMs = LONG_MS) =>
  new EtcdClient({ endpoints: nodes.map(({ url }) => url), prefix: '/', timeoutMs });

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
  await until('each was asked', () => silent.asked.length * alone.asked.length > 0);
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
  const client = clientOf([alone, silent], SHORT_MS);
  const failure = () => client.call('kv/txn', {}).catch((thrown: unknown) => String(thrown));
  assert.match(String(await failure()), 'etcd does not answer: etcdserver: no leader');
  assert.match(String(await failure()), `no answer in ${SHORT_MS} ms`);
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
  const client = clientOf([{ url: `http://127.0.0.1:${port}` }]);
  for (const path of ['plain', 'packed']) {
    const failure = await client.call(path, {}).catch((thrown: unknown) => String(thrown));
    assert.match(String(failure), 'the answer is too long', path);
  }
});

/** A node that handles requests itself, and the number of its open connections. */
async function rawNode(handle: (response: ServerResponse) => void) {
  let open = 0;
  const server = createServer((request, response) => {
    response.on('error', () => {});
    request.resume().on('end', () => handle(response));
  });
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => void (open -= 1));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, open: () => open };
}

const watched = (client: EtcdClient, signal = new AbortController().signal) =>
  Array.fromAsync(client.watch({}, signal)).catch((thrown: unknown) => String(thrown));

test('what is not answered in time is ended, so that its connection is closed', async () => {
  const { url, open } = await rawNode(() => {});
  const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: 50 });
  for (let nth = 0; nth < 5; nth += 1) {
    assert.match(String(await watched(client)), 'in 50 ms');
    assert.match(await client.call('kv/txn', {}).then(String, messageOf), 'in 50 ms');
  }
  await until('its connections are closed', () => open() === 0);
});

/** A node that has no majority for calls, and keeps the watches that are opened at it. */
async function aloneWithWatches() {
  let watches = 0;
  const { url } = await rawNode((response) => {
    const path = response.req.url;
    if (path === '/v3/watch') {
      watches += 1;
      response.writeHead(200).write('{}\n');
    } else if (path === '/v3/kv/range') response.writeHead(200).end('{}');
    else response.writeHead(503).end(JSON.stringify(WITHOUT_MAJORITY.body));
  });
  return { url, watches: () => watches };
}

test('when a call leaves a node, the watches at it end: it may be frozen', async () => {
  const [failing, up] = [await aloneWithWatches(), await node()];
  const client = clientOf([failing, up]);
  const watches = [watched(client), watched(client)];
  await until('the watches are open', () => failing.watches() === 2);
  assert.match(String(await client.call('kv/txn', {}).catch(messageOf)), 'no leader');
  for (const failure of await Promise.all(watches)) assert.match(String(failure), 'was aborted');
  up.become(UP);
  assert.equal(await client.call('kv/txn', {}), UP.body, 'they leave no other node');
});

test('when a call to the only node fails, the watches at it end as well', async () => {
  const failing = await aloneWithWatches();
  const client = clientOf([failing]);
  const watch = watched(client);
  await until('the watch is open', () => failing.watches() === 1);
  assert.match(String(await client.call('kv/txn', {}).catch(messageOf)), 'no leader');
  assert.match(String(await watch), 'was aborted');
});

test('a request that is too large for one node is sent to another one the next time', async () => {
  const refusal = { error: 'etcdserver: request is too large', code: 3 };
  const [strict, up] = [await node(UP), await node(UP)];
  const client = clientOf([strict, up]);
  await client.call('kv/txn', {});
  for (const each of [strict, up]) each.become({ status: 400, body: refusal });
  const asked = () => [strict, up].map((each) => each.asked.filter((url) => url === '/v3/kv/put'));
  for (const _ of [1, 2]) {
    assert.match(String(await client.call('kv/put', {}).catch(messageOf)), refusal.error);
  }
  assert.equal(asked(), [['/v3/kv/put'], ['/v3/kv/put']]);
});

const REFUSALS = [
  { nodes: 2, error: 'etcdserver: permission denied', code: 7 },
  { nodes: 2, error: 'etcdserver: mvcc: database space exceeded', code: 8 },
  // Another node could take the request, but there is none.
  { nodes: 1, error: 'etcdserver: request is too large', code: 3 },
  {
    nodes: 1,
    error: 'grpc: received message larger than max (2097160 vs. 2097152)',
    code: 8,
  },
];

for (const { nodes, ...refusal } of REFUSALS) {
  test(`a call that every node would refuse ends no watch: ${refusal.error}`, async () => {
    let watch: ServerResponse | undefined;
    const living = await rawNode((response) => {
      const { url } = response.req;
      if (url === '/v3/kv/range') response.writeHead(200).end('{}');
      else if (url === '/v3/refused') response.writeHead(400).end(JSON.stringify(refusal));
      else if (url === '/v3/watch') (watch = response).writeHead(200).write('{"nth":1}\n');
      else {
        watch?.write('{"nth":2}\n');
        response.writeHead(200).end('{}');
      }
    });
    const client = clientOf([living, await node(UP)].slice(0, nodes));
    const messages = client.watch({}, new AbortController().signal);
    assert.equal(await messages.next(), { done: false, value: { nth: 1 } });
    assert.match(String(await client.call('refused', {}).catch(messageOf)), refusal.error);
    assert.equal(await client.call('kv/txn', {}), {}, 'the calls stay at the node');
    assert.equal(await messages.next(), { done: false, value: { nth: 2 } });
    await messages.return(undefined);
  });
}

test('a call that fails after another one has left its node does not change where the calls go', async () => {
  const refuse = (response: ServerResponse) =>
    response.writeHead(503).end(JSON.stringify(WITHOUT_MAJORITY.body));
  let late: ServerResponse | undefined;
  const failing = await rawNode((response) => {
    const { url } = response.req;
    if (url === '/v3/late') late = response;
    else if (url === '/v3/kv/range') response.writeHead(200).end('{}');
    else refuse(response);
  });
  const [alone, up] = [await node(WITHOUT_MAJORITY), await node()];
  const client = clientOf([failing, alone, up]);
  const failure = client.call('late', {}).catch(messageOf);
  await until('it is asked', () => late !== undefined);
  for (let each = 0; each < 2; each += 1) {
    assert.match(String(await client.call('kv/txn', {}).catch(messageOf)), 'no leader');
  }
  up.become(UP);
  if (late !== undefined) refuse(late);
  assert.match(String(await failure), 'no leader');
  assert.equal(await client.call('kv/txn', {}), UP.body);
});

test('when a watch fails, the calls leave its node', async () => {
  let isAsked = false;
  const failing = await rawNode((response) => {
    if (response.req.url !== '/v3/watch') return void response.writeHead(200).end('{}');
    isAsked = true;
    response.destroy();
  });
  const next = await node();
  const client = clientOf([failing, next]);
  assert.type(await watched(client), 'string', 'it failed');
  assert.ok(isAsked);
  next.become(UP);
  assert.equal(await client.call('kv/txn', {}), UP.body);
});

test('a watch that is ended before it begins is not opened', async () => {
  const { url, watches } = await aloneWithWatches();
  const client = clientOf([{ url }]);
  assert.match(String(await watched(client, AbortSignal.abort())), 'was aborted');
  assert.is(watches(), 0);
});

test('a watch that is ended does not send the calls to another node', async () => {
  let isOpen = false;
  const asked: string[] = [];
  const up = await rawNode((response) => {
    const { url = '' } = response.req;
    asked.push(url);
    if (url !== '/v3/watch') return void response.writeHead(200).end(JSON.stringify(UP.body));
    response.writeHead(200).write('{}\n');
    isOpen = true;
  });
  const silent = await node();
  const client = clientOf([up, silent]);
  const ending = new AbortController();
  const watch = watched(client, ending.signal);
  await until('the watch is open', () => isOpen);
  ending.abort();
  assert.match(String(await watch), 'was aborted');
  assert.equal(await client.call('kv/txn', {}), UP.body);
  assert.is(asked.at(-1), '/v3/kv/txn');
});

test('a watch that is ended closes its connection', async () => {
  const { url, open } = await rawNode((response) => response.writeHead(200).write('{"a":1}\n'));
  const ending = new AbortController();
  const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS });
  for await (const message of client.watch({}, ending.signal)) {
    assert.equal(message, { a: 1 });
    break;
  }
  await until('its connection is closed', () => open() === 0);
  const watch = watched(client, ending.signal);
  await until('another one is open', () => open() === 1);
  ending.abort();
  assert.match(String(await watch), 'was aborted');
  await until('it is closed too', () => open() === 0);
});

/** A node that sends a piece again and again. */
function endlessNode(piece: Buffer) {
  return rawNode((response) => {
    const pump = () => {
      while (!response.destroyed) if (!response.write(piece)) return response.once('drain', pump);
      return null;
    };
    pump();
  });
}

test('a message of a watch that does not end is refused without reading it again and again', async () => {
  const { url } = await endlessNode(Buffer.alloc(64 * 1024, 'a'));
  let turns = 0;
  const timer = setInterval(() => void (turns += 1), 1);
  const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS });
  assert.match(String(await watched(client)), 'a line is longer than 67108864 bytes');
  clearInterval(timer);
  assert.ok(turns > 0);
});

test('messages that do not end leave turns of the event loop to others', async () => {
  const { url } = await endlessNode(Buffer.from('{}\n'.repeat(10_000)));
  const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS });
  const ending = new AbortController();
  let messages = 0;
  setTimeout(() => ending.abort(), 1);
  const read = async () => {
    for await (const message of client.watch({}, ending.signal)) {
      assert.equal(message, {});
      messages += 1;
    }
  };
  assert.match(String(await read().catch(String)), 'was aborted');
  assert.ok(messages < 1_000_000, `${messages}`);
});

test('of the text of a refusal only the beginning is quoted, whatever its form', async () => {
  const long = 'x'.repeat(1_000_000);
  const bodies: readonly (readonly [string, string])[] = [
    [JSON.stringify({ error: long }), `etcd does not answer: ${'x'.repeat(200)}`],
    [long, `etcd does not answer: ${'x'.repeat(200)}`],
    ['{"error":{"a":1},"code":"b"}', 'etcd does not answer: {"error":{"a":1},"code":"b"}'],
    ['null', 'etcd does not answer: null'],
  ];
  for (const [body, expected] of bodies) {
    const { url } = await rawNode((response) => response.writeHead(500).end(body));
    const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS });
    const failure = await client.call('kv/txn', {}).catch(messageOf);
    assert.is(failure, expected);
  }
});

test('a refusal with a known remedy says what to do, and not that etcd does not answer', async () => {
  const refusals: readonly (readonly [string, string])[] = [
    ['etcdserver: authentication is not enabled', 'etcd has no users; '],
    ['etcdserver: authentication failed, invalid user ID or password', 'etcd does not accept '],
    ['etcdserver: permission denied', 'the role of the etcd user does not allow '],
    ['etcdserver: mvcc: database space exceeded', "etcd's quota is used up; "],
  ];
  const login = { name: 'user', password: 'password' };
  for (const [error, beginning] of refusals) {
    const { url } = await rawNode((response) =>
      response.writeHead(400).end(JSON.stringify({ error, code: 9 })),
    );
    const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS, login });
    const failure = String(await client.call('kv/txn', {}).catch(messageOf));
    assert.ok(failure.startsWith(beginning), failure);
    assert.ok(failure.endsWith(`(${error})`), failure);
  }
});

test('an answer that is not of etcd says so, also the one to the login', async () => {
  const expected = 'the answer is not from etcd; check that the address is that of etcd';
  for (const body of ['<html>Sign in</html>', '', 'null', '{"token":5}']) {
    const { url } = await rawNode((response) => response.writeHead(200).end(body));
    const login = { name: 'user', password: 'password' };
    const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS, login });
    const failure = await client.call('kv/txn', {}).catch(messageOf);
    assert.is(failure, `etcd does not answer: ${expected}`, body);
  }
});

test('the error of a call has no address of a node, because clients get it', async () => {
  const { url } = await rawNode((response) =>
    response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  );
  const fetched = await fetch(url, { redirect: 'error' }).then(String, String);
  assert.match(fetched, url, 'the engine still names it');
  const client = clientOf([{ url }]);
  assert.match(
    await client.call('kv/txn', {}).then(String, messageOf),
    /^etcd does not answer: \w+$/,
  );
});

/** A node that gives a token at each login, and refuses all but the last one. */
async function nodeWithLogin(refusal: EtcdResponse) {
  let logins = 0;
  const server = createServer((request, response) => {
    const isLogin = request.url === '/v3/auth/authenticate';
    if (isLogin) logins += 1;
    const isLast = request.headers.authorization === `token ${logins}`;
    const token = { status: 200, body: { token: `token ${logins}` } };
    const { status, body } = isLogin ? token : isLast ? UP : refusal;
    response.writeHead(status).end(JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  /** Ends the token that the client has. */
  const end = () => void (logins += 1);
  return { url: `http://127.0.0.1:${port}`, end };
}

const ENDED: Readonly<Record<string, EtcdResponse>> = {
  'its token has expired': {
    status: 401,
    body: { error: 'etcdserver: invalid auth token', code: 16 },
  },
  'users or roles of etcd were changed': {
    status: 400,
    body: { error: 'etcdserver: revision of auth store is old', code: 3 },
  },
};

for (const [why, refusal] of Object.entries(ENDED)) {
  test(`a client logs in again once ${why}`, async () => {
    const { url, end } = await nodeWithLogin(refusal);
    const login = { name: 'user', password: 'password' };
    const client = new EtcdClient({ endpoints: [url], prefix: '/', timeoutMs: LONG_MS, login });
    assert.equal(await client.call('kv/txn', {}), UP.body);
    end();
    assert.equal(await client.call('kv/txn', {}), UP.body);
  });
}

test.run();
