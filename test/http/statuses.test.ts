/** spec 3.2 to 3.11: which status a request gets, and the order of the checks. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, make, skuFields } from '../support/catalog.ts';
import { type Received, type Sent, send, tokenFor } from '../support/client.ts';
import { SECRET } from '../support/secret.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const MEBIBYTE = 1024 * 1024;
const UNKNOWN = 99999;

let server: Service;
let catalog: Catalog;
/** A record of the catalog's SKU. */
let record: number;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
  record = (await make(server, `/admin/skus/${catalog.sku}/specs/`, { ...catalog.silver })).id;
});

test.after(closeServices);

/** Requires an error of spec 3.1 and 3.10 that contains no internal details. */
function assertProblem(answer: Received, status: number, what: string): void {
  assert.is(answer.status, status, `${what}: ${answer.text}`);
  assert.is(answer.headers.get('content-type'), 'application/json', what);
  assert.type(answer.json?.error, 'string', what);
  assert.ok(answer.json.error.length > 0, what);
  assertNothingLeaks(answer.text, what);
}

function assertNothingLeaks(text: string, what: string): void {
  for (const inner of [server.data, SECRET, import.meta.dir, 'node_modules', '.ts:', 'Error:']) {
    assert.not.ok(text.includes(inner), `${what}: ${text}`);
  }
  assert.not.match(text, /^\s+at /m, what);
}

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

// 400

const MALFORMED: Readonly<Record<string, string | Uint8Array>> = {
  'is empty': new Uint8Array(),
  'is only white space': ' \n',
  'is not JSON': 'name=Emma&pub_date=1815-12-23',
  'is XML': '<book><name>Emma</name></book>',
  'is cut off within a string': '{"name":"Em',
  'is cut off after a member': '{"name":"Emma"',
  'has no opening brace': '"name":"Emma","pub_date":"1815-12-23"}',
  'has a doubled opening brace': '{{"name":"Emma","pub_date":"1815-12-23"}',
  'has a doubled closing brace': '{"name":"Emma","pub_date":"1815-12-23"}}',
  'is two objects': '{"name":"Emma"}{"name":"Emma"}',
  'has a trailing comma': '{"name":"Emma","pub_date":"1815-12-23",}',
  'has single quotes': "{'name':'Emma','pub_date':'1815-12-23'}",
  'has a name without quotes': '{name:"Emma","pub_date":"1815-12-23"}',
  'has a comment': '{"name":"Emma",/* born 1775 */"pub_date":"1815-12-23"}',
  'has NaN': '{"name":NaN,"pub_date":"1815-12-23"}',
  'has a number with a leading zero': '{"name":"Emma","pub_date":"1815-12-23","a":01}',
  'has a bare control character': '{"name":"Em\u0001ma","pub_date":"1815-12-23"}',
  'begins with a byte order mark': bytes(
    [0xef, 0xbb, 0xbf],
    '{"name":"Emma","pub_date":"1815-12-23"}',
  ),
  'is Latin-1': bytes('{"name":"Caf', [0xe9], '","pub_date":"1815-12-23"}'),
  'has an overlong encoding': bytes('{"name":"', [0xc0, 0xaf], '","pub_date":"1815-12-23"}'),
  'has an encoded surrogate': bytes('{"name":"', [0xed, 0xa0, 0x80], '","pub_date":"1815-12-23"}'),
  'ends within a character': bytes('{"name":"', [0xf0, 0x9f]),
  'is UTF-16': new Uint8Array(
    Buffer.from('\ufeff{"name":"Emma","pub_date":"1815-12-23"}', 'utf16le'),
  ),
};

for (const [what, body] of Object.entries(MALFORMED)) {
  test(`a body that ${what} is 400, and nothing is written`, async () => {
    const before = (await send(server, 'GET', '/books/')).text;
    assertProblem(await send(server, 'POST', '/books/', { body }), 400, 'POST');
    assert.is((await send(server, 'GET', '/books/')).text, before);
    const item = `/admin/brands/${catalog.brand}/`;
    for (const method of ['PUT', 'PATCH']) {
      assertProblem(await send(server, method, item, { body }), 400, method);
    }
  });
}

