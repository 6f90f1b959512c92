/** spec 5.1 to 5.8: versions, media types, entity tags, links and the documents. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, make, pageWith, skuFields, spuFields } from '../support/catalog.ts';
import { linksOf, type Received, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const JSON_TYPE = 'application/json';
const VENDOR_TYPE = 'application/vnd.catalog+json; version=1.0';

const COLLECTIONS: Readonly<Record<string, string>> = {
  books: '/books/',
  brands: '/admin/brands/',
  categories: '/admin/categories/',
  goods: '/admin/goods/',
  specs: '/admin/specs/',
  options: '/admin/options/',
  skus: '/admin/skus/',
};

let server: Service;
/** The same under `--base-path /api`. */
let moved: Service;

test.before(async () => {
  server = await openService({ demo: true });
  moved = await openService({ demo: true, basePath: '/api' });
});

test.after(closeServices);

const get = (path: string, headers: Record<string, string> = {}) =>
  send(server, 'GET', path, { headers });

const typeOf = ({ headers }: Received) => headers.get('content-type');

const etagOf = ({ headers }: Received) => headers.get('etag') ?? '';

/** The targets of `Link` by relation. */
const links = (answer: Received): Record<string, string> => Object.fromEntries(linksOf(answer));

test('a path with /1.0/ and the same path without it have the same response', async () => {
  for (const path of [
    '/books/',
    '/books/1/',
    '/admin/goods/1/',
    '/admin/skus/1/specs/',
    '/admin/goods/1/skus/1/',
    '/',
    '/openapi.json',
    '/docs/',
  ]) {
    const [bare, versioned] = [await get(path), await get(`/1.0${path}`)];
    assert.is(versioned.status, 200, path);
    assert.is(versioned.text, bare.text, path);
    assert.is(typeOf(versioned), typeOf(bare), path);
    assert.is(etagOf(versioned), etagOf(bare), path);
  }
});

test('links and Location have the version of the requested path', async () => {
  const page = links(await get('/1.0/books/?per_page=2&page=2'));
  for (const rel of ['first', 'prev', 'next', 'last']) {
    assert.ok(page[rel]?.startsWith('/1.0/books/?'), `${rel}: ${page[rel]}`);
  }
  const body = { name: 'Versioned', pub_date: '2001-02-03' };
  const created = await send(server, 'POST', '/1.0/books/', { body });
  assert.is(created.headers.get('location'), `/1.0/books/${created.json.id}/`);
  const bare = await send(server, 'POST', '/books/', { body });
  assert.is(bare.headers.get('location'), `/books/${bare.json.id}/`);
});

test('a path with another version is 404', async () => {
  for (const segment of ['2.0', '1.1', '1', '0.9', '1.00', '01.0', 'v1.0', '1.0.0', '1.0/1.0']) {
    for (const path of ['/books/', '/books/1/', '/admin/skus/1/', '/']) {
      const answer = await get(`/${segment}${path}`);
      assert.is(answer.status, 404, `/${segment}${path}`);
      assert.equal(Object.keys(answer.json), ['error']);
    }
  }
  assert.is((await get('/1.0')).status, 404);
  assert.is((await get('/books/1.0/')).status, 404);
});

