/** spec 2.9 and 2.10: the constraints between items, and deletion. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  type Fields,
  storeFilesOf,
  make,
  makeChain,
  makePair,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const UNKNOWN = 99999;

let server: Service;
let catalog: Catalog;
let other: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
  other = await createCatalog(server, 'Lamp');
  const specs = [catalog.silver, catalog.large];
  await send(server, 'PATCH', `/admin/skus/${catalog.sku}/`, { body: { specs } });
});

test.after(closeServices);

const KINDS = ['brands', 'categories', 'goods', 'skus', 'specs', 'options'] as const;

/** Every object of the admin collections. */
async function everything(): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const kind of KINDS) all[kind] = await read(server, `/admin/${kind}/?per_page=1000`);
  return all;
}

function assertDatabaseError(answer: Received, told: readonly (string | number)[], what: string) {
  assert.is(answer.status, 422, `${what}: ${answer.text}`);
  assert.match(answer.json.error, /^database error: /, what);
  for (const part of told) {
    assert.match(answer.json.error, new RegExp(`(?<![\\w])${part}(?![\\w])`), what);
  }
}

/** Requires that the write is a database error that names these parts, and changes nothing. */
async function breaks(
  method: string,
  path: string,
  body: Fields,
  told: readonly (string | number)[],
): Promise<void> {
  const [objects, files] = [await everything(), storeFilesOf(server.data)];
  const answer = await send(server, method, path, { body });
  assertDatabaseError(answer, told, `${method} ${path} ${JSON.stringify(body)}`);
  assert.equal(await everything(), objects);
  assert.equal(storeFilesOf(server.data), files);
}

/** Requires that PATCH succeeds. @returns the object. */
async function moves(path: string, body: Fields): Promise<Received['json']> {
  const answer = await send(server, 'PATCH', path, { body });
  assert.is(answer.status, 200, `${path} ${JSON.stringify(body)}: ${answer.text}`);
  return answer.json;
}

/** A new catalog whose SKU has records. */
async function fresh(name: string): Promise<Catalog> {
  const made = await createCatalog(server, name);
  await moves(`/admin/skus/${made.sku}/`, { specs: [made.silver, made.large] });
  return made;
}

test('a reference to an item that does not exist is a database error on POST, PUT and PATCH', async () => {
  const { spu, sku, silver, chain } = catalog;
  const references: readonly (readonly [string, number, Fields, readonly string[]])[] = [
    ['categories', chain[2], { name: 'Third', parent_id: chain[1] }, ['parent_id']],
    [
      'goods',
      spu,
      spuFields(catalog),
      ['brand_id', 'category1_id', 'category2_id', 'category3_id'],
    ],
    ['skus', sku, skuFields(catalog), ['spu_id', 'category_id']],
    ['specs', silver.spec_id, { name: 'Colour', spu_id: spu }, ['spu_id']],
    ['options', silver.option_id, { value: 'Silver', spec_id: silver.spec_id }, ['spec_id']],
  ];
  for (const [kind, id, valid, fields] of references) {
    for (const field of fields) {
      for (const value of [UNKNOWN, 0, -1, Number.MAX_SAFE_INTEGER]) {
        const wrong = { [field]: value };
        await breaks('POST', `/admin/${kind}/`, { ...valid, ...wrong }, [field, value]);
        await breaks('PUT', `/admin/${kind}/${id}/`, { ...valid, ...wrong }, [field, value]);
        await breaks('PATCH', `/admin/${kind}/${id}/`, wrong, [field, value]);
      }
    }
  }
});

test('a reference to a deleted item is a database error', async () => {
  const { id } = await make(server, '/admin/brands/', { name: 'Short-lived' });
  await send(server, 'DELETE', `/admin/brands/${id}/`);
  await breaks('POST', '/admin/goods/', spuFields(catalog, { brand_id: id }), ['brand_id', id]);
});