test('a body nested 100,000 levels deep is 400 or 422, and the server still responds', async () => {
  const body = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const answer = await send(server, 'POST', '/books/', { body });
  assert.ok(answer.status === 400 || answer.status === 422, String(answer.status));
  assertProblem(answer, answer.status, 'deep');
  assert.is((await send(server, 'GET', '/books/')).status, 200);
});

test('the error about a body that is no JSON text in UTF-8 says what is wrong with it', async () => {
  for (const [body, wanted] of [
    ['', /empty/],
    ['\ufeff{}', /begins with a byte order mark/],
    [new Uint8Array([0x22, 0xff, 0x22]), /not UTF-8/],
  ] as const) {
    const answer = await send(server, 'POST', '/books/', { body });
    assertProblem(answer, 400, String(body));
    assert.match(answer.json.error, wanted);
  }
});

test('a request without a body is 400 if one is required', async () => {
  assertProblem(await send(server, 'POST', '/books/'), 400, 'POST');
  assertProblem(await send(server, 'PUT', `/admin/skus/${catalog.sku}/`), 400, 'PUT');
});

// 404 and 405

const NO_PATHS = [
  '/nowhere/',
  '/admin/',
  '/admin/nowhere/',
  '/admin/books/',
  '/admin/sku_specs/',
  '/brands/',
  '/goods/1/',
  '/Books/',
  '/ADMIN/skus/',
  '/books//',
  '/books//1/',
  '/books/1//',
  '/books/x/',
  '/books/-1/',
  '/books/+1/',
  '/books/1.0/',
  '/books/1e0/',
  '/books/0x1/',
  '/books/1/x/',
  '/books/\u0661/',
  '/admin/skus/x/',
  '/admin/skus/x/specs/',
  '/admin/skus/1/specs/x/',
  '/admin/skus/1/options/',
  '/admin/goods/1/specs/1/options/',
  '/2.0/',
  '/2.0/books/',
  '/1.1/books/',
  '/1/books/',
  '/v1/books/',
  '/1.0/1.0/books/',
  '/%62ooks/',
  '/books%2F',
  '/books/%31/',
  '/books/1%2F',
  '/books;v=1/',
  '/books/__proto__/',
  '/admin/__proto__/',
  '/admin/constructor/1/',
  '/admin/skus/1/__proto__/',
  '/docs/nowhere.js',
  '/pages/skus/0.html',
  `/pages/skus/${UNKNOWN}.html`,
  '/pages/skus/1',
  '/pages/skus/',
  '/catalog.json',
];

for (const path of NO_PATHS) {
  test(`the path ${path} is 404`, async () => {
    for (const method of ['GET', 'OPTIONS', 'DELETE']) {
      // A page that does not exist has the same methods as others.
      if (path.startsWith('/pages/skus/') && path.endsWith('.html') && method !== 'GET') continue;
      if (path === '/docs/nowhere.js' && method !== 'GET') continue;
      assertProblem(await send(server, method, path, { token: null }), 404, `${method} ${path}`);
    }
  });
}

const TARGETS = [
  '//',
  '//books/',
  '/admin//skus/',
  '/books/../books/',
  '/books/./',
  '/../books/',
  '/./books/',
  '/admin/../books/',
  '/books/%2e%2e/books/',
  '/docs/../catalog.json',
  '/docs/..%2f..%2fpackage.json',
  '/pages/skus/../../catalog.json',
  '/pages/skus/..%2f..%2fcatalog.json',
  '/pages/skus/1.html/../1.html',
  '/books\\',
];

for (const target of TARGETS) {
  test(`the target ${target} is not normalized, and is 404`, async () => {
    assertProblem(await send(server, 'GET', target), 404, target);
  });
}

