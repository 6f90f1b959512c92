/** spec 3.5 to 5.5, line by line, on every collection: rules that no other file tests on each. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../src/disk/disk.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  makePair,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { type Received, type Sent, send, streamOf } from '../support/client.ts';
import { quickDisk } from '../support/disk.ts';
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

interface Collection {
  /** Everything that POST and PUT need. */
  readonly valid: () => Fields;
  /** A member that PATCH can change, and its value. */
  readonly change: Fields;
  /** The members of the object, in their order. */
  readonly members: readonly string[];
}

const COLLECTIONS: Readonly<Record<string, Collection>> = {
  '/books/': {
    valid: () => ({ name: 'Emma', pub_date: '1815-12-23' }),
    change: { name: 'Persuasion' },
    members: ['id', 'name', 'pub_date', 'commentcount', 'readcount', 'image'],
  },
  '/admin/brands/': {
    valid: () => ({ name: 'Works' }),
    change: { logo: 'l.png' },
    members: ['id', 'name', 'logo', 'first_letter'],
  },
  '/admin/categories/': {
    valid: () => ({ name: 'Phones' }),
    change: { name: 'Telephones' },
    members: ['id', 'name', 'parent_id'],
  },
  '/admin/goods/': {
    valid: () => spuFields(catalog),
    change: { desc_pack: 'Two boxes.' },
    members: [
      'id',
      'name',
      'brand',
      'brand_id',
      'category1_id',
      'category2_id',
      'category3_id',
      'sales',
      'comments',
      'desc_detail',
      'desc_pack',
      'desc_service',
    ],
  },
  '/admin/skus/': {
    valid: () => skuFields(catalog),
    change: { stock: 7 },
    members: [
      'id',
      'name',
      'goods',
      'goods_id',
      'caption',
      'category_id',
      'category',
      'price',
      'cost_price',
      'market_price',
      'stock',
      'sales',
      'is_launched',
      'specs',
      'code',
    ],
  },
  '/admin/specs/': {
    valid: () => ({ name: 'Weight', spu_id: catalog.spu }),
    change: { name: 'Mass' },
    members: ['id', 'name', 'goods', 'goods_id'],
  },
  '/admin/options/': {
    valid: () => ({ value: 'Red', spec_id: catalog.silver.spec_id }),
    change: { value: 'Scarlet' },
    members: ['id', 'value', 'spec', 'spec_id'],
  },
};

const records = () => `/admin/skus/${catalog.sku}/specs/`;

/** Every collection that accepts POST, with a valid body. */
const creating = (): readonly (readonly [path: string, body: Fields])[] => [
  ...Object.entries(COLLECTIONS).map(([path, { valid }]) => [path, valid()] as const),
  [records(), catalog.silver],
];

/** Read-only paths of each shape. */
const readOnly = (): readonly string[] => [
  `/admin/goods/${catalog.spu}/skus/`,
  `/admin/goods/${catalog.spu}/skus/${catalog.sku}/`,
  `/admin/goods/${catalog.spu}/specs/`,
  `/admin/specs/${catalog.silver.spec_id}/options/`,
  `/admin/categories/${catalog.chain[0]}/categories/`,
  `/admin/categories/${catalog.chain[0]}/categories/${catalog.chain[1]}/`,
  `/admin/brands/${catalog.brand}/goods/`,
];

/** Every writing method of every path; the items exist. */
const writing = (): readonly (readonly [method: string, path: string])[] => [
  ...Object.keys(COLLECTIONS).flatMap((path) => {
    const many: readonly (readonly [string, string])[] =
      path === '/books/' ? [] : [['PATCH', `${path}bulk/`]];
    const item = `${path}1/`;
    return [['POST', path], ...many, ['PUT', item], ['PATCH', item], ['DELETE', item]] as const;
  }),
  ['POST', records()],
  ['DELETE', `${records()}${record}/`],
];

const etagOf = ({ headers }: Received) => headers.get('etag') ?? '';

