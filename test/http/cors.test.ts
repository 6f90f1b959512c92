/** CORS: no headers if no origin is allowed, otherwise those that the Fetch standard requires. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, make, pageWith } from '../support/catalog.ts';
import { type Received, type Sent, send, tokenFor } from '../support/client.ts';
import {
  closeServices,
  type ServiceOptions,
  openService,
  type Service,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const SHOP = 'https://shop.example';
const LOCAL = 'http://localhost:5173';

type Where = 'off' | 'named' | 'any';

const OPTIONS: Readonly<Record<Where, ServiceOptions>> = {
  off: {},
  named: { corsOrigins: [SHOP, LOCAL, 'https://other.example:8443'] },
  any: { corsOrigins: [SHOP, '*'] },
};

const servers = {} as Record<Where, Service>;
/** The same ids in each server, because all are created in the same way. */
let catalog: Catalog;

test.before(async () => {
  for (const where of ['off', 'named', 'any'] as const) {
    servers[where] = await openService(OPTIONS[where]);
    catalog = await createCatalog(servers[where]);
  }
});

test.after(closeServices);

/** The CORS headers of a response. */
function crossHeaders({ headers }: Received): Record<string, string> {
  const all = Object.entries(Object.fromEntries(headers));
  return Object.fromEntries(all.filter(([name]) => /^(?:access-control|cross-origin)/.test(name)));
}

const varyOf = ({ headers }: Received) => headers.get('vary');

const EXPOSED = {
  'access-control-expose-headers':
    'Accept, Accept-Encoding, Accept-Patch, Allow, Catalog-Sequence, Content-Disposition, ETag, Idempotent-Replayed, Link, Location, Preference-Applied, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count',
};

const preflight = (where: Where, path: string, origin: string, method: string) =>
  send(servers[where], 'OPTIONS', path, {
    token: null,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,if-match',
    },
  });

const preflightHeaders = (origin: string, allow: string) => ({
  'access-control-allow-origin': origin,
  'access-control-allow-methods': allow,
  'access-control-allow-headers':
    'Accept, Authorization, Catalog-Min-Sequence, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer',
  'access-control-max-age': '7200',
});

const BULK = 'GET, HEAD, POST, OPTIONS';
const COLLECTION = 'GET, HEAD, POST, OPTIONS';
const ITEM = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
const READ_ONLY = 'GET, HEAD, OPTIONS';

const paths = (): readonly (readonly [path: string, allow: string])[] => [
  ['/', READ_ONLY],
  ['/openapi.json', READ_ONLY],
  ['/docs/', READ_ONLY],
  ['/books/', COLLECTION],
  ['/books/1/', ITEM],
  ['/admin/brands/', BULK],
  ['/1.0/admin/skus/', BULK],
  [`/admin/skus/${catalog.sku}/`, ITEM],
  [`/admin/goods/${catalog.spu}/skus/`, READ_ONLY],
  [`/admin/skus/${catalog.sku}/specs/`, COLLECTION],
];

/** A request for each kind of response, with the expected status. */
const answers = async (): Promise<readonly (readonly [status: number, ...Parameters<Ask>])[]> => {
  const brand = `/admin/brands/${catalog.brand}/`;
  const token = await tokenFor('viewer');
  const etag = (await send(servers.off, 'GET', brand)).headers.get('etag') ?? '';
  return [
    [200, 'GET', '/'],
    [200, 'GET', '/books/', { token: null }],
    [200, 'GET', '/admin/skus/'],
    [200, 'HEAD', brand],
    [200, 'OPTIONS', brand],
    [200, 'PATCH', brand, { body: {} }],
    [200, 'PATCH', '/admin/brands/bulk/', { body: [{ id: catalog.brand }] }],
    [201, 'POST', '/admin/brands/', { body: { name: 'Crossed' } }],
    [304, 'GET', brand, { headers: { 'if-none-match': etag } }],
    [400, 'GET', '/books/?limit=0'],
    [400, 'POST', '/books/', { body: '{' }],
    [401, 'GET', brand, { token: null }],
    [403, 'DELETE', brand, { token }],
    [404, 'GET', '/nowhere/'],
    [404, 'GET', '/books/999/'],
    [404, 'GET', '/books'],
    [405, 'DELETE', '/books/'],
    [406, 'GET', '/books/', { headers: { accept: 'text/html' } }],
    [409, 'DELETE', brand],
    [412, 'PATCH', brand, { headers: { 'if-match': '"x"' }, body: {} }],
    [413, 'POST', '/books/', { body: 'x'.repeat(1024 * 1024 + 1) }],
    [415, 'POST', '/books/', { body: '{}', headers: { 'content-type': 'text/plain' } }],
    [422, 'POST', '/books/', { body: {} }],
  ];
};

type Ask = (method: string, path: string, sent?: Sent) => void;

