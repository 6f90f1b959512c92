/** spec 8.15: `health` against servers that are ready, are not, or are none of ours. */
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

/** A server of the test's own. @returns its address. */
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

test('a server that is ready: 0, and one line', async () => {
  const server = await listen({ basePath: '/api' });
  const port = new URL(server.url).port;
  const named = await callProgram(['health', '--url', `${server.url}/api`]);
  const env = { CATALOG_PORT: port, CATALOG_BASE_PATH: '/api', CATALOG_HOST: '0.0.0.0' };
  const configured = await callProgram(['health'], { env });
  const flags = await callProgram(['health', '--port', port, '--base-path', '/api']);
  for (const { status, stdout, stderr } of [named, configured, flags]) {
    assert.equal([status, stdout, stderr], [0, 'ready\n', '']);
  }
  await assertNotReady(server.url, 'the response has status 404');
});

test('a server that is not ready: 1, and its reason', async () => {
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

test('nobody listens: 1, and the address', async () => {
  const server = net.createServer();
  const url = await serving(server);
  await new Promise((resolve) => server.close(resolve));
  await assertNotReady(url, `${url}/readyz does not answer`);
});

test('what is no answer of ours is not repeated, and a redirect is not followed', async () => {
  const error = JSON.stringify({ error: 'not ready: \u001b[2J' });
  await assertNotReady(await answering(503, error), /readyz: the response has status 503$/m);
  const ready = await answering(200, '');
  await assertNotReady(
    await answering(302, '', { Location: ready }),
    'the response has status 302',
  );
});

test('bytes that are not HTTP: 1', async () => {
  const url = await serving(net.createServer((socket) => socket.end('220 mail.example\r\n')));
  await assertNotReady(url, 'does not answer');
});

test('an answer that does not end is not waited for, nor one that is too long', async () => {
  const endless = http.createServer((_, response) => {
    const more = () => void response.write('x'.repeat(65_536));
    response.writeHead(503).on('drain', more);
    more();
    more();
  });
  await assertNotReady(await serving(endless), 'the response has status 503');
});

for (const [name, server] of [
  ['accepts and says nothing', net.createServer(() => {})],
  ['sends headers and no end', http.createServer((_, response) => response.write('{'))],
] as const) {
  test(`a server that ${name} is given the time-out, and no longer`, async () => {
    const url = new URL(await serving(server));
    let refusal: unknown;
    await health({ url, timeout: 50 }, contextOf()).catch((error: unknown) => (refusal = error));
    assert.match(String(refusal), 'no answer within 0.05 s');
  });
}

test('a proxy that the environment names is not asked', async () => {
  const server = await listen();
  process.env['http_proxy'] = 'http://127.0.0.1:1';
  try {
    assert.is((await callProgram(['health', '--url', server.url])).status, 0);
  } finally {
    delete process.env['http_proxy'];
  }
});

test.run();