/** spec 3.1. */
function assertProblem(answer: Received, status: number, what: string): void {
  assert.is(answer.status, status, `${what}: ${answer.text}`);
  assert.is(answer.headers.get('content-type'), 'application/json', what);
  assert.ok(typeof answer.json.error === 'string' && answer.json.error !== '', what);
}

/** Everything that the collections hold. */
async function everything(): Promise<string> {
  const lists = [...Object.keys(COLLECTIONS), records()].map((path) =>
    send(server, 'GET', `${path}?limit=1000`),
  );
  return (await Promise.all(lists)).map(({ text }) => text).join('\n');
}

// Create, change, delete

test('POST is 201 with the object and its Location, in every collection', async () => {
  for (const [path, body] of creating()) {
    const created = await send(server, 'POST', path, { body });
    assert.is(created.status, 201, `${path}: ${created.text}`);
    assert.is(created.headers.get('location'), `${path}${created.json.id}/`);
    const got = await send(server, 'GET', `${path}${created.json.id}/`);
    assert.is(got.text, created.text, path);
    assert.is(etagOf(got), etagOf(created), path);
    const members = COLLECTIONS[path]?.members ?? ['id', 'spec_id', 'option_id'];
    assert.equal(Object.keys(created.json), members, path);
  }
});

test('PUT and PATCH are 200 with the whole object, in every collection', async () => {
  for (const [path, { valid, change, members }] of Object.entries(COLLECTIONS)) {
    const before = await make(server, path, valid());
    const item = `${path}${before.id}/`;
    const patched = await send(server, 'PATCH', item, { body: change });
    assert.is(patched.status, 200, item);
    assert.equal(patched.json, { ...before, ...change }, item);
    const put = await send(server, 'PUT', item, { body: { ...valid(), ...change } });
    assert.is(put.status, 200, item);
    assert.is(put.text, patched.text, item);
    for (const answer of [patched, put]) {
      assert.equal(Object.keys(answer.json), members, item);
      assert.is(answer.headers.get('location'), null, item);
      assert.is(answer.headers.get('content-type'), 'application/json', item);
    }
    assert.equal(await read(server, item), put.json);
  }
});

test('DELETE is 204 without a body and without headers of a body, in every collection', async () => {
  for (const [path, body] of creating()) {
    const item = `${path}${(await make(server, path, body)).id}/`;
    const deleted = await send(server, 'DELETE', item);
    assert.is(deleted.status, 204, item);
    assert.is(deleted.text, '');
    for (const name of ['content-type', 'content-length', 'etag', 'location']) {
      assert.is(deleted.headers.get(name), null, `${item} ${name}`);
    }
    assert.is((await send(server, 'DELETE', item)).status, 404, 'a second time');
  }
});

test('If-Match guards PUT, PATCH and DELETE in every collection', async () => {
  for (const [path, { valid, change }] of Object.entries(COLLECTIONS)) {
    const created = await send(server, 'POST', path, { body: valid() });
    const item = `${path}${created.json.id}/`;
    const stale = etagOf(created);
    const current = await send(server, 'PATCH', item, { body: change });
    const write = (method: string, match: string) =>
      send(server, method, item, {
        headers: { 'if-match': match },
        ...(method !== 'DELETE' && { body: { ...valid(), ...change } }),
      });
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      for (const match of [stale, '"x"', `W/${etagOf(current)}`]) {
        assertProblem(await write(method, match), 412, `${method} ${item}`);
      }
    }
    assert.is((await send(server, 'GET', item)).text, current.text, item);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const done = await write(method, `"x", ${etagOf(current)}`);
      assert.is(done.status, method === 'DELETE' ? 204 : 200, `${method} ${item}`);
    }
  }
});

// Bodies

const withBody = () => writing().filter(([method]) => method !== 'DELETE');