/** The media type of the response to an `Accept`; 406 if it excludes both types. */
const ACCEPT: readonly (readonly [accept: string, answer: string | 406])[] = [
  ['application/json', JSON_TYPE],
  ['application/*', JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['', JSON_TYPE],
  ['Application/JSON', JSON_TYPE],
  ['application/json; charset=utf-8', JSON_TYPE],
  ['text/html, application/json', JSON_TYPE],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', JSON_TYPE],
  ['application/vnd.catalog+json; version=1.0', VENDOR_TYPE],
  ['application/vnd.catalog+json;version="1.0"', VENDOR_TYPE],
  ['APPLICATION/VND.CATALOG+JSON;VERSION=1.0', VENDOR_TYPE],
  ['application/vnd.catalog+json', VENDOR_TYPE],
  ['text/html, application/vnd.catalog+json; version=1.0', VENDOR_TYPE],
  ['application/json;q=0.5, application/vnd.catalog+json;version=1.0;q=0.9', VENDOR_TYPE],
  ['application/json;q=0.9, application/vnd.catalog+json;version=1.0;q=0.5', JSON_TYPE],
  ['application/vnd.catalog+json;version=1.0, application/json;q=0.999', VENDOR_TYPE],
  ['application/json;q=0, */*', VENDOR_TYPE],
  ['*/*, application/vnd.catalog+json;q=0', JSON_TYPE],
  ['application/*;q=0.2, application/vnd.catalog+json;version=1.0', VENDOR_TYPE],
  ['application/vnd.catalog+json;version=2.0, application/json;q=0.1', JSON_TYPE],
  [
    'application/vnd.catalog+json;version=2.0, application/vnd.catalog+json;version=1.0;q=0.1',
    VENDOR_TYPE,
  ],
  ['application/vnd.catalog+json; version=2.0', 406],
  ['application/vnd.catalog+json; version=1', 406],
  ['application/vnd.catalog+json; version=""', 406],
  ['text/html', 406],
  ['text/*', 406],
  ['application/xml', 406],
  ['application/hal+json', 406],
  ['application/json;q=0', 406],
  ['*/*;q=0', 406],
  ['application/*;q=0, text/html', 406],
  ['application/json;q=0, application/vnd.catalog+json;q=0, */*', 406],
];
for (const [accept, wanted] of ACCEPT) {
  test(`for Accept: ${accept || '(empty)'} the response is ${wanted}`, async () => {
    for (const path of ['/books/', '/books/1/', '/admin/skus/1/', '/admin/goods/1/skus/']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await send(server, method, path, { headers: { accept } });
        assert.is(answer.status, wanted === 406 ? 406 : 200, `${method} ${path}`);
        assert.is(typeOf(answer), wanted === 406 ? JSON_TYPE : wanted, `${method} ${path}`);
        if (wanted === 406 && method === 'GET') assert.equal(Object.keys(answer.json), ['error']);
      }
    }
  });
}

test('without Accept the response is application/json', async () => {
  const answer = await send(server, 'GET', '/books/1/');
  assert.is(answer.status, 200);
  assert.is(typeOf(answer), JSON_TYPE);
});

test('both media types have the same body', async () => {
  const [plain, vendor] = [await get('/books/1/'), await get('/books/1/', { accept: VENDOR_TYPE })];
  assert.is(vendor.text, plain.text);
});

test('the API description is 406 if Accept excludes JSON; /docs/ is 200 for any Accept', async () => {
  assert.is((await get('/openapi.json', { accept: 'text/html' })).status, 406);
  assert.is((await get('/openapi.json', { accept: 'text/html, */*;q=0.1' })).status, 200);
  assert.is((await get('/', { accept: 'image/png' })).status, 406);
  assert.is(typeOf(await get('/', { accept: 'text/html, */*;q=0.1' })), 'text/html; charset=utf-8');
  assert.is((await get('/docs/', { accept: 'text/html' })).status, 200);
  assert.is((await get('/docs/', { accept: JSON_TYPE })).status, 200);
});

test('a write responds with the accepted type, or with JSON if Accept excludes both, never with 406', async () => {
  const answers: readonly (readonly [string, string])[] = [
    [VENDOR_TYPE, VENDOR_TYPE],
    [JSON_TYPE, JSON_TYPE],
    ['text/html', JSON_TYPE],
    ['application/vnd.catalog+json; version=2.0', JSON_TYPE],
    ['*/*;q=0', JSON_TYPE],
  ];
  for (const [accept, type] of answers) {
    const headers = { accept };
    const body = { name: 'Typed', pub_date: '2001-02-03' };
    const created = await send(server, 'POST', '/books/', { body, headers });
    assert.is(created.status, 201, accept);
    assert.is(typeOf(created), type);
    const path = created.headers.get('location') ?? '';
    for (const method of ['PUT', 'PATCH']) {
      const written = await send(server, method, path, { body, headers });
      assert.is(written.status, 200, `${method} ${accept}`);
      assert.is(typeOf(written), type, `${method} ${accept}`);
    }
    const removed = await send(server, 'DELETE', path, { headers });
    assert.is(removed.status, 204, accept);
    assert.is(removed.text, '');
  }
});

