/** spec 1.3 and 1.4: nested collections, which mean the same as filters, and nested items. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, make, makeChain, spuFields } from '../support/catalog.ts';
import { linksOf, type Received, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

/** A nested collection, and the filter that means the same. */
interface Form {
  readonly parents: string;
  readonly segment: string;
  readonly flat: string;
  readonly filter: string;
}

const FORMS: readonly Form[] = [
  { parents: '/admin/goods/', segment: 'skus', flat: '/admin/skus/', filter: 'goods_id' },
  { parents: '/admin/goods/', segment: 'specs', flat: '/admin/specs/', filter: 'goods_id' },
  { parents: '/admin/specs/', segment: 'options', flat: '/admin/options/', filter: 'spec_id' },
  {
    parents: '/admin/categories/',
    segment: 'categories',
    flat: '/admin/categories/',
    filter: 'parent_id',
  },
  { parents: '/admin/brands/', segment: 'goods', flat: '/admin/goods/', filter: 'brand_id' },
];

let server: Service;

test.before(async () => {
  server = await openService({ demo: true });
});

test.after(closeServices);

const get = (path: string) => send(server, 'GET', path);

const ids = (list: readonly { readonly id: number }[]) => list.map(({ id }) => id);

/** The headers, except those that contain the time or the path. */
function headersOf({ headers }: Received): Record<string, string> {
  const { date: _, link: __, ...rest } = Object.fromEntries(headers);
  return rest;
}

/** `Link` targets of other pages: the relation and the query. */
function pages(answer: Received, path: string): string[] {
  return linksOf(answer).flatMap(([rel, target]) => {
    if (rel.startsWith('service-') || rel === 'up') return [];
    assert.ok(target.startsWith(`${path}?`), `${target} is on ${path}`);
    return [`${rel} ${target.slice(path.length + 1)}`];
  });
}

for (const { parents, segment, flat, filter } of FORMS) {
  const nested = (parent: number) => `${parents}${parent}/${segment}/`;

  test(`${nested(1)} has the rows and the headers of ${flat}?${filter}=1`, async () => {
    for (const { id } of (await get(`${parents}?limit=1000`)).json) {
      const [inPath, inQuery] = [await get(nested(id)), await get(`${flat}?${filter}=${id}`)];
      assert.is(inPath.status, 200);
      assert.is(inPath.text, inQuery.text, nested(id));
      assert.equal(headersOf(inPath), headersOf(inQuery), nested(id));
    }
    assert.ok((await get(nested(1))).json.length > 1);
  });

  test(`${nested(1)} is paged, sorted and counted like the filter`, async () => {
    for (const query of [
      'per_page=1',
      'page=2&per_page=1',
      'limit=1&offset=1',
      'page=9&per_page=1',
      'sortby=id&order=desc&per_page=2',
    ]) {
      const inPath = await get(`${nested(1)}?${query}`);
      const inQuery = await get(`${flat}?${filter}=1&${query}`);
      assert.is(inPath.status, 200, query);
      assert.is(inPath.text, inQuery.text, query);
      assert.equal(headersOf(inPath), headersOf(inQuery), query);
      const stripped = pages(inQuery, flat).map((page) => page.replace(`${filter}=1&`, ''));
      assert.equal(pages(inPath, nested(1)), stripped, query);
    }
  });

  test(`${nested(1)} is 400 for an invalid query, and 401 without a token`, async () => {
    for (const query of ['limit=0', 'page=1&limit=1', 'sortby=nothing', 'x_id=1', 'order=']) {
      const answer = await get(`${nested(1)}?${query}`);
      assert.is(answer.status, 400, query);
      assert.type(answer.json.error, 'string');
    }
    assert.is((await send(server, 'GET', nested(1), { token: null })).status, 401);
  });

  test(`a filter on the parent of ${nested(1)} is combined with the path by AND`, async () => {
    assert.equal((await get(`${nested(1)}?${filter}=1`)).json, (await get(nested(1))).json);
    assert.equal((await get(`${nested(1)}?${filter}=2`)).json, []);
  });

  test(`an item under ${nested(1)} has the body and the headers of the item under ${flat}`, async () => {
    for (const { id } of (await get(nested(1))).json) {
      const [inPath, alone] = [await get(`${nested(1)}${id}/`), await get(`${flat}${id}/`)];
      assert.is(inPath.status, 200);
      assert.is(inPath.text, alone.text);
      assert.equal(headersOf(inPath), headersOf(alone));
    }
  });

  test(`an item of another parent, or an unknown item, is 404 under ${nested(1)}`, async () => {
    const here = new Set(ids((await get(nested(1))).json));
    const others = ids((await get(`${flat}?limit=1000`)).json).filter((id) => !here.has(id));
    assert.ok(others.length > 0);
    for (const id of [...others, 9999, 0]) {
      const answer = await get(`${nested(1)}${id}/`);
      assert.is(answer.status, 404, `${nested(1)}${id}/`);
      assert.equal(Object.keys(answer.json), ['error']);
    }
  });

  test(`an unknown parent is 404 under ${parents}`, async () => {
    const [child] = ids((await get(nested(1))).json);
    for (const path of [nested(9999), `${nested(9999)}${child}/`, nested(0)]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await send(server, method, path);
        assert.is(answer.status, 404, `${method} ${path}`);
        if (method === 'HEAD') continue;
        assert.equal(Object.keys(answer.json), ['error']);
        assert.match(answer.json.error, /^\D+ (?:9999|0)$/, 'the parent is missing, not its item');
      }
    }
    assert.is((await get(`${parents}x/${segment}/`)).status, 404);
    assert.is((await get(`${nested(1)}x/`)).status, 404);
    assert.is((await get(nested(1).slice(0, -1))).status, 404);
  });
}