/** Sends a request as a page of the origin. */
const ask = (where: Where, origin: string, method: string, path: string, sent: Sent = {}) =>
  send(servers[where], method, path, { ...sent, headers: { ...sent.headers, origin } });

test('if no origin is allowed, no response has CORS headers', async () => {
  for (const origin of [SHOP, LOCAL, 'null', '*', servers.off.url, '']) {
    for (const [path] of paths()) {
      for (const method of ['GET', 'PATCH', 'PUT', 'DELETE', 'POST']) {
        const answer = await preflight('off', path, origin, method);
        assert.equal(crossHeaders(answer), {}, `${method} ${path}`);
        assert.is(varyOf(answer), 'Accept');
      }
    }
  }
  for (const [status, method, path, sent] of await answers()) {
    const answer = await ask('off', SHOP, method, path, sent);
    assert.is(answer.status, status, `${method} ${path}: ${answer.text}`);
    assert.equal(crossHeaders(answer), {}, `${method} ${path}`);
    assert.is(varyOf(answer), 'Accept', `${method} ${path}`);
  }
});

test('a preflight response has the methods of the path, the allowed headers and their max-age', async () => {
  for (const origin of [SHOP, LOCAL, 'https://other.example:8443']) {
    for (const [path, allow] of paths()) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const answer = await preflight('named', path, origin, method);
        assert.is(answer.status, 200, path);
        assert.equal(crossHeaders(answer), preflightHeaders(origin, allow), path);
        assert.is(answer.headers.get('allow'), allow, path);
      }
    }
  }
});

test('a preflight needs no token, and ignores one', async () => {
  const path = `/admin/skus/${catalog.sku}/`;
  for (const token of [null, 'nonsense', await tokenFor('viewer')]) {
    const headers = { origin: SHOP, 'access-control-request-method': 'DELETE' };
    const answer = await send(servers.named, 'OPTIONS', path, { token, headers });
    assert.is(answer.status, 200);
    assert.equal(crossHeaders(answer), preflightHeaders(SHOP, ITEM));
  }
  assert.is((await send(servers.named, 'GET', path)).status, 200, 'it deletes nothing');
});

test('every response to an allowed origin has the CORS headers, including errors', async () => {
  for (const [status, method, path, sent] of await answers()) {
    const what = `${method} ${path}`;
    const answer = await ask('named', SHOP, method, path, sent);
    assert.is(answer.status, status, `${what}: ${answer.text}`);
    const wanted = { 'access-control-allow-origin': SHOP, ...EXPOSED };
    assert.equal(crossHeaders(answer), wanted, what);
    assert.is(varyOf(answer), 'Accept, Origin', what);
  }
});

test('an origin that only resembles an allowed one gets no CORS headers', async () => {
  for (const origin of [
    'https://evil.example',
    'http://shop.example',
    'https://shop.example:444',
    'https://shop.example.evil.example',
    'https://sub.shop.example',
    'https://SHOP.example',
    'https://shop.example/',
    `${SHOP}, https://evil.example`,
    `${SHOP} https://evil.example`,
    'http://localhost',
    'null',
    '*',
    '',
  ]) {
    for (const [path] of paths()) {
      const answer = await preflight('named', path, origin, 'GET');
      assert.equal(crossHeaders(answer), {}, `${origin} ${path}`);
      assert.is(varyOf(answer), 'Accept, Origin');
    }
    for (const [status, method, path, sent] of [
      [200, 'GET', '/books/'],
      [401, 'GET', '/admin/brands/', { token: null }],
      [404, 'GET', '/nowhere/'],
    ] as const) {
      const answer = await ask('named', origin, method, path, sent);
      assert.is(answer.status, status, 'it is answered all the same');
      assert.equal(crossHeaders(answer), {}, `${origin} ${path}`);
      assert.is(varyOf(answer), 'Accept, Origin');
    }
  }
});

test('without Origin a response has no CORS headers, but Vary contains Origin', async () => {
  for (const [status, method, path, sent] of await answers()) {
    const answer = await send(servers.named, method, path, sent);
    assert.is(answer.status, status, `${method} ${path}`);
    assert.equal(crossHeaders(answer), {}, `${method} ${path}`);
    assert.is(varyOf(answer), 'Accept, Origin');
  }
});

test('* allows any origin, including null, and Vary does not contain Origin', async () => {
  for (const origin of [SHOP, 'https://evil.example', 'null', 'chrome-extension://abc']) {
    for (const [path, allow] of paths()) {
      const answer = await preflight('any', path, origin, 'GET');
      assert.equal(crossHeaders(answer), preflightHeaders('*', allow), `${origin} ${path}`);
      assert.is(varyOf(answer), 'Accept');
    }
  }
  for (const [status, method, path, sent] of await answers()) {
    const answer = await ask('any', 'null', method, path, sent);
    assert.is(answer.status, status, `${method} ${path}`);
    assert.equal(crossHeaders(answer), { 'access-control-allow-origin': '*', ...EXPOSED });
    assert.is(varyOf(answer), 'Accept');
    assert.equal(crossHeaders(await send(servers.any, method, path, sent)), {});
  }
});