test('a body that is not JSON is 400, another Content-Type is 415, more than 1 MiB is 413', async () => {
  const before = await everything();
  const large = `{"name":"${'x'.repeat(MEBIBYTE)}"}`;
  for (const [method, path] of withBody()) {
    const what = `${method} ${path}`;
    for (const body of [
      '',
      '{',
      '[',
      '[{}',
      '{}{}',
      '\ufeff{}',
      new Uint8Array([0x22, 0xff, 0x22]),
    ]) {
      assertProblem(await send(server, method, path, { body }), 400, `${what} ${String(body)}`);
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    assertProblem(await send(server, method, path, { body: '{}', headers }), 415, what);
    assertProblem(await send(server, method, path, { body: large }), 413, what);
  }
  assert.is(await everything(), before);
});

test('DELETE ignores a body and its Content-Type', async () => {
  const { id } = await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  const headers = { 'content-type': 'text/plain' };
  const answer = await send(server, 'DELETE', `/books/${id}/`, { headers, body: 'x' });
  assert.is(answer.status, 204);
});

test('a 422 names each field once in error and once in fields', async () => {
  const answer = await send(server, 'POST', '/books/', { body: { name: null } });
  assertProblem(answer, 422, 'POST');
  assert.equal(answer.json, {
    error: 'name: must be a string, not null; pub_date: is required',
    fields: { name: ['must be a string, not null'], pub_date: ['is required'] },
  });
});

const WRONG: readonly (readonly [sent: string, says: string])[] = [
  ['null', 'must be a string, not null'],
  ['true', 'must be a string, not a boolean'],
  ['[]', 'must be a string, not an array'],
  ['{}', 'must be a string, not an object'],
];

for (const [sent, says] of WRONG) {
  test(`a name of ${sent} is reported as "${says}"`, async () => {
    const answer = await send(server, 'POST', '/admin/brands/', { body: `{"name":${sent}}` });
    assert.equal(answer.json, { error: `name: ${says}`, fields: { name: [says] } });
  });
}

test('a number instead of another type is not reported as too large', async () => {
  for (const [path, field] of [
    [`/admin/brands/${catalog.brand}/`, 'name'],
    [`/admin/skus/${catalog.sku}/`, 'is_launched'],
  ] as const) {
    const { json } = await send(server, 'PATCH', path, { body: { [field]: 1 } });
    assert.equal(Object.keys(json.fields), [field]);
    assert.not.match(json.error, 'beyond');
  }
});

test('an invalid price is reported with the reason: too large, a fraction, a string or negative', async () => {
  for (const [sent, says] of [
    ['9007199254740992', 'must be an integer, not one beyond 2^53 - 1'],
    ['1e400', 'must be an integer, not one beyond 2^53 - 1'],
    ['0.125', 'must be an integer, not a fraction'],
    [
      '19.99',
      'must be an integer, not a fraction: prices are integers of the smallest currency unit, such as 1999 cents for 19.99',
    ],
    ['"1"', 'must be an integer, not a string'],
    ['-1', 'must be 0 or more'],
  ] as const) {
    const path = `/admin/skus/${catalog.sku}/`;
    const answer = await send(server, 'PATCH', path, { body: `{"price":${sent}}` });
    assert.equal(answer.json, { error: `price: ${says}`, fields: { price: [says] } }, sent);
  }
});

// Accept

test('GET and HEAD of every JSON path are 406 if Accept excludes it; writes respond with JSON', async () => {
  const accept = 'application/vnd.catalog+json; version=2.0, text/html';
  // The index is also available as HTML.
  const paths = ['/openapi.json', ...Object.keys(COLLECTIONS), ...readOnly(), records()];
  for (const path of [...paths, `${records()}${record}/`]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await send(server, method, path, { headers: { accept } });
      assert.is(answer.status, 406, `${method} ${path}`);
      if (method === 'GET') assertProblem(answer, 406, path);
    }
    assert.is((await send(server, 'OPTIONS', path, { headers: { accept } })).status, 200, path);
  }
  for (const [path, body] of creating()) {
    const created = await send(server, 'POST', path, { body, headers: { accept } });
    assert.is(created.status, 201, path);
    assert.is(created.headers.get('content-type'), 'application/json', path);
  }
});