test('an error is application/json for any Accept', async () => {
  const accepted = [VENDOR_TYPE, JSON_TYPE, 'text/html', 'image/*', 'text/csv', '*/*;q=0', 'x', ''];
  for (const path of ['/books/9999/', '/admin/skus/9999/', '/nowhere/', '/books/?limit=0']) {
    for (const accept of accepted) {
      const answer = await get(path, { accept });
      assert.ok(answer.status >= 400, `${path} ${accept}`);
      assert.is(typeOf(answer), JSON_TYPE, `${path} ${accept}`);
    }
  }
  const headers = { accept: VENDOR_TYPE };
  const refused = await send(server, 'POST', '/books/', { body: {}, headers });
  assert.is(refused.status, 422);
  assert.is(typeOf(refused), JSON_TYPE);
});

test('every item has a strong entity tag that does not change while the object is unchanged', async () => {
  for (const path of Object.values(COLLECTIONS)) {
    const [first, again] = [await get(`${path}1/`), await get(`${path}1/`)];
    assert.match(etagOf(first), /^"[!\x23-\x7e]+"$/, path);
    assert.is(etagOf(again), etagOf(first), path);
    assert.is.not(etagOf(await get(`${path}2/`)), etagOf(first), path);
  }
  assert.match(etagOf(await get('/admin/skus/1/specs/1/')), /^"[!\x23-\x7e]+"$/);
});

test('the entity tag of a write response is that of the object when it is read afterwards', async () => {
  const body = { name: 'Tagged', pub_date: '2001-02-03' };
  const created = await send(server, 'POST', '/books/', { body });
  const path = created.headers.get('location') ?? '';
  assert.is(etagOf(created), etagOf(await get(path)));

  const same = await send(server, 'PUT', path, { body });
  assert.is(etagOf(same), etagOf(created));
  for (const method of ['PUT', 'PATCH']) {
    const before = etagOf(await get(path));
    const changed = await send(server, method, path, { body: { ...body, name: `By ${method}` } });
    assert.is.not(etagOf(changed), before, method);
    assert.is(etagOf(await get(path)), etagOf(changed), method);
  }
});

test('an entity tag changes with a joined name; the tags of other objects do not change', async () => {
  const catalog = await createCatalog(server, 'Joined');
  const other = await createCatalog(server, 'Bystander');
  const { silver } = catalog;
  const option = `/admin/options/${silver.option_id}/`;
  const cases: readonly (readonly [renamed: string, shownBy: readonly string[], not: string])[] = [
    [
      `/admin/goods/${catalog.spu}/`,
      [`/admin/skus/${catalog.sku}/`, `/admin/specs/${silver.spec_id}/`],
      `/admin/skus/${other.sku}/`,
    ],
    [
      `/admin/categories/${catalog.chain[2]}/`,
      [`/admin/skus/${catalog.sku}/`],
      `/admin/skus/${other.sku}/`,
    ],
    [
      `/admin/brands/${catalog.brand}/`,
      [`/admin/goods/${catalog.spu}/`],
      `/admin/goods/${other.spu}/`,
    ],
    [`/admin/specs/${silver.spec_id}/`, [option], `/admin/options/${other.silver.option_id}/`],
    // No SKU shows the name of a first-level category.
    [`/admin/categories/${catalog.chain[0]}/`, [], `/admin/skus/${catalog.sku}/`],
  ];
  for (const [renamed, shownBy, not] of cases) {
    const before = await Promise.all(shownBy.map((path) => get(path)));
    const bystander = etagOf(await get(not));
    const change = await send(server, 'PATCH', renamed, { body: { name: 'Renamed' } });
    assert.is(change.status, 200, renamed);
    for (const [index, path] of shownBy.entries()) {
      const then = before[index];
      assert.is.not(etagOf(await get(path)), then && etagOf(then), `${path} after ${renamed}`);
      const stale = await send(server, 'PATCH', path, {
        body: {},
        headers: { 'if-match': then ? etagOf(then) : '' },
      });
      assert.is(stale.status, 412, `${path} after ${renamed}`);
    }
    assert.is(etagOf(await get(not)), bystander, `${not} after ${renamed}`);
  }
});