test('credentials are never allowed', async () => {
  for (const where of ['named', 'any'] as const) {
    for (const headers of [{ cookie: 'a=b' }, { authorization: 'Basic YTpi' }]) {
      const answer = await ask(where, SHOP, 'GET', '/books/', { token: null, headers });
      assert.is(answer.headers.get('access-control-allow-credentials'), null);
    }
  }
});

test('only OPTIONS with Access-Control-Request-Method is a preflight', async () => {
  const answer = await ask('named', SHOP, 'OPTIONS', '/books/');
  assert.equal(crossHeaders(answer), { 'access-control-allow-origin': SHOP, ...EXPOSED });
  const asked = { 'access-control-request-method': 'PUT' };
  const get = await ask('named', SHOP, 'GET', '/books/', { headers: asked });
  assert.equal(crossHeaders(get), { 'access-control-allow-origin': SHOP, ...EXPOSED });
});

test('a preflight for an unknown path is 404 without allowed methods', async () => {
  const answer = await preflight('named', '/nowhere/', SHOP, 'GET');
  assert.is(answer.status, 404);
  assert.is(answer.headers.get('access-control-allow-methods') ?? '', '');
});

test('every response header that is useful to a page is exposed, and no others', async () => {
  const always =
    /^(?:cache-control|content-(?:language|length|type)|expires|last-modified|pragma)$/;
  const exposed = EXPOSED['access-control-expose-headers'].toLowerCase().split(', ');
  const useless = new Set(['date', 'connection', 'keep-alive', 'vary', 'x-content-type-options']);
  useless.add('content-security-policy');
  await pageWith(servers.named, catalog.sku, '</html>');
  const replay = { body: { name: 'Kept' }, headers: { 'idempotency-key': 'exposed' } };
  await send(servers.named, 'POST', '/admin/brands/', replay);
  const strict = { body: { name: 'Strict' }, headers: { prefer: 'handling=strict' } };
  const wrong = { body: { username: 'nobody', password: 'of nobody' } };
  await until('logins are slowed down', async () => {
    const { status } = await send(servers.named, 'POST', '/admin/tokens/', wrong);
    return status === 429;
  });
  const seen = new Set<string>();
  for (const [, method, path, sent] of [
    ...(await answers()),
    [201, 'POST', '/admin/brands/', replay],
    [201, 'POST', '/admin/brands/', strict],
    [429, 'POST', '/admin/tokens/', wrong],
    [200, 'GET', `/pages/skus/${catalog.sku}.html`],
    [200, 'GET', '/admin/skus/export/'],
    [200, 'OPTIONS', '/books/1/'],
    [415, 'POST', '/books/', { body: '{}', headers: { 'content-encoding': 'gzip' } }],
    [503, 'GET', '/books/', { headers: { 'catalog-min-sequence': '9007199254740991' } }],
  ] as const) {
    const { headers } = await ask('named', SHOP, method, path, sent);
    for (const [name] of headers) if (!name.startsWith('access-control-')) seen.add(name);
  }
  const hidden = [...seen].filter((name) => !always.test(name) && !exposed.includes(name));
  assert.equal(
    hidden.filter((name) => !useless.has(name)),
    [],
  );
  assert.equal(
    exposed.filter((name) => !seen.has(name)),
    [],
    'and none is exposed that no answer has',
  );
});

test('a 500 has the CORS headers, so that a page can read the request_id', async () => {
  const server = await openService({ corsOrigins: [SHOP] });
  await make(server, '/admin/brands/', { name: 'Written' });
  rmSync(join(server.data, 'changes'), { recursive: true });
  const refused = await send(server, 'POST', '/admin/brands/', {
    body: { name: 'Refused' },
    headers: { origin: SHOP },
  });
  assert.is(refused.status, 500, refused.text);
  assert.equal(Object.keys(refused.json), ['error', 'request_id']);
  assert.equal(crossHeaders(refused), { 'access-control-allow-origin': SHOP, ...EXPOSED });
  assert.is(varyOf(refused), 'Accept, Origin');
  mkdirSync(join(server.data, 'changes'), { mode: 0o700 });
  await server.stop();
});

test('with a base path, responses inside and outside of it allow the origin', async () => {
  const server = await openService({ basePath: '/api', corsOrigins: [SHOP] });
  for (const [path, status] of [
    ['/api/books/', 200],
    ['/books/', 404],
  ] as const) {
    const answer = await send(server, 'GET', path, { headers: { origin: SHOP } });
    assert.is(answer.status, status);
    assert.is(answer.headers.get('access-control-allow-origin'), SHOP);
  }
  await server.stop();
});

test.run();