// The order of the checks: the query of a list is checked last

const LISTS: readonly (readonly [what: string, path: string, sent: Sent, status: number])[] = [
  ['path', '/admin/nowhere/', {}, 404],
  ['authentication', '/admin/skus/', { token: null }, 401],
  ['parent', `/admin/goods/${UNKNOWN}/skus/`, {}, 404],
  ['Accept', '/admin/skus/', { headers: { accept: 'text/html' } }, 406],
];

for (const [what, path, sent, status] of LISTS) {
  test(`${what} is checked before the query: GET is ${status}`, async () => {
    assertProblem(await send(server, 'GET', `${path}?limit=0`, sent), status, what);
    assertProblem(await send(server, 'GET', '/admin/skus/?limit=0'), 400, 'the query alone');
  });
}

// Changes while a body is arriving

interface Half {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends half of a body, waits for what happens meanwhile, and sends the other half. */
function halfway(
  { method, path, body, headers = {} }: Half,
  meanwhile: () => Promise<unknown>,
): Promise<Received> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  async function* halves() {
    yield bytes.subarray(0, 5);
    await meanwhile();
    yield bytes.subarray(5);
  }
  return send(server, method, path, { body: streamOf(halves()), headers });
}

const current = async (path: string) => etagOf(await send(server, 'GET', path));

test('if the item is changed while a body is arriving, If-Match is 412, and the change is kept', async () => {
  for (const [path, { valid, change }] of Object.entries(COLLECTIONS)) {
    for (const method of ['PUT', 'PATCH']) {
      const item = `${path}${(await make(server, path, valid())).id}/`;
      const headers = { 'if-match': await current(item) };
      let other = '';
      const answer = await halfway({ method, path: item, body: valid(), headers }, async () => {
        other = (await send(server, 'PATCH', item, { body: change })).text;
      });
      assert.is(answer.status, 412, `${method} ${item}: ${answer.text}`);
      assert.is((await send(server, 'GET', item)).text, other, item);
    }
  }
});

test('if a joined name or a record is changed while a body is arriving, If-Match is 412', async () => {
  const { sku, spu, silver } = await createCatalog(server, 'Shown');
  const path = `/admin/skus/${sku}/`;
  for (const [method, target, body] of [
    ['PATCH', `/admin/goods/${spu}/`, { name: 'Renamed' }],
    ['POST', `${path}specs/`, silver],
  ] as const) {
    const headers = { 'if-match': await current(path) };
    const answer = await halfway({ method: 'PATCH', path, body: { stock: 1 }, headers }, () =>
      send(server, method, target, { body }),
    );
    assert.is(answer.status, 412, answer.text);
    assert.is((await read(server, path)).stock, 42);
  }
});

test('without If-Match, two concurrent PATCHes of different fields are both applied', async () => {
  const { id } = await make(server, '/admin/brands/', { name: 'First', logo: 'first.png' });
  const path = `/admin/brands/${id}/`;
  const answer = await halfway({ method: 'PATCH', path, body: { name: 'Second' } }, () =>
    send(server, 'PATCH', path, { body: { logo: 'second.png' } }),
  );
  assert.is(answer.status, 200, answer.text);
  const both = { id, name: 'Second', logo: 'second.png', first_letter: '' };
  assert.equal(JSON.parse(answer.text), both);
  assert.equal(await read(server, path), both);
});