test('a deleted parent is 410, and the nested paths below it are 404', async () => {
  const brand = await make(server, '/admin/brands/', { name: 'Passing' });
  const chain = await makeChain(server, 'Passing');
  const spu = await make(server, '/admin/goods/', spuFields({ brand: brand.id, chain }));
  const spec = await make(server, '/admin/specs/', { name: 'Passing', spu_id: spu.id });
  const option = await make(server, '/admin/options/', { value: 'Passing', spec_id: spec.id });
  const chainOfParents = [
    [`/admin/options/${option.id}/`, []],
    [`/admin/specs/${spec.id}/`, ['options/', `options/${option.id}/`]],
    [`/admin/goods/${spu.id}/`, ['skus/', 'specs/', `specs/${spec.id}/`]],
    [`/admin/brands/${brand.id}/`, ['goods/', `goods/${spu.id}/`]],
    [`/admin/categories/${chain[2]}/`, ['categories/']],
  ] as const;
  for (const [path, children] of chainOfParents) {
    assert.is((await send(server, 'DELETE', path)).status, 204, path);
    assert.is((await get(path)).status, 410, path);
    for (const child of children) {
      assert.is((await get(`${path}${child}`)).status, 404, `${path}${child}`);
    }
  }
});

test('a deleted item is 404 under its parent, and 410 in its collection', async () => {
  const { spu, sku, silver, large } = await createCatalog(server, 'Leaving');
  const option = await make(server, '/admin/options/', { value: 'X', spec_id: silver.spec_id });
  for (const [nested, flat] of [
    [`/admin/goods/${spu}/skus/${sku}/`, `/admin/skus/${sku}/`],
    [`/admin/specs/${silver.spec_id}/options/${option.id}/`, `/admin/options/${option.id}/`],
    [
      `/admin/specs/${large.spec_id}/options/${large.option_id}/`,
      `/admin/options/${large.option_id}/`,
    ],
    [`/admin/goods/${spu}/specs/${large.spec_id}/`, `/admin/specs/${large.spec_id}/`],
  ] as const) {
    assert.is((await get(nested)).status, 200, nested);
    assert.is((await send(server, 'DELETE', flat)).status, 204, flat);
    assert.is((await get(nested)).status, 404, nested);
    assert.is((await get(flat)).status, 410, flat);
  }
});

test('an item that moves is found under its new parent, and no longer under the old one', async () => {
  const from = await createCatalog(server, 'From');
  const to = await createCatalog(server, 'To');
  const at = (spu: number) => `/admin/goods/${spu}/skus/${from.sku}/`;
  const moved = await send(server, 'PATCH', `/admin/skus/${from.sku}/`, {
    body: { spu_id: to.spu },
  });
  assert.is(moved.status, 200);
  assert.is((await get(at(from.spu))).status, 404);
  assert.is((await get(at(to.spu))).status, 200);
  assert.equal((await get(`/admin/goods/${from.spu}/skus/`)).json, []);
  assert.equal(ids((await get(`/admin/goods/${to.spu}/skus/`)).json), [from.sku, to.sku]);
});

test('a nested path of collections that are not nested is 404', async () => {
  for (const path of [
    '/admin/brands/1/skus/',
    '/admin/goods/1/options/',
    '/admin/categories/1/goods/',
    '/admin/options/1/specs/',
    '/admin/skus/1/goods/',
    '/books/1/skus/',
    '/admin/goods/1/skus/1/specs/',
  ]) {
    assert.is((await get(path)).status, 404, path);
  }
});

test('/admin/skus/<pk>/specs/ lists the records of the SKU by ascending id', async () => {
  const listed = await get('/admin/skus/6/specs/');
  assert.is(listed.status, 200);
  assert.is(listed.headers.get('x-total-count'), '3');
  assert.equal(listed.json, [
    { id: 11, spec_id: 3, option_id: 6 },
    { id: 12, spec_id: 4, option_id: 8 },
    { id: 13, spec_id: 5, option_id: 10 },
  ]);
  assert.equal(
    listed.json.map(({ spec_id, option_id }: Record<string, number>) => ({ spec_id, option_id })),
    (await get('/admin/skus/6/')).json.specs,
  );
  assert.equal((await get('/admin/skus/6/specs/12/')).json, listed.json[1]);
  const filtered = await get('/admin/skus/6/specs/?spec_id=4&sortby=option_id&order=desc&limit=1');
  assert.equal(filtered.json, [listed.json[1]]);
  assert.equal(ids((await get('/admin/skus/6/specs/?option_id=6')).json), [11]);
});