test('the entity tag of a SKU changes with its specification records', async () => {
  const { sku, silver } = await createCatalog(server, 'Recorded');
  const bare = etagOf(await get(`/admin/skus/${sku}/`));
  const record = await make(server, `/admin/skus/${sku}/specs/`, { ...silver });
  assert.is.not(etagOf(await get(`/admin/skus/${sku}/`)), bare);
  await send(server, 'DELETE', `/admin/skus/${sku}/specs/${record.id}/`);
  assert.is(etagOf(await get(`/admin/skus/${sku}/`)), bare);
});

test('If-None-Match with the tag of the object is 304: strong, weak, in a list, or *', async () => {
  for (const path of [
    '/books/1/',
    '/admin/skus/1/',
    '/admin/goods/1/skus/1/',
    '/openapi.json',
    '/',
  ]) {
    const plain = await get(path);
    const etag = etagOf(plain);
    for (const value of [
      etag,
      `W/${etag}`,
      '*',
      `"other", ${etag}`,
      `"a","b" ,W/${etag}, "c"`,
      `"with, comma", ${etag}`,
    ]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await send(server, method, path, { headers: { 'if-none-match': value } });
        assert.is(answer.status, 304, `${method} ${path} ${value}`);
        assert.is(answer.text, '');
        assert.is(etagOf(answer), etag);
        for (const name of ['vary', 'cache-control']) {
          assert.is(answer.headers.get(name), plain.headers.get(name), name);
        }
      }
    }
    for (const value of ['"other"', 'W/"other"', etag.slice(1, -1), `"W/${etag.slice(1)}`]) {
      const answer = await get(path, { 'if-none-match': value });
      assert.is(answer.status, 200, `${path} ${value}`);
      assert.is(answer.text, plain.text);
    }
  }
});

test('If-None-Match with an old tag is 200 with the new object', async () => {
  const created = await send(server, 'POST', '/books/', {
    body: { name: 'Old', pub_date: '2001-02-03' },
  });
  const path = created.headers.get('location') ?? '';
  await send(server, 'PATCH', path, { body: { name: 'New' } });
  const answer = await get(path, { 'if-none-match': etagOf(created) });
  assert.is(answer.status, 200);
  assert.is(answer.json.name, 'New');
});

for (const method of ['PUT', 'PATCH', 'DELETE']) {
  test(`${method} with If-None-Match and the current tag, or *, is 412 and changes nothing`, async () => {
    const created = await send(server, 'POST', '/books/', {
      body: { name: 'Kept', pub_date: '2001-02-03' },
    });
    const path = created.headers.get('location') ?? '';
    const body = method === 'DELETE' ? undefined : { name: 'New', pub_date: '2001-02-03' };
    for (const value of [etagOf(created), '*']) {
      const headers = { 'if-none-match': value };
      assert.is((await send(server, method, path, { body, headers })).status, 412, value);
      assert.is(etagOf(await get(path)), etagOf(created));
    }
    const headers = { 'if-none-match': '"another"' };
    assert.ok((await send(server, method, path, { body, headers })).status < 300);
  });
}

for (const method of ['PUT', 'PATCH', 'DELETE']) {
  test(`If-Match guards ${method}: stale and weak tags are 412 and change nothing`, async () => {
    const body = { name: 'Guarded', pub_date: '2001-02-03' };
    const created = await send(server, 'POST', '/books/', { body });
    const path = created.headers.get('location') ?? '';
    const stale = etagOf(created);
    const current = etagOf(await send(server, 'PATCH', path, { body: { name: 'Second' } }));
    const write = (match: string) =>
      send(server, method, path, {
        headers: { 'if-match': match },
        ...(method !== 'DELETE' && { body: { ...body, name: 'Third' } }),
      });
    for (const match of [
      stale,
      `W/${current}`,
      `W/${stale}, W/${current}`,
      current.slice(1, -1),
      '"*"',
      '""',
    ]) {
      const answer = await write(match);
      assert.is(answer.status, 412, match);
      assert.equal(Object.keys(answer.json), ['error']);
      assert.is(etagOf(await get(path)), current, match);
    }
    const done = await write(`${stale}, ${current}`);
    assert.is(done.status, method === 'DELETE' ? 204 : 200);
    if (method !== 'DELETE') assert.is(done.json.name, 'Third');
  });

  test(`${method} with If-Match: * succeeds if the object exists, and is 404 otherwise`, async () => {
    const body = { name: 'Any', pub_date: '2001-02-03' };
    const created = await send(server, 'POST', '/books/', { body });
    const sent = { headers: { 'if-match': '*' }, ...(method !== 'DELETE' && { body }) };
    const answer = await send(server, method, created.headers.get('location') ?? '', sent);
    assert.is(answer.status, method === 'DELETE' ? 204 : 200);
    const unknown = await send(server, method, '/books/99999/', sent);
    assert.is(unknown.status, 404);
    assert.is(unknown.text, '{}');
  });
}