test('if only the slash is missing, the 404 names the right path', async () => {
  const { sku, spu } = catalog;
  for (const path of [
    '/books',
    '/books/1',
    '/1.0/books',
    '/admin/skus',
    `/admin/skus/${sku}`,
    `/admin/skus/${sku}/specs`,
    `/admin/skus/${sku}/specs/${record}`,
    `/admin/goods/${spu}/skus`,
    '/admin/skus/bulk',
    '/1.0',
  ]) {
    for (const method of ['GET', 'PUT']) {
      const answer = await send(server, method, path, { token: null });
      assertProblem(answer, 404, `${method} ${path}`);
      assert.match(answer.json.error, `${path}/`);
    }
  }
  const other = await send(server, 'GET', '/nowhere');
  assertProblem(other, 404, '/nowhere');
  assert.not.match(other.json.error, '/nowhere/');
});

test('a browser that omits the slash of /docs/, /pages/ or /console/ is redirected with 308', async () => {
  const based = await openService({ basePath: '/api' });
  for (const [on, path] of [
    [server, '/docs'],
    [server, '/pages'],
    [server, '/console'],
    [server, '/1.0/docs'],
    [based, '/api/docs'],
    [based, '/api/1.0/pages'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      for (const query of ['', '?a=1&b=%2F']) {
        const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
        const answer = await send(on, method, `${path}${query}`, { token: null, headers });
        assert.is(answer.status, 308, `${method} ${path}`);
        assert.is(answer.headers.get('location'), `${path}/${query}`);
        assert.is(answer.text, '');
      }
    }
    for (const accept of ['*/*', 'application/json', 'text/html;q=0, */*']) {
      const answer = await send(on, 'GET', path, { token: null, headers: { accept } });
      assertProblem(answer, 404, `${path} for ${accept}`);
      assert.match(answer.json.error, `${path}/`);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await send(on, method, path, { token: null });
      assertProblem(answer, 404, `${method} ${path}`);
      assert.match(answer.json.error, `${path}/`);
    }
  }
  await based.stop();
});

test('a browser is not redirected to an address that is too long for a header', async () => {
  const headers = { accept: 'text/html' };
  const status = async (length: number) => {
    const query = `?q=${'x'.repeat(length - '/docs/?q='.length)}`;
    return (await send(server, 'GET', `/docs${query}`, { token: null, headers })).status;
  };
  assert.is(await status(4096), 308);
  assert.is(await status(4097), 404);
});

test('/healthz and /readyz are 404 with a version in the path', async () => {
  for (const path of ['/healthz', '/readyz']) {
    assert.is((await send(server, 'GET', path, { token: null })).status, 200);
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const answer = await send(server, method, `/1.0${path}`, { token: null });
      assert.is(answer.status, 404, `${method} ${path}`);
    }
  }
});

test('the 404 of an id beyond the safe integers does not name another number', async () => {
  for (const digits of ['9007199254740993', '9'.repeat(400)]) {
    for (const [path, what] of [
      [`/admin/skus/${digits}/`, 'SKU'],
      [`/admin/goods/${digits}/skus/`, 'SPU'],
      [`/admin/goods/${catalog.spu}/skus/${digits}/`, 'SKU'],
      [`/admin/skus/${digits}/audits/`, 'SKU'],
      [`/admin/audits/${digits}/reversal/`, 'audit entry'],
      [`/admin/imports/${digits}/`, 'import'],
      [`/admin/page-builds/${digits}/`, 'page build'],
    ] as const) {
      const method = path.endsWith('/reversal/') ? 'POST' : 'GET';
      const { status, json } = await send(server, method, path);
      assert.is(status, 404, path);
      const where = path.includes(`/${catalog.spu}/skus/`) ? ` of SPU ${catalog.spu}` : '';
      assert.is(json.error, `there is no ${what} with such a large id${where}`, path);
    }
  }
});