test('the three categories of an SPU must be a chain of parents from the first level', async () => {
  const [first, second, third] = catalog.chain;
  const theirs = other.chain;
  const wrong: readonly (readonly [Fields, string, number])[] = [
    [{ category1_id: second }, 'category1_id', second],
    [{ category1_id: third }, 'category1_id', third],
    [{ category1_id: theirs[0] }, 'category2_id', second],
    [{ category2_id: theirs[1] }, 'category2_id', theirs[1]],
    [{ category2_id: first }, 'category2_id', first],
    [{ category2_id: third }, 'category2_id', third],
    [{ category3_id: theirs[2] }, 'category3_id', theirs[2]],
    [{ category3_id: second }, 'category3_id', second],
    [{ category1_id: third, category2_id: second, category3_id: first }, 'category1_id', third],
    [{ category1_id: theirs[0], category2_id: theirs[1] }, 'category3_id', third],
  ];
  const item = `/admin/goods/${catalog.spu}/`;
  for (const [changes, field, value] of wrong) {
    await breaks('POST', '/admin/goods/', spuFields(catalog, changes), [field, value]);
    await breaks('PUT', item, spuFields(catalog, changes), [field, value]);
    await breaks('PATCH', item, changes, [field, value]);
  }
});

test('the category of a SKU must be of the third level', async () => {
  const item = `/admin/skus/${catalog.sku}/`;
  for (const category_id of catalog.chain.slice(0, 2)) {
    const told = ['category_id', category_id];
    await breaks('POST', '/admin/skus/', skuFields(catalog, { category_id }), told);
    await breaks('PUT', item, skuFields(catalog, { category_id }), told);
    await breaks('PATCH', item, { category_id }, told);
  }
});

test('a SKU may be in another third-level category than its SPU', async () => {
  const body = skuFields(catalog, { category_id: other.chain[2] });
  const { id } = await make(server, '/admin/skus/', body);
  await send(server, 'DELETE', `/admin/skus/${id}/`);
});

test('a category below the third level is a database error', async () => {
  const parent = catalog.chain[2];
  const body = { name: 'Fourth', parent_id: parent };
  await breaks('POST', '/admin/categories/', body, ['parent_id', parent]);
  const { json } = await send(server, 'POST', '/admin/categories/', { body });
  const numbers = json.error.match(/\d+/g);
  assert.equal(numbers, [String(parent)], 'the new category has no id, since it is refused');
});

test('a category cannot be moved below itself or below its descendants', async () => {
  const chain = await makeChain(server, 'Loop');
  for (const [id, parent_id] of [
    [chain[0], chain[0]],
    [chain[1], chain[1]],
    [chain[0], chain[1]],
    [chain[0], chain[2]],
    [chain[1], chain[2]],
  ] as const) {
    await breaks('PATCH', `/admin/categories/${id}/`, { parent_id }, ['parent_id', parent_id]);
  }
});

test('a category cannot be moved so that its descendants would be on a fourth level', async () => {
  const chain = await makeChain(server, 'Deep');
  const top = await makeChain(server, 'Top');
  await breaks('PATCH', `/admin/categories/${chain[0]}/`, { parent_id: top[0] }, ['parent_id']);
  await breaks('PATCH', `/admin/categories/${chain[1]}/`, { parent_id: top[1] }, ['parent_id']);
});

test('a category that an SPU and a SKU use cannot be moved', async () => {
  const [first, second, third] = catalog.chain;
  const moved: readonly (readonly [number, number | null])[] = [
    [second, other.chain[0]],
    [second, null],
    [third, other.chain[1]],
    [third, first],
    [third, null],
  ];
  for (const [id, parent_id] of moved) {
    await breaks('PATCH', `/admin/categories/${id}/`, { parent_id }, []);
    await breaks('PUT', `/admin/categories/${id}/`, { name: 'Moved', parent_id }, []);
  }
  // PUT without parent_id means the first level.
  await breaks('PUT', `/admin/categories/${third}/`, { name: 'Moved' }, []);
});

test('a category that only a SKU uses can be moved only within the third level', async () => {
  const chain = await makeChain(server, 'Alone');
  const body = skuFields(catalog, { category_id: chain[2] });
  await make(server, '/admin/skus/', body);
  for (const [category, parent_id] of [
    [chain[2], chain[0]],
    [chain[2], null],
    [chain[1], null],
  ] as const) {
    await breaks('PATCH', `/admin/categories/${category}/`, { parent_id }, ['category_id']);
  }
  // It can be moved to another parent on the second level.
  const moved = await moves(`/admin/categories/${chain[2]}/`, { parent_id: other.chain[1] });
  assert.is(moved.parent_id, other.chain[1]);
});