test('a POST to a collection, which has no ETag, is 412 with any If-Match other than *', async () => {
  for (const path of ['/books/', '/admin/brands/', '/admin/skus/1/specs/']) {
    const before = (await send(server, 'GET', path)).text;
    for (const match of ['"x"', 'W/"x"', 'nonsense']) {
      const answer = await send(server, 'POST', path, { body: {}, headers: { 'if-match': match } });
      assert.is(answer.status, 412, `${path} with ${match}`);
      assert.is(answer.json.error, 'this path has no ETag, so it accepts only If-Match: *');
    }
    assert.is((await send(server, 'GET', path)).text, before, path);
    const any = await send(server, 'POST', path, { body: {}, headers: { 'if-match': '*' } });
    assert.is(any.status, 422, path);
  }
});

test('of five concurrent writes with the same tag one succeeds, and the others are 412', async () => {
  const { sku } = await createCatalog(server, 'Raced');
  const path = `/admin/skus/${sku}/`;
  const headers = { 'if-match': etagOf(await get(path)) };
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((stock) => send(server, 'PATCH', path, { body: { stock }, headers })),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.equal(statuses, [200, 412, 412, 412, 412]);
  const winner = answers.find(({ status }) => status === 200);
  assert.equal((await get(path)).json, winner?.json);
});

/** The headers of a response, without those that may be others a second later. */
function withoutTimes(headers: Headers): Readonly<Record<string, string>> {
  const { date: _, 'last-modified': __, ...others } = Object.fromEntries(headers);
  return others;
}

test('HEAD has the status and the headers of GET, and no body', async () => {
  await pageWith(server, 1, 'Auralune');
  const removed = await make(server, '/admin/brands/', { name: 'Short-lived' });
  await send(server, 'DELETE', `/admin/brands/${removed.id}/`);
  const cases: readonly (readonly [
    path: string,
    status: number,
    headers?: Record<string, string>,
  ])[] = [
    ['/', 200],
    ['/openapi.json', 200],
    ['/docs/', 200],
    ['/docs/swagger-ui.css', 200],
    ['/pages/skus/1.html', 200],
    ['/books/', 200],
    ['/books/?page=2&per_page=2', 200],
    ['/books/1/', 200],
    ['/admin/goods/', 200],
    ['/admin/skus/1/', 200],
    ['/admin/skus/1/', 200, { accept: VENDOR_TYPE }],
    ['/admin/goods/1/skus/', 200],
    ['/admin/goods/1/skus/1/', 200],
    ['/admin/skus/1/specs/', 200],
    ['/admin/skus/1/specs/1/', 200],
    ['/books/1/', 304, { 'if-none-match': '*' }],
    ['/books/?limit=0', 400],
    ['/admin/skus/1/', 401, { authorization: 'Bearer wrong' }],
    ['/books/9999/', 404],
    ['/admin/skus/9999/', 404],
    ['/nowhere/', 404],
    ['/books', 404],
    ['/pages/skus/9999.html', 404],
    ['/docs/nothing', 404],
    ['/books/1/', 406, { accept: 'text/html' }],
    [`/admin/brands/${removed.id}/`, 410],
    ['/books/1/', 412, { 'if-match': '"stale"' }],
  ];
  for (const [path, status, headers = {}] of cases) {
    const [whole, head] = [await get(path, headers), await send(server, 'HEAD', path, { headers })];
    const told = `${path} ${JSON.stringify(headers)}`;
    assert.is(whole.status, status, told);
    assert.is(head.status, status, told);
    assert.is(head.text, '', told);
    const [ofGet, ofHead] = [withoutTimes(whole.headers), withoutTimes(head.headers)];
    assert.equal(ofHead, ofGet, told);
  }
});

