/** Security headers, which every response has, and internal details, which no response has. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../support/client.ts';
import { SECRET } from '../support/secret.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

test.after(closeServices);

let server: Service;

test.before(async () => {
  server = await openService({ demo: true });
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

test('every response to every method of every path has X-Content-Type-Options: nosniff', async () => {
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

test('a response that requires a token has Cache-Control: no-store, and its ETag still works', async () => {
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

test('a path that requires a token has Cache-Control: no-store for every method, also in a 405', async () => {
  for (const [method, path, wanted] of [
    ['OPTIONS', '/admin/skus/1/', 'no-store'],
    ['POST', '/admin/skus/1/', 'no-store'],
    ['GET', '/admin/skus/bulk/', 'no-store'],
    ['OPTIONS', '/books/1/', 'no-cache'],
    ['POST', '/books/1/', 'no-cache'],
  ] as const) {
    const answer = await send(server, method, path, { token: null });
    assert.is(answer.status, method === 'OPTIONS' ? 200 : 405, `${method} ${path}`);
    assert.is(answer.headers.get('cache-control'), wanted, `${method} ${path}`);
  }
});

test("every HTML page has a Content-Security-Policy with default-src 'none'", async () => {
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

test('no response discloses files, source code, secrets or the runtime', async () => {
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
    const sent = body === undefined ? {} : { body };
    const answer = await send(server, method, path, { ...sent, token });
    assert.ok(answer.status < 500, `${method} ${path}`);
    const head = JSON.stringify(Object.fromEntries(answer.headers));
    const text = path.startsWith('/docs/') && answer.status === 200 ? head : head + answer.text;
    for (const secret of inside) {
      assert.not.ok(text.includes(secret), `${method} ${path} tells of ${secret}`);
    }
  }
});

test.run();