test('if the item is deleted while a body is arriving, PUT and PATCH are 404 and do not restore it', async () => {
  for (const [path, { valid }] of Object.entries(COLLECTIONS)) {
    for (const method of ['PUT', 'PATCH']) {
      for (const match of [false, true]) {
        const item = `${path}${(await make(server, path, valid())).id}/`;
        const headers = match ? { 'if-match': await current(item) } : {};
        const answer = await halfway({ method, path: item, body: valid(), headers }, () =>
          send(server, 'DELETE', item),
        );
        assert.is(answer.status, 404, `${method} ${item}: ${answer.text}`);
        const { error, ...rest } = JSON.parse(answer.text);
        assert.equal(rest, {});
        assert.is(error === undefined, path === '/books/', answer.text);
        assert.is((await send(server, 'GET', item)).status, path === '/books/' ? 404 : 410);
      }
    }
  }
});

test('if a parent is deleted while a body is arriving, POST is 404; if another reference is, 422', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  const path = `/admin/skus/${id}/specs/`;
  const orphan = await halfway({ method: 'POST', path, body: catalog.silver }, () =>
    send(server, 'DELETE', `/admin/skus/${id}/`),
  );
  assert.is(orphan.status, 404, orphan.text);

  const brand = await make(server, '/admin/brands/', { name: 'Passing' });
  const body = spuFields(catalog, { brand_id: brand.id });
  const spu = await halfway({ method: 'POST', path: '/admin/goods/', body }, () =>
    send(server, 'DELETE', `/admin/brands/${brand.id}/`),
  );
  assert.is(spu.status, 422, spu.text);
  assert.match(JSON.parse(spu.text).error, `database error: brand_id: ${brand.id} does not exist`);
});

test('if an item is deleted while an array is arriving, a bulk PATCH is 422 and changes nothing', async () => {
  const [one, two] = (
    await send(server, 'POST', '/admin/brands/bulk/', { body: [{ name: 'One' }, { name: 'Two' }] })
  ).json;
  const body = [
    { id: one.id, name: 'Changed' },
    { id: two.id, name: 'Changed' },
  ];
  const answer = await halfway({ method: 'PATCH', path: '/admin/brands/bulk/', body }, () =>
    send(server, 'DELETE', `/admin/brands/${two.id}/`),
  );
  assert.is(answer.status, 422, answer.text);
  assert.equal(Object.keys(JSON.parse(answer.text).fields), ['1.id']);
  assert.equal(await read(server, `/admin/brands/${one.id}/`), one);
});

// 500

/** A disk on which every commit fails while `refuses` is set. */
function refusingDisk(): { refuses: boolean; readonly disk: Disk } {
  const refusal = { code: 'EIO', message: 'EIO: i/o error, write', reached: 'nothing' } as const;
  const publish: Disk['publish'] = (job) =>
    state.refuses ? Promise.resolve(refusal) : quickDisk.publish(job);
  const state = { refuses: false, disk: { ...quickDisk, publish } };
  return state;
}