test('an unknown item and an unknown parent are 404', async () => {
  const { sku, spu, silver } = catalog;
  const paths = ['brands', 'categories', 'goods', 'skus', 'specs', 'options'].map(
    (name) => `/admin/${name}/${UNKNOWN}/`,
  );
  for (const path of paths) {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const sent = method === 'PUT' || method === 'PATCH' ? { body: '{' } : {};
      assertProblem(await send(server, method, path, sent), 404, `${method} ${path}`);
    }
  }
  for (const path of [
    `/admin/goods/${UNKNOWN}/skus/`,
    `/admin/goods/${UNKNOWN}/specs/`,
    `/admin/specs/${UNKNOWN}/options/`,
    `/admin/categories/${UNKNOWN}/categories/`,
    `/admin/brands/${UNKNOWN}/goods/`,
    `/admin/skus/${UNKNOWN}/specs/`,
    `/admin/goods/${spu}/skus/${UNKNOWN}/`,
    `/admin/goods/${UNKNOWN}/skus/${sku}/`,
    `/admin/skus/${sku}/specs/${UNKNOWN}/`,
  ]) {
    assertProblem(await send(server, 'GET', path), 404, path);
  }
  const records = `/admin/skus/${UNKNOWN}/specs/`;
  assertProblem(await send(server, 'POST', records, { body: silver }), 404, records);
});

const COLLECTION = 'GET, HEAD, POST, OPTIONS';
const BULK = 'POST, PATCH, OPTIONS';
const ITEM = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
const READ_ONLY = 'GET, HEAD, OPTIONS';

/** Every shape of path, and the methods that it has. */
function shapes(): Readonly<Record<string, string>> {
  const { sku, spu, brand, chain, silver } = catalog;
  return {
    '/': READ_ONLY,
    '/1.0/': READ_ONLY,
    '/openapi.json': READ_ONLY,
    '/docs/': READ_ONLY,
    [`/pages/skus/${sku}.html`]: READ_ONLY,
    '/books/': COLLECTION,
    '/1.0/books/': COLLECTION,
    '/books/1/': ITEM,
    '/admin/goods/': COLLECTION,
    [`/admin/goods/${spu}/`]: ITEM,
    '/admin/skus/': COLLECTION,
    [`/admin/skus/${sku}/`]: ITEM,
    [`/1.0/admin/skus/${sku}/`]: ITEM,
    '/admin/brands/': COLLECTION,
    '/admin/brands/bulk/': BULK,
    '/admin/skus/bulk/': BULK,
    [`/admin/brands/${brand}/`]: ITEM,
    '/admin/categories/': COLLECTION,
    [`/admin/categories/${chain[0]}/`]: ITEM,
    '/admin/specs/': COLLECTION,
    [`/admin/specs/${silver.spec_id}/`]: ITEM,
    '/admin/options/': COLLECTION,
    [`/admin/options/${silver.option_id}/`]: ITEM,
    [`/admin/goods/${spu}/skus/`]: READ_ONLY,
    [`/admin/goods/${spu}/skus/${sku}/`]: READ_ONLY,
    [`/admin/goods/${spu}/specs/`]: READ_ONLY,
    [`/admin/goods/${spu}/specs/${silver.spec_id}/`]: READ_ONLY,
    [`/admin/specs/${silver.spec_id}/options/`]: READ_ONLY,
    [`/admin/specs/${silver.spec_id}/options/${silver.option_id}/`]: READ_ONLY,
    [`/admin/categories/${chain[0]}/categories/`]: READ_ONLY,
    [`/admin/categories/${chain[0]}/categories/${chain[1]}/`]: READ_ONLY,
    [`/admin/brands/${brand}/goods/`]: READ_ONLY,
    [`/admin/brands/${brand}/goods/${spu}/`]: READ_ONLY,
    [`/admin/skus/${sku}/specs/`]: COLLECTION,
    [`/admin/skus/${sku}/specs/${record}/`]: 'GET, HEAD, DELETE, OPTIONS',
  };
}