test('POST adds a specification record, DELETE removes it, and the SKU shows the result', async () => {
  const { sku, silver, black, large } = await createCatalog(server, 'Recorded');
  const path = `/admin/skus/${sku}/specs/`;
  const shown = async () => (await get(`/admin/skus/${sku}/`)).json.specs;
  assert.equal((await get(path)).json, []);

  const added = await send(server, 'POST', path, { body: silver });
  assert.is(added.status, 201, added.text);
  assert.equal(Object.entries(added.json), [
    ['id', added.json.id],
    ['spec_id', silver.spec_id],
    ['option_id', silver.option_id],
  ]);
  assert.is(added.headers.get('location'), `${path}${added.json.id}/`);
  const item = await get(`${path}${added.json.id}/`);
  assert.equal(item.json, added.json);
  assert.is(item.headers.get('etag'), added.headers.get('etag'));

  // The same pair can be added again: updates accumulate records in this way (spec 1.4).
  const again = await send(server, 'POST', path, { body: silver });
  assert.is(again.status, 201);
  assert.ok(again.json.id > added.json.id);
  assert.equal(await shown(), [silver, silver]);

  const removed = await send(server, 'DELETE', `${path}${added.json.id}/`);
  assert.is(removed.status, 204);
  assert.is(removed.text, '');
  assert.equal(await shown(), [silver]);
  assert.equal(ids((await get(path)).json), [again.json.id]);

  const { json } = await send(server, 'PATCH', `/admin/skus/${sku}/`, {
    body: { specs: [black, large] },
  });
  assert.equal(json.specs, [silver, black, large]);
  assert.is((await get(path)).json.length, 3);
});

test('a removed or unknown record is 404 to GET, HEAD and DELETE', async () => {
  const { sku, silver } = await createCatalog(server, 'Removed');
  const path = `/admin/skus/${sku}/specs/`;
  const { id } = await make(server, path, { ...silver });
  assert.is((await send(server, 'DELETE', `${path}${id}/`)).status, 204);
  for (const record of [id, 1, 987_654]) {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const answer = await send(server, method, `${path}${record}/`);
      assert.is(answer.status, 404, `${method} ${record}`);
      if (method !== 'HEAD') assert.equal(Object.keys(answer.json), ['error']);
    }
  }
  // Record 1 belongs to SKU 1 and was not touched.
  assert.is((await get('/admin/skus/1/specs/1/')).status, 200);
});

test('the records of an unknown or a deleted SKU are 404, including POST', async () => {
  const { sku, silver } = await createCatalog(server, 'Gone');
  const { id } = await make(server, `/admin/skus/${sku}/specs/`, { ...silver });
  assert.is((await send(server, 'DELETE', `/admin/skus/${sku}/`)).status, 204);
  for (const gone of [sku, 987_654]) {
    const path = `/admin/skus/${gone}/specs/`;
    assert.is((await get(path)).status, 404);
    assert.is((await get(`${path}${id}/`)).status, 404);
    assert.is((await send(server, 'DELETE', `${path}${id}/`)).status, 404);
    // The item is looked up before the body is read.
    assert.is((await send(server, 'POST', path, { body: '{' })).status, 404);
    assert.is((await send(server, 'POST', path, { body: silver })).status, 404);
  }
});

test('a record is validated, and must belong to the SPU of the SKU', async () => {
  const { sku, silver, black, large } = await createCatalog(server, 'Fitting');
  const path = `/admin/skus/${sku}/specs/`;
  const empty = await send(server, 'POST', path, { body: {} });
  assert.is(empty.status, 422);
  assert.equal(Object.keys(empty.json.fields), ['spec_id', 'option_id']);
  const mistyped = await send(server, 'POST', path, { body: { ...silver, option_id: '1' } });
  assert.equal(Object.keys(mistyped.json.fields), ['option_id']);
  assert.is((await send(server, 'POST', path, { body: '{' })).status, 400);
  for (const [what, body] of Object.entries({
    'an option of another specification': { ...silver, option_id: large.option_id },
    'a specification of another SPU': { spec_id: 1, option_id: 1 },
    'an unknown specification': { ...black, spec_id: 987_654 },
    'an unknown option': { ...black, option_id: 987_654 },
  })) {
    const refused = await send(server, 'POST', path, { body });
    assert.is(refused.status, 422, what);
    assert.match(refused.json.error, /^database error: /);
  }
  assert.equal((await get(path)).json, []);
});

test('If-Match guards the removal of a record', async () => {
  const { sku, silver } = await createCatalog(server, 'Guarded');
  const path = `/admin/skus/${sku}/specs/`;
  const { id } = await make(server, path, { ...silver });
  const etag = (await get(`${path}${id}/`)).headers.get('etag') ?? '';
  const remove = (match: string) =>
    send(server, 'DELETE', `${path}${id}/`, { headers: { 'if-match': match } });
  assert.is((await remove('"stale"')).status, 412);
  assert.is((await remove(`W/${etag}`)).status, 412);
  assert.is((await remove(etag)).status, 204);
});

test.run();