test('an unexpected fault is 500 with a request_id, with which the log has the cause', async () => {
  const state = refusingDisk();
  const own = await openService({ disk: state.disk });
  await make(own, '/admin/brands/', { name: 'Written' });
  state.refuses = true;
  const failing: readonly (readonly [string, string, Sent])[] = [
    ['POST', '/books/', { body: { name: 'Emma', pub_date: '1815-12-23' } }],
    ['POST', '/admin/brands/bulk/', { body: [{ name: 'A' }, { name: 'B' }] }],
    ['PATCH', '/admin/brands/bulk/', { body: [{ id: 1, name: 'Other' }] }],
    ['DELETE', '/admin/brands/1/', {}],
  ];
  const told: string[] = [];
  for (const [method, path, sent] of failing) {
    const answer = await send(own, method, path, sent);
    assert.is(answer.status, 500, `${method} ${path}: ${answer.text}`);
    assert.equal(Object.keys(answer.json), ['error', 'request_id']);
    assert.is(answer.json.error, 'internal server error');
    assert.match(answer.json.request_id, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    for (const inner of [own.data, SECRET, 'EIO', '.ts:']) {
      assert.not.ok(answer.text.includes(inner), answer.text);
    }
    told.push(answer.json.request_id);
  }
  assert.is(new Set(told).size, told.length);
  assert.equal((await read(own, '/admin/brands/')).length, 1, 'it goes on');
  state.refuses = false;
  await make(own, '/admin/brands/', { name: 'Later' });
  await own.stop();
  for (const id of told) {
    const line = own.log.find((each) => each.includes(`"request_id":"${id}"`)) ?? '';
    assert.match(line, /^request failed: .*EIO/, id);
  }
});

test('a write that the disk refuses is 422 for SKUs and their records, and 500 for others', async () => {
  const state = refusingDisk();
  const own = await openService({ disk: state.disk });
  assert.equal(await createCatalog(own), catalog);
  const ofSku = `/admin/skus/${catalog.sku}/specs/`;
  const reversal = async (): Promise<string> => {
    const [entry] = await read(own, '/admin/audits/?order=desc&limit=1');
    return `/admin/audits/${entry.id}/reversal/`;
  };
  await make(own, '/admin/brands/', { name: 'Undone' });
  const ofBrand = await reversal();
  const { id } = await make(own, ofSku, { ...catalog.silver });
  const failing: (readonly [method: string, path: string, status: number, sent: Sent])[] = [
    ['POST', ofBrand, 500, { body: {} }],
    ['POST', await reversal(), 422, { body: {} }],
    ['POST', ofSku, 422, { body: catalog.black }],
    ['DELETE', `${ofSku}${id}/`, 422, {}],
    ['POST', '/admin/skus/bulk/', 422, { body: [skuFields(catalog)] }],
    ['PATCH', '/admin/skus/bulk/', 422, { body: [{ id: catalog.sku, stock: 7 }] }],
  ];
  for (const [path, { valid, change }] of Object.entries(COLLECTIONS)) {
    const item = `${path}${(await make(own, path, valid())).id}/`;
    const status = path === '/admin/skus/' ? 422 : 500;
    failing.push(
      ['POST', path, status, { body: valid() }],
      ['PUT', item, status, { body: valid() }],
    );
    failing.push(['PATCH', item, status, { body: change }], ['DELETE', item, status, {}]);
  }
  const content = () =>
    Promise.all([ofSku, ...Object.keys(COLLECTIONS)].map((path) => read(own, path)));
  const before = await content();

  state.refuses = true;
  for (const [method, path, status, sent] of failing) {
    const answer = await send(own, method, path, sent);
    assert.is(answer.status, status, `${method} ${path}: ${answer.text}`);
    if (status === 422) {
      assert.equal(Object.keys(answer.json), ['error'], path);
      assert.match(answer.json.error, /^database error: the disk refused the write /, path);
    }
  }
  assert.equal(await content(), before, 'nothing is changed');
  state.refuses = false;
  for (const [method, path, , sent] of failing.filter(([way]) => way !== 'DELETE')) {
    const answer = await send(own, method, path, sent);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  }
  await own.stop();
});

// Collections

test('a nested collection returns 20 rows a page by default', async () => {
  const { spu, silver, chain } = await createCatalog(server, 'Long');
  for (let count = 0; count < 21; count += 1) await makePair(server, silver.spec_id, `${count}`);
  const of = { spu, chain };
  await send(server, 'POST', '/admin/skus/bulk/', {
    body: Array.from({ length: 21 }, () => skuFields(of, { specs: [] })),
  });
  const { id } = await make(server, '/admin/skus/', {
    ...skuFields(of),
    specs: Array.from({ length: 21 }, () => silver),
  });
  for (const path of [
    `/admin/specs/${silver.spec_id}/options/`,
    `/admin/goods/${spu}/skus/`,
    `/admin/skus/${id}/specs/`,
  ]) {
    const page = await send(server, 'GET', path);
    assert.is(page.json.length, 20, path);
    assert.ok(Number(page.headers.get('x-total-count')) > 20, path);
    assert.ok((await read(server, `${path}?per_page=1000`)).length > 20, path);
  }
});

test.run();