test('a category that no SPU and no SKU uses can be moved to any level', async () => {
  const chain = await makeChain(server, 'Free');
  const path = `/admin/categories/${chain[2]}/`;
  for (const parent_id of [chain[0], null, other.chain[1], other.chain[0]]) {
    assert.is((await moves(path, { parent_id })).parent_id, parent_id);
  }
  const subtree = `/admin/categories/${chain[1]}/`;
  assert.is((await moves(subtree, { parent_id: other.chain[0] })).parent_id, other.chain[0]);
});

test('a specification that a SKU uses cannot be moved to another SPU', async () => {
  const path = `/admin/specs/${catalog.silver.spec_id}/`;
  await breaks('PATCH', path, { spu_id: other.spu }, ['spec_id', catalog.silver.spec_id]);
  await breaks('PUT', path, { name: 'Colour', spu_id: other.spu }, ['spec_id']);
  await breaks('PATCH', path, { goods_id: other.spu }, ['spec_id']);
});

test('a specification that no SKU uses can be moved with its options', async () => {
  const { id } = await make(server, '/admin/specs/', { name: 'Weight', spu_id: catalog.spu });
  const pair = await makePair(server, id, 'Light');
  const moved = await moves(`/admin/specs/${id}/`, { spu_id: other.spu });
  assert.is(moved.goods_id, other.spu);
  assert.is(moved.goods, 'Lamp');
  const body = { specs: [{ ...pair }] };
  await breaks('PATCH', `/admin/skus/${catalog.sku}/`, body, ['spec_id', id]);
  assert.equal((await moves(`/admin/skus/${other.sku}/`, body)).specs, [pair]);
});

test('an option that a SKU uses cannot be moved to another specification', async () => {
  const path = `/admin/options/${catalog.silver.option_id}/`;
  for (const spec_id of [catalog.large.spec_id, other.silver.spec_id]) {
    await breaks('PATCH', path, { spec_id }, ['option_id', catalog.silver.option_id]);
    await breaks('PUT', path, { value: 'Silver', spec_id }, ['option_id']);
  }
});

test('an option that no SKU uses can be moved', async () => {
  const pair = await makePair(server, catalog.silver.spec_id, 'Green');
  const body = { spec_id: catalog.large.spec_id };
  const moved = await moves(`/admin/options/${pair.option_id}/`, body);
  assert.is(moved.spec_id, catalog.large.spec_id);
  assert.is(moved.spec, 'Size');
});

test('a SKU with records cannot be moved to another SPU; one without records can', async () => {
  const path = `/admin/skus/${catalog.sku}/`;
  await breaks('PATCH', path, { spu_id: other.spu }, ['spec_id', catalog.silver.spec_id]);
  await breaks('PUT', path, skuFields(catalog, { spu_id: other.spu }), ['spec_id']);
  const { id } = await make(server, '/admin/skus/', skuFields(catalog, { name: 'Bare' }));
  assert.is((await moves(`/admin/skus/${id}/`, { spu_id: other.spu })).goods, 'Lamp');
  const specs = { spu_id: catalog.spu, specs: [catalog.silver] };
  assert.equal((await moves(`/admin/skus/${id}/`, specs)).specs, [catalog.silver]);
});

test('a SKU whose records were removed can be moved', async () => {
  const made = await fresh('Chair');
  const path = `/admin/skus/${made.sku}/`;
  for (const { id } of await read(server, `${path}specs/`)) {
    assert.is((await send(server, 'DELETE', `${path}specs/${id}/`)).status, 204);
  }
  assert.is((await moves(path, { spu_id: other.spu })).goods_id, other.spu);
});

test('deleting an item that others refer to is 409, and the error names a referrer', async () => {
  const { brand, chain, spu, silver, sku } = catalog;
  const referred: readonly (readonly [string, RegExp])[] = [
    [`/admin/brands/${brand}/`, new RegExp(`brand_id.*SPU ${spu}\\b`)],
    [`/admin/categories/${chain[0]}/`, /parent_id.*categor|category1_id.*SPU/],
    [`/admin/categories/${chain[1]}/`, /parent_id.*categor|category2_id.*SPU/],
    [`/admin/categories/${chain[2]}/`, new RegExp(`category3_id.*SPU ${spu}\\b|category_id.*SKU`)],
    [`/admin/goods/${spu}/`, /spec|SKU/],
    [`/admin/specs/${silver.spec_id}/`, /spec_id.*(?:option|record)/],
    [
      `/admin/options/${silver.option_id}/`,
      new RegExp(`option_id of specification records of SKUs? (?:\\d+, )*${sku}\\b`),
    ],
  ];
  const [objects, files] = [await everything(), storeFilesOf(server.data)];
  for (const [path, named] of referred) {
    const answer = await send(server, 'DELETE', path);
    assert.is(answer.status, 409, `${path}: ${answer.text}`);
    assert.equal(Object.keys(answer.json), ['error']);
    assert.match(answer.json.error, named, path);
    assert.is((await send(server, 'GET', path)).status, 200, path);
  }
  assert.equal(await everything(), objects);
  assert.equal(storeFilesOf(server.data), files);
});