/** Attributes that a client may send: JSON types, and whether POST and PUT need them. */
const ATTRIBUTES: Readonly<Record<string, Record<string, readonly [unknown, boolean]>>> = {
  '/books/': { name: ['string', true], pub_date: ['string', true] },
  '/admin/goods/': {
    name: ['string', true],
    brand_id: ['integer', true],
    category1_id: ['integer', true],
    category2_id: ['integer', true],
    category3_id: ['integer', true],
    desc_detail: ['string', false],
    desc_pack: ['string', false],
    desc_service: ['string', false],
  },
  '/admin/skus/': {
    name: ['string', true],
    spu_id: ['integer', true],
    caption: ['string', true],
    category_id: ['integer', true],
    price: ['integer', true],
    cost_price: ['integer', true],
    market_price: ['integer', true],
    stock: ['integer', true],
    is_launched: ['boolean', true],
    specs: ['array', false],
    code: [['string', 'null'], false],
  },
  '/admin/brands/': {
    name: ['string', true],
    logo: ['string', false],
    first_letter: ['string', false],
  },
  '/admin/categories/': { name: ['string', true], parent_id: [['integer', 'null'], false] },
  '/admin/specs/': { name: ['string', true], spu_id: ['integer', true] },
  '/admin/options/': { value: ['string', true], spec_id: ['integer', true] },
};
for (const [path, wanted] of Object.entries(ATTRIBUTES)) {
  test(`OPTIONS ${path} lists the attributes that a client may send, and needs no token`, async () => {
    for (const [at, allow] of [
      [path, 'GET, HEAD, POST, OPTIONS'],
      [`${path}1/`, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
      [`${path}9999/`, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ] as const) {
      const answer = await send(server, 'OPTIONS', at, { token: null });
      assert.is(answer.status, 200, at);
      assert.is(answer.headers.get('allow'), allow, at);
      assert.is(typeOf(answer), JSON_TYPE);
      const told = Object.entries<{ type: unknown; required: boolean }>(answer.json.attributes);
      assert.equal(
        Object.fromEntries(told.map(([name, { type, required }]) => [name, [type, required]])),
        wanted,
        at,
      );
    }
  });
}

test('OPTIONS of a path with PATCH names its media types in Accept-Patch (RFC 5789)', async () => {
  for (const [path, types] of [
    ['/books/1/', 'application/json'],
    ['/admin/brands/1/', 'application/json'],
    ['/admin/skus/1/', 'application/json, application/merge-patch+json'],
    ['/admin/skus/bulk/', 'application/json'],
    ['/admin/skus/', null],
    ['/admin/goods/1/skus/1/', null],
  ] as const) {
    const { headers } = await send(server, 'OPTIONS', path, { token: null });
    assert.is(headers.get('accept-patch'), types, path);
  }
});

test('OPTIONS of the records lists spec_id and option_id; for read-only paths it lists nothing', async () => {
  const records = await send(server, 'OPTIONS', '/admin/skus/1/specs/', { token: null });
  const { attributes } = records.json;
  assert.equal(Object.keys(attributes), ['spec_id', 'option_id']);
  assert.is(attributes.spec_id.type, 'integer');
  assert.is(attributes.option_id.required, true);
  for (const path of [
    '/',
    '/openapi.json',
    '/docs/',
    '/pages/skus/1.html',
    '/admin/goods/1/skus/',
  ]) {
    const answer = await send(server, 'OPTIONS', path, { token: null });
    assert.is(answer.status, 200, path);
    assert.is(answer.headers.get('allow'), 'GET, HEAD, OPTIONS', path);
    assert.equal(answer.json.attributes, {}, path);
  }
});

test('GET / lists the collections, the audit trail and the documentation, and each path is 200', async () => {
  const { status, json } = await send(server, 'GET', '/', { token: null });
  assert.is(status, 200);
  const listed: string[] = Object.values(json.collections);
  assert.equal(listed.toSorted(), ['/admin/audits/', ...Object.values(COLLECTIONS)].toSorted());
  const documents: string[] = Object.values(json.documentation);
  assert.equal(documents.toSorted(), ['/docs/', '/openapi.json']);
  for (const path of [...listed, ...documents]) {
    assert.is((await get(path)).status, 200, path);
  }
});

test('GET /openapi.json returns OpenAPI 3.1, and needs no token', async () => {
  const answer = await send(server, 'GET', '/openapi.json', { token: null });
  assert.is(answer.status, 200);
  assert.is(typeOf(answer), JSON_TYPE);
  assert.match(answer.json.openapi, /^3\.1\.\d+$/);
  assert.is(answer.json.servers[0].url, '/');
});

test('GET /docs/ is a page that loads only files of this server, and all of them exist', async () => {
  for (const [at, prefix] of [
    [server, ''],
    [moved, '/api'],
  ] as const) {
    const page = await send(at, 'GET', `${prefix}/docs/`, { token: null });
    assert.is(page.status, 200);
    assert.match(typeOf(page) ?? '', /^text\/html; charset=utf-8$/i);
    const files = [...page.text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, file = '']) => file);
    assert.ok(files.length > 0);
    for (const file of files) {
      const url = new URL(file, `${at.url}${prefix}/docs/`);
      if (url.protocol === 'data:') continue;
      assert.is(url.origin, at.url, file);
      assert.is((await at.fetch(url.href)).status, 200, file);
    }
  }
});

