/** spec 8.15: `health` on servers that are ready, not ready, or not a catalog server. */
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { operatorApplication } from '../../../src/app/operator.ts';
import { health } from '../../../src/cli/commands/health.ts';
import { startServer } from '../../../src/http/wire/server.ts';
import { closeListening, listen } from '../../support/listening.ts';
import { callProgram } from '../../support/program.ts';
import { contextOf } from '../../support/service.ts';

const open = new Set<() => unknown>();

test.after(async () => {
  for (const close of open) await close();
  await closeListening();
});

/** Starts a given server. @returns its address. */
async function serving(server: net.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.add(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (status: number, body: string, headers: http.OutgoingHttpHeaders = {}) =>
  serving(http.createServer((_, response) => response.writeHead(status, headers).end(body)));

async function assertNotReady(url: string, says: string | RegExp): Promise<void> {
  const { status, stdout, stderr } = await callProgram(['health', '--url', url]);
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  assert.match(stderr, says);
}

test('health exits 0 and prints one line if the server is ready', async () => {
  const server = await listen({ basePath: '/api' });
  const port = new URL(server.url).port;
  const named = await callProgram(['health', '--url', `${server.url}/api`]);
  const env = { CATALOG_PORT: port, CATALOG_BASE_PATH: '/api', CATALOG_HOST: '0.0.0.0' };
  const configured = await callProgram(['health'], { env });
  const flags = await callProgram(['health', '--port', port, '--base-path', '/api']);
  for (const { status, stdout, stderr } of [named, configured, flags]) {
    assert.equal([status, stdout, stderr], [0, 'ready\n', '']);
  }
  await assertNotReady(
    server.url,
    'the response has status 404; give the address of the server with its base path',
  );
});

test('health exits 1 and prints the reason if the server is not ready', async () => {
  const metrics = { type: 'text/plain', text: async () => '' };
  const { url, close } = await startServer({
    application: operatorApplication({
      readiness: () => 'the disk refused a write',
      readinessDetails: () => ({}),
      metrics,
    }),
    host: '127.0.0.1',
    port: 0,
    onError() {},
  });
  open.add(() => close(0));
  await assertNotReady(url, /readyz: not ready: the disk refused a write$/m);
  const env = { CATALOG_METRICS_PORT: new URL(url).port };
  assert.is((await callProgram(['health'], { env })).status, 1, 'the port of the metrics');
  const { status } = await callProgram(['health', '--url', `${url}/healthz`]);
  assert.is(status, 0, 'it is alive all the same');
});

test('health exits 1 and prints the address if no server listens', async () => {
  const server = net.createServer();
  const url = await serving(server);
  await new Promise((resolve) => server.close(resolve));
  await assertNotReady(url, `${url}/readyz does not answer`);
});

test('health prints no unexpected error text of a server, and follows no redirect', async () => {
  const error = JSON.stringify({ error: 'not ready: \u001b[2J' });
  await assertNotReady(await answering(503, error), /readyz: the response has status 503$/m);
  const ready = await answering(200, '');
  await assertNotReady(
    await answering(302, '', { Location: ready }),
    'the response has status 302',
  );
});

test('health exits 1 if the response is not HTTP', async () => {
  const url = await serving(net.createServer((socket) => socket.end('220 mail.example\r\n')));
  await assertNotReady(url, 'does not answer: the response is not HTTP');
});

test('health exits 1 if the server does not speak TLS', async () => {
  const url = (await answering(200, '')).replace('http:', 'https:');
  await assertNotReady(url, 'does not answer: the server does not speak TLS on this port');
});

test('health does not wait for the end of a response that never ends', async () => {
  const endless = http.createServer((_, response) => {
    const more = () => void response.write('x'.repeat(65_536));
    response.writeHead(503).on('drain', more);
    more();
    more();
  });
  await assertNotReady(await serving(endless), 'the response has status 503');
});

for (const [name, server] of [
  ['accepts a connection but sends nothing', net.createServer(() => {})],
  ['sends headers but no complete body', http.createServer((_, response) => response.write('{'))],
] as const) {
  test(`health fails after its timeout if a server ${name}`, async () => {
    const url = new URL(await serving(server));
    let refusal: unknown;
    await health({ url, timeout: 50 }, contextOf()).catch((error: unknown) => (refusal = error));
    assert.match(String(refusal), 'no answer within 0.05 s');
  });
}

test('health does not use the proxy of http_proxy', async () => {
  const server = await listen();
  process.env['http_proxy'] = 'http://127.0.0.1:1';
  try {
    assert.is((await callProgram(['health', '--url', server.url])).status, 0);
  } finally {
    delete process.env['http_proxy'];
  }
});

test.run();