test('a method that the path does not have is 405, and Allow lists those that it has', async () => {
  for (const [path, allow] of Object.entries(shapes())) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE']) {
      if (allow.split(', ').includes(method)) continue;
      const answer = await send(server, method, path, { token: null });
      assertProblem(answer, 405, `${method} ${path}`);
      assert.is(answer.headers.get('allow'), allow, `${method} ${path}`);
    }
  }
});

test('OPTIONS needs no token, and lists every method of the path', async () => {
  for (const [path, allow] of Object.entries(shapes())) {
    for (const token of [null, 'nonsense']) {
      const answer = await send(server, 'OPTIONS', path, { token });
      assert.is(answer.status, 200, path);
      assert.is(answer.headers.get('allow'), allow, path);
      assert.type(answer.json, 'object', path);
    }
  }
});

// 415

const BOOK = JSON.stringify({ name: 'Emma', pub_date: '1815-12-23' });

test('a body with a Content-Type other than JSON is 415', async () => {
  for (const type of [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json-seq',
    'json',
    'nonsense',
  ]) {
    const headers = { 'content-type': type };
    assertProblem(await send(server, 'POST', '/books/', { body: BOOK, headers }), 415, type);
    const item = `/admin/brands/${catalog.brand}/`;
    for (const method of ['PUT', 'PATCH']) {
      assertProblem(await send(server, method, item, { body: '{}', headers }), 415, type);
    }
  }
});

test('a 415 names the media types, and for PATCH those of a patch, that would be accepted', async () => {
  const headers = { 'content-type': 'text/plain' };
  const refusal = async (method: string, path: string, more = {}) => {
    const answer = await send(server, method, path, {
      body: '{}',
      headers: { ...headers, ...more },
    });
    assertProblem(answer, 415, `${method} ${path}`);
    return ['accept', 'accept-patch', 'accept-encoding'].map((name) => answer.headers.get(name));
  };
  const json = 'application/json';
  const patches = 'application/json, application/merge-patch+json';
  const files = 'text/csv, application/x-ndjson, application/json';
  assert.equal(await refusal('POST', '/books/'), [json, null, null]);
  assert.equal(await refusal('PUT', skuPath()), [json, null, null]);
  assert.equal(await refusal('PATCH', skuPath()), [patches, patches, null]);
  assert.equal(await refusal('PATCH', '/admin/skus/bulk/'), [json, json, null]);
  assert.equal(await refusal('POST', '/admin/skus/imports/'), [files, null, null]);
  const packed = { 'content-type': json, 'content-encoding': 'gzip' };
  assert.equal(await refusal('PATCH', skuPath(), packed), [null, null, 'identity']);
});

test('application/json, any +json type and a missing Content-Type mean JSON', async () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/merge-patch+json',
    'application/vnd.catalog+json; version=1.0',
  ]) {
    const headers = { 'content-type': type };
    const { status } = await send(server, 'POST', '/books/', { body: BOOK, headers });
    assert.is(status, 201, type);
  }
  const untyped = await server.fetch(`${server.url}/books/`, { method: 'POST', body: BOOK });
  assert.is(untyped.status, 201);
});

// The order of the checks

interface Doubly extends Sent {
  readonly method: string;
  readonly path: () => string;
  readonly as?: 'nobody' | 'viewer' | 'expired viewer';
  readonly status: number;
}

const skuPath = () => `/admin/skus/${catalog.sku}/`;
const unknownSku = () => `/admin/skus/${UNKNOWN}/`;
const STALE = { 'if-match': '"stale"' };
const HTML = { accept: 'text/html' };