test('every API response links to the description and to its page, including errors', async () => {
  const wanted = { 'service-desc': '/openapi.json', 'service-doc': '/docs/' };
  const body = { name: 'Linked', pub_date: '2001-02-03' };
  const answers = [
    await get('/'),
    await get('/books/'),
    await get('/books/1/'),
    await get('/admin/skus/1/specs/'),
    await send(server, 'POST', '/books/', { body }),
    await send(server, 'OPTIONS', '/books/'),
    await send(server, 'HEAD', '/books/1/'),
    await get('/books/1/', { 'if-none-match': '*' }),
    await get('/books/?limit=0'),
    await send(server, 'GET', '/admin/skus/', { token: null }),
    await get('/books/9999/'),
    await get('/nowhere/'),
    await send(server, 'DELETE', '/books/'),
    await get('/books/', { accept: 'text/html' }),
    await send(server, 'POST', '/books/', { body: '{' }),
    await send(server, 'POST', '/books/', { body: {} }),
    await send(server, 'POST', '/books/', { body, headers: { 'content-type': 'text/plain' } }),
  ];
  assert.equal(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 201, 200, 200, 304, 400, 401, 404, 404, 405, 406, 400, 422, 415],
  );
  for (const answer of answers) {
    const { 'service-desc': desc, 'service-doc': doc } = links(answer);
    assert.equal({ 'service-desc': desc, 'service-doc': doc }, wanted, String(answer.status));
  }
});

test('Vary contains Accept, including 304, 404 and 406', async () => {
  for (const answer of [
    await get('/books/'),
    await get('/books/1/'),
    await get('/books/1/', { 'if-none-match': '*' }),
    await get('/books/1/', { accept: 'text/html' }),
    await get('/books/9999/'),
  ]) {
    const names = (answer.headers.get('vary') ?? '').toLowerCase().split(/ *, */);
    assert.ok(names.includes('accept'), String(answer.status));
  }
});

test('with --base-path the whole service is below that path', async () => {
  const at = (path: string) => send(moved, 'GET', `/api${path}`);
  for (const path of ['/', '/books/', '/admin/skus/1/', '/admin/goods/1/skus/', '/openapi.json']) {
    assert.is((await at(path)).status, 200, path);
    assert.is((await at(`/1.0${path}`)).status, 200, path);
  }
  await pageWith({ ...moved, url: `${moved.url}/api` }, 1, 'Auralune');
  assert.equal((await at('/books/1/')).json, (await get('/books/1/')).json);
});

test('a path outside the base path is 404, and its links begin with the base path', async () => {
  for (const path of [
    '/',
    '/books/',
    '/books/1/',
    '/admin/skus/1/',
    '/openapi.json',
    '/docs/',
    '/pages/skus/1.html',
    '/api',
    '/apibooks/',
    '/api2/books/',
    '/1.0/api/books/',
    '/1.0/books/',
    '/API/books/',
    '/api/api/books/',
  ]) {
    const answer = await send(moved, 'GET', path);
    assert.is(answer.status, 404, path);
    assert.equal(Object.keys(answer.json), ['error'], path);
    assert.is(links(answer)['service-desc'], '/api/openapi.json', path);
  }
});