test('items can be deleted from the leaves up; reads are then 410, and writes 404', async () => {
  const { brand, chain, spu, silver, black, large, sku } = await fresh('Desk');
  const paths = [
    `/admin/skus/${sku}/`,
    ...[silver, black, large].map(({ option_id }) => `/admin/options/${option_id}/`),
    ...[silver, large].map(({ spec_id }) => `/admin/specs/${spec_id}/`),
    `/admin/goods/${spu}/`,
    ...chain.toReversed().map((id) => `/admin/categories/${id}/`),
    `/admin/brands/${brand}/`,
  ];
  for (const path of paths) {
    const deleted = await send(server, 'DELETE', path);
    assert.is(deleted.status, 204, `${path}: ${deleted.text}`);
    assert.is(deleted.text, '');
  }
  for (const path of paths) {
    const got = await send(server, 'GET', path);
    assert.is(got.status, 410, path);
    assert.type(got.json.error, 'string');
    const head = await send(server, 'HEAD', path);
    assert.is(head.status, 410, path);
    assert.is(head.text, '');
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const sent = method === 'DELETE' ? {} : { body: '{' };
      const answer = await send(server, method, path, sent);
      assert.is(answer.status, 404, `${method} ${path}`);
      assert.type(answer.json.error, 'string');
    }
    // An id that was never assigned is unknown (404), not gone (410).
    const never = path.replace(/\d+\/$/, `${UNKNOWN}/`);
    assert.is((await send(server, 'GET', never)).status, 404, never);
  }
  for (const path of [
    `/admin/goods/${spu}/skus/`,
    `/admin/goods/${spu}/skus/${sku}/`,
    `/admin/goods/${spu}/specs/`,
    `/admin/specs/${silver.spec_id}/options/`,
    `/admin/specs/${silver.spec_id}/options/${silver.option_id}/`,
    `/admin/categories/${chain[0]}/categories/`,
    `/admin/categories/${chain[0]}/categories/${chain[1]}/`,
    `/admin/brands/${brand}/goods/`,
    `/admin/skus/${sku}/specs/`,
    // The parent exists, but the item does not.
    `/admin/goods/${catalog.spu}/skus/${sku}/`,
    `/admin/brands/${catalog.brand}/goods/${spu}/`,
  ]) {
    for (const method of ['GET', 'HEAD']) {
      assert.is((await send(server, method, path)).status, 404, `${method} ${path}`);
    }
  }
});

test('a deleted item is still 410 after a restart', async () => {
  const { id } = await make(server, '/admin/brands/', { name: 'Short-lived' });
  await send(server, 'DELETE', `/admin/brands/${id}/`);
  const objects = await everything();
  await server.stop();
  server = await openService({ data: server.data });
  assert.equal(await everything(), objects);
  assert.is((await send(server, 'GET', `/admin/brands/${id}/`)).status, 410);
  assert.is((await send(server, 'PUT', `/admin/brands/${id}/`, { body: {} })).status, 404);
  assert.is((await make(server, '/admin/brands/', { name: 'Next' })).id, id + 1);
});

test('of a concurrent DELETE and a POST that refers to the item exactly one succeeds', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await make(server, '/admin/brands/', { name: 'Contested' });
    const body = spuFields(catalog, { brand_id: id });
    const [deleted, created] = await Promise.all([
      send(server, 'DELETE', `/admin/brands/${id}/`),
      send(server, 'POST', '/admin/goods/', { body }),
    ]);
    if (deleted.status === 204) assertDatabaseError(created, ['brand_id', id], 'POST');
    else {
      assert.is(deleted.status, 409);
      assert.is(created.status, 201);
    }
  }
});

test.run();
