/** What every answer says and what none says: headers of protection, and nothing of the inside. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../support/client.ts';
import { exchangeRaw } from '../support/raw.ts';
import { killServers, SECRET, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

test.after(killServers);

let server: TestServer;

test.before(async () => {
  server = await startServer({ demo: true });
  await until('a page is there', async () => {
    return (await send(server, 'GET', '/pages/skus/1.html')).status === 200;
  });
});

const PATHS = [
  '/',
  '/books/',
  '/books/1/',
  '/books/999/',
  '/admin/skus/',
  '/admin/skus/1/',
  '/admin/skus/999/',
  '/pages/skus/1.html',
  '/pages/skus/999.html',
  '/docs/',
  '/docs/start.js',
  '/docs/nothing.js',
  '/openapi.json',
  '/healthz',
  '/readyz',
  '/nowhere/',
  '/books',
];

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

test('every answer to every method of every path is nosniff', async () => {
  for (const path of PATHS) {
    for (const method of METHODS) {
      for (const token of [null, 'x', undefined]) {
        const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{' } : {};
        if (method === 'DELETE' && token === undefined) continue;
        const { headers } = await send(server, method, path, {
          ...body,
          undescribed: 'a path without a document has methods that its neighbours lack',
          ...(token !== undefined && { token }),
        });
        assert.is(headers.get('x-content-type-options'), 'nosniff', `${method} ${path}`);
      }
    }
  }
});

const UNREADABLE = [
  'hello\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  `GET /${'x'.repeat(9000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n',
];

test('and so is what is refused before there is a request', async () => {
  for (const text of UNREADABLE) {
    const answer = await exchangeRaw(server, [text], 10_000);
    assert.match(answer.text, /^HTTP\/1\.1 4\d\d /);
    assert.match(answer.text, /\r\nX-Content-Type-Options: nosniff\r\n/i, text.slice(0, 40));
  }
});

test('what a token opened is not to be kept, and its ETag goes on working', async () => {
  for (const path of ['/admin/skus/', '/admin/skus/1/', '/admin/skus/999/', '/admin/brands/1/']) {
    const answer = await send(server, 'GET', path);
    assert.is(answer.headers.get('cache-control'), 'no-store', path);
  }
  const { headers } = await send(server, 'GET', '/admin/skus/1/');
  const again = { headers: { 'If-None-Match': headers.get('etag') ?? '' } };
  const unchanged = await send(server, 'GET', '/admin/skus/1/', again);
  assert.is(unchanged.status, 304);
  assert.is(unchanged.headers.get('etag'), headers.get('etag'));
  assert.is(unchanged.headers.get('cache-control'), 'no-store');
});

test('every page of HTML has a policy that starts from nothing', async () => {
  for (const path of ['/docs/', '/pages/skus/1.html']) {
    const { headers } = await send(server, 'GET', path);
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(rule), `${path}: ${policy}`);
    }
    assert.not.match(policy, /script-src[^;]*(?:unsafe|\*)/);
  }
});

test('no answer says anything of files, source, secrets or the runtime', async () => {
  const token = await tokenFor('admin');
  const inside = [
    SECRET,
    token,
    server.data,
    '/src/',
    '.ts:',
    'node_modules',
    'node:',
    '$bunfs',
    'at Object',
    'Bun',
    'JSON Parse',
  ];
  const requests: (readonly [method: string, path: string, body?: string])[] = [
    ...PATHS.map((path) => ['GET', path] as const),
    ['POST', '/books/', '{'],
    ['POST', '/books/', '\u0000'],
    ['POST', '/books/', '"\ud800"'],
    ['POST', '/admin/skus/', '{"__proto__":{"x":1},"constructor":1}'],
    ['PUT', '/admin/skus/1/', '[]'],
    ['GET', '/pages/skus/..%2f..%2fkeys.json'],
    ['GET', '/pages/skus/../../keys.json'],
    ['GET', '/admin/skus/?sortby=__proto__'],
    ['GET', '/admin/skus/?page=%00'],
    ['GET', '/docs/..%2fpackage.json'],
  ];
  for (const [method, path, body] of requests) {
    const raw = [
      `${method} ${path} HTTP/1.1`,
      'Host: catalog',
      `Authorization: Bearer ${token}`,
      ...(body === undefined
        ? []
        : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      'Connection: close',
      '',
      body ?? '',
    ].join('\r\n');
    const { text } = await exchangeRaw(server, [raw], 10_000);
    assert.match(text, /^HTTP\/1\.1 [24]\d\d /, `${method} ${path}`);
    const shown =
      path.startsWith('/docs/') && text.includes(' 200 ') ? text.split('\r\n\r\n')[0] : text;
    for (const secret of inside) {
      assert.not.ok(shown?.includes(secret), `${method} ${path} tells of ${secret}`);
    }
    assert.not.match(text.split('\r\n\r\n')[0] ?? '', /^(?:server|x-powered-by):/im);
  }
});

test.run();