/** Requests that are wrong in two ways, of which the first must be reported. */
const ORDER: Readonly<Record<string, Doubly>> = {
  'path before method': { method: 'PROPFIND', path: () => '/nowhere/', status: 404 },
  'path before authentication': {
    method: 'GET',
    path: () => '/admin/nowhere/',
    as: 'nobody',
    status: 404,
  },
  'method before authentication': {
    method: 'DELETE',
    path: () => '/admin/skus/',
    as: 'nobody',
    status: 405,
  },
  'method before item': { method: 'POST', path: unknownSku, body: {}, status: 405 },
  'authentication before permission': {
    method: 'DELETE',
    path: skuPath,
    as: 'expired viewer',
    status: 401,
  },
  'authentication before item': { method: 'GET', path: unknownSku, as: 'nobody', status: 401 },
  'authentication before body': {
    method: 'POST',
    path: () => '/admin/skus/',
    as: 'nobody',
    body: '{',
    status: 401,
  },
  'permission before item': { method: 'DELETE', path: unknownSku, as: 'viewer', status: 403 },
  'permission before preconditions': {
    method: 'PUT',
    path: skuPath,
    as: 'viewer',
    headers: STALE,
    body: {},
    status: 403,
  },
  'permission before body': {
    method: 'POST',
    path: () => '/admin/skus/',
    as: 'viewer',
    body: '{',
    status: 403,
  },
  'item before Accept': { method: 'GET', path: unknownSku, headers: HTML, status: 404 },
  'item before preconditions': {
    method: 'DELETE',
    path: unknownSku,
    headers: STALE,
    status: 404,
  },
  'item before body': { method: 'PUT', path: unknownSku, body: '{', status: 404 },
  'parent before body': {
    method: 'POST',
    path: () => `/admin/skus/${UNKNOWN}/specs/`,
    body: '{',
    status: 404,
  },
  'Accept before preconditions': {
    method: 'GET',
    path: skuPath,
    headers: { ...HTML, ...STALE },
    status: 406,
  },
  'preconditions before malformed JSON': {
    method: 'PUT',
    path: skuPath,
    headers: STALE,
    body: '{',
    status: 412,
  },
  'preconditions before the type of the body': {
    method: 'PATCH',
    path: skuPath,
    headers: { ...STALE, 'content-type': 'text/plain' },
    body: '{}',
    status: 412,
  },
  'preconditions before the size of the body': {
    method: 'PUT',
    path: skuPath,
    headers: STALE,
    body: 'x'.repeat(MEBIBYTE + 1),
    status: 412,
  },
  'If-None-Match before validation': {
    method: 'PUT',
    path: skuPath,
    headers: { 'if-none-match': '*' },
    body: {},
    status: 412,
  },
  'preconditions before validation': {
    method: 'PUT',
    path: skuPath,
    headers: STALE,
    body: {},
    status: 412,
  },
  'well-formed JSON before validation': {
    method: 'PUT',
    path: skuPath,
    body: '{"name":1',
    status: 400,
  },
  'validation before integrity': {
    method: 'PATCH',
    path: skuPath,
    body: { spu_id: UNKNOWN, price: -1 },
    status: 422,
  },
};

for (const [what, { method, path, as, status, ...sent }] of Object.entries(ORDER)) {
  test(`the server checks ${what}: ${method} is ${status}`, async () => {
    const token =
      as === undefined
        ? {}
        : as === 'nobody'
          ? { token: null }
          : { token: await tokenFor('viewer', as === 'viewer' ? {} : { exp: 1 }) };
    assertProblem(await send(server, method, path(), { ...sent, ...token }), status, what);
  });
}

test('a validation problem is reported before a reference that does not exist', async () => {
  const body = { spu_id: UNKNOWN, price: -1 };
  const { json } = await send(server, 'PATCH', skuPath(), { body });
  assert.equal(Object.keys(json.fields), ['price']);
});

test('the id 0, which no item has had, is 404 and not 410', async () => {
  for (const path of [
    '/admin/skus/0/',
    '/admin/brands/00/',
    '/admin/skus/0/audits/',
    '/books/0/',
  ]) {
    for (const method of ['GET', 'HEAD']) {
      assert.is((await send(server, method, path)).status, 404, `${method} ${path}`);
    }
  }
});

test('a deleted item is 410 before Accept is checked', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  await send(server, 'DELETE', `/admin/skus/${id}/`);
  assertProblem(await send(server, 'GET', `/admin/skus/${id}/`, { headers: HTML }), 410, 'gone');
});

test.run();