test('a doubled slash before or after the base path is 404', async () => {
  for (const path of ['//api/books/', '/api//books/', '/api/books//', '/api/books//1/']) {
    assert.is((await send(moved, 'GET', path)).status, 404, path);
  }
});

test('with a base path, links, Location, the index and servers begin with it', async () => {
  const page = await send(moved, 'GET', '/api/1.0/books/?per_page=2&page=2');
  const { 'service-desc': _, 'service-doc': __, up, ...pages } = links(page);
  assert.is(up, '/api/1.0/');
  assert.equal(Object.keys(pages), ['first', 'prev', 'next', 'last']);
  for (const target of Object.values(pages)) {
    assert.ok(target.startsWith('/api/1.0/books/?'), target);
    assert.is((await send(moved, 'GET', target)).status, 200, target);
  }
  for (const rel of ['service-desc', 'service-doc']) {
    const target = links(page)[rel] ?? '';
    assert.ok(target.startsWith('/api/'), target);
    assert.is((await send(moved, 'GET', target)).status, 200, target);
  }

  const body = { name: 'Under', pub_date: '2001-02-03' };
  const created = await send(moved, 'POST', '/api/books/', { body });
  const location = created.headers.get('location') ?? '';
  assert.is(location, `/api/books/${created.json.id}/`);
  assert.is((await send(moved, 'GET', location)).status, 200);

  const { json } = await send(moved, 'GET', '/api/');
  const listed: string[] = [
    ...Object.values<string>(json.collections),
    ...Object.values<string>(json.documentation),
  ];
  assert.is(listed.length, 10);
  for (const path of listed) {
    assert.ok(path.startsWith('/api/'), path);
    assert.is((await send(moved, 'GET', path)).status, 200, path);
  }

  const document = await send(moved, 'GET', '/api/openapi.json');
  assert.is(document.json.servers[0].url, '/api');
  assert.ok('/books/' in document.json.paths);
  const missing = await send(moved, 'GET', '/api/books');
  assert.is(missing.status, 404);
  assert.match(missing.json.error, /\/api\/books\//);
});

test('in every collection Location is the path of the created object, without the query', async () => {
  const catalog = await createCatalog(server, 'Located');
  const { spu, silver, sku } = catalog;
  const bodies: Readonly<Record<string, unknown>> = {
    '/books/': { name: 'Located', pub_date: '2001-02-03' },
    '/admin/brands/': { name: 'Located' },
    '/admin/categories/': { name: 'Located' },
    '/admin/specs/': { name: 'Located', spu_id: spu },
    '/admin/options/': { value: 'Located', spec_id: silver.spec_id },
    '/admin/goods/': spuFields(catalog),
    '/admin/skus/': skuFields(catalog),
    [`/admin/skus/${sku}/specs/`]: silver,
  };
  assert.equal(
    Object.values(COLLECTIONS).filter((path) => !(path in bodies)),
    [],
  );
  for (const [path, body] of Object.entries(bodies)) {
    const created = await send(server, 'POST', `${path}?unknown=1`, { body });
    assert.is(created.status, 201, path);
    const location = created.headers.get('location') ?? '';
    assert.is(location, `${path}${created.json.id}/`);
    assert.equal((await get(location)).json, created.json);
  }
});

test('the entity tag of a SKU is the same in every response, however many records the SKU has', async () => {
  const catalog = await createCatalog(server, 'Tagged');
  for (const count of [1, 64, 65, 300]) {
    const specs = Array.from({ length: count }, () => catalog.silver);
    const body = skuFields(catalog, { specs });
    const created = await send(server, 'POST', '/admin/skus/', { body });
    const path = created.headers.get('location') ?? '';
    const read = await get(path);
    assert.is(etagOf(read), etagOf(created), `${count}`);
    const headers = { 'if-match': etagOf(read) };
    const changed = await send(server, 'PATCH', path, { headers, body: { stock: 3 } });
    assert.is(changed.status, 200, `${count}`);
    assert.is(etagOf(await get(path)), etagOf(changed), `${count}`);
  }
});

test.run();
