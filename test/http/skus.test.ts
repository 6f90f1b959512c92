/** spec 1.7, 1.4 and 2.8: the SKU endpoints and the specification records of a SKU. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  type Fields,
  filesOf,
  make,
  pageWith,
  read,
  skuFields,
  without,
} from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const SKUS = '/admin/skus/';
const UNKNOWN = 99999;

let server: Service;
let catalog: Catalog;
let other: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
  other = await createCatalog(server, 'Lamp');
});

test.after(closeServices);

/** A new SKU. @returns its path. */
async function makeSku(changes: Fields = {}): Promise<string> {
  const { id } = await make(server, SKUS, skuFields(catalog, changes));
  return `${SKUS}${id}/`;
}

test('a SKU has the fields of the specification, in that order', async () => {
  const { chain, spu, silver, large } = catalog;
  const body = skuFields(catalog, { specs: [silver, large] });
  const created = await send(server, 'POST', SKUS, { body });
  assert.is(created.status, 201);
  const { id } = created.json;
  assert.equal(Object.entries(created.json), [
    ['id', id],
    ['name', 'Phone, silver'],
    ['goods', 'Phone'],
    ['goods_id', spu],
    ['caption', 'Light'],
    ['category_id', chain[2]],
    ['category', 'Phone 3'],
    ['price', 64900],
    ['cost_price', 50200],
    ['market_price', 69900],
    ['stock', 42],
    ['sales', 0],
    ['is_launched', true],
    ['specs', [silver, large]],
    ['code', null],
  ]);
  assert.equal(Object.keys(created.json.specs[0]), ['spec_id', 'option_id']);
  assert.is(created.headers.get('location'), `${SKUS}${id}/`);
  const got = await send(server, 'GET', `${SKUS}${id}/`);
  assert.is(got.status, 200);
  assert.is(got.text, created.text);
  const head = await send(server, 'HEAD', `${SKUS}${id}/`);
  assert.is(head.status, 200);
  assert.is(head.text, '');
});

test('PUT is 200 with the whole SKU, including the names of its new SPU and category', async () => {
  const path = await makeSku();
  const body = skuFields(other, {
    name: 'Lamp, black',
    caption: '',
    price: 0,
    cost_price: 1,
    market_price: 2,
    stock: 0,
    is_launched: false,
  });
  const put = await send(server, 'PUT', path, { body });
  assert.is(put.status, 200);
  assert.equal(put.json, {
    id: put.json.id,
    ...without(body, 'spu_id'),
    goods: 'Lamp',
    goods_id: other.spu,
    category: 'Lamp 3',
    sales: 0,
    specs: [],
    code: null,
  });
  assert.equal(await read(server, path), put.json);
});

test('PATCH changes only the fields that were sent', async () => {
  const path = await makeSku({ specs: [catalog.silver] });
  const before = await read(server, path);
  const changed = await send(server, 'PATCH', path, { body: { is_launched: false, stock: 7 } });
  assert.is(changed.status, 200);
  assert.equal(changed.json, { ...before, is_launched: false, stock: 7 });
  assert.equal(await read(server, path), changed.json);
});

test('goods and category of a SKU change if the SPU and the category are renamed', async () => {
  const mine = await createCatalog(server, 'Kettle');
  await send(server, 'PATCH', `/admin/goods/${mine.spu}/`, { body: { name: 'Pot' } });
  const third = `/admin/categories/${mine.chain[2]}/`;
  await send(server, 'PATCH', third, { body: { name: 'Pots' } });
  const { goods, category } = await read(server, `${SKUS}${mine.sku}/`);
  assert.is(goods, 'Pot');
  assert.is(category, 'Pots');
});

test('a body may contain goods_id instead of spu_id', async () => {
  const body = { ...without(skuFields(catalog), 'spu_id'), goods_id: other.spu };
  const created = await send(server, 'POST', SKUS, { body });
  assert.is(created.status, 201);
  assert.is(created.json.goods_id, other.spu);
  const path = `${SKUS}${created.json.id}/`;
  const put = await send(server, 'PUT', path, { body: { ...body, goods_id: catalog.spu } });
  assert.is(put.json.goods_id, catalog.spu);
  const patched = await send(server, 'PATCH', path, { body: { goods_id: other.spu } });
  assert.is(patched.json.goods_id, other.spu);
  const same = { spu_id: catalog.spu, goods_id: catalog.spu };
  const both = await send(server, 'PATCH', path, { body: same });
  assert.is(both.status, 200);
  assert.is(both.json.goods_id, catalog.spu);
});

test('spu_id and goods_id with different values are 422, and nothing is written', async () => {
  const path = await makeSku();
  const before = await read(server, path);
  for (const goods_id of [other.spu, String(catalog.spu), null, UNKNOWN]) {
    const both = { spu_id: catalog.spu, goods_id };
    for (const [method, target, body] of [
      ['POST', SKUS, skuFields(catalog, both)],
      ['PUT', path, skuFields(catalog, both)],
      ['PATCH', path, both],
    ] as const) {
      const answer = await send(server, method, target, { body });
      assert.is(answer.status, 422, `${method} ${goods_id}: ${answer.text}`);
      assert.match(answer.json.error, /spu_id|goods_id/);
      assert.equal(Object.keys(answer.json.fields).length, 1);
    }
  }
  assert.equal(await read(server, path), before);
});

test('PUT and PATCH add one record for each element of specs, and remove none', async () => {
  const { silver, black, large } = catalog;
  const path = await makeSku({ specs: [silver] });
  const steps: readonly (readonly [string, Fields, readonly unknown[]])[] = [
    ['PUT', skuFields(catalog, { specs: [large] }), [silver, large]],
    ['PUT', skuFields(catalog, { specs: [] }), [silver, large]],
    ['PUT', skuFields(catalog), [silver, large]],
    ['PUT', skuFields(catalog, { specs: [silver] }), [silver, large, silver]],
    ['PATCH', { specs: [black, black] }, [silver, large, silver, black, black]],
    ['PATCH', { specs: [] }, [silver, large, silver, black, black]],
    ['PATCH', { stock: 1 }, [silver, large, silver, black, black]],
  ];
  for (const [method, body, specs] of steps) {
    const answer = await send(server, method, path, { body });
    assert.is(answer.status, 200, answer.text);
    assert.equal(answer.json.specs, specs);
    assert.equal((await read(server, path)).specs, specs);
  }
  const records = await read(server, `${path}specs/`);
  assert.is(records.length, 5);
});

test('PUT of a SKU as it was read adds its specs again', async () => {
  const path = await makeSku({ specs: [catalog.silver, catalog.large] });
  const before = await read(server, path);
  const put = await send(server, 'PUT', path, { body: before });
  assert.is(put.status, 200);
  assert.equal(put.json, { ...before, specs: [...before.specs, ...before.specs] });
});

test('if one pair is invalid, nothing is written: object, records, files and page are unchanged', async () => {
  const { silver, black, large } = catalog;
  const path = await makeSku({ name: 'Untouched', specs: [silver] });
  const id = Number(path.split('/')[3]);
  const page = await pageWith(server, id, 'Untouched');
  const [before, records] = [await read(server, path), await read(server, `${path}specs/`)];
  const list = await read(server, SKUS);
  await server.pagesAtRest();
  // The manifest of the pages is written a little later than the pages.
  const storedFiles = () => filesOf(server.data, (name) => name !== 'pages.manifest');
  const files = storedFiles();
  const invalid: readonly (readonly [Fields, string, number])[] = [
    [{ ...silver, option_id: UNKNOWN }, 'option_id', UNKNOWN],
    [{ ...silver, spec_id: UNKNOWN }, 'spec_id', UNKNOWN],
    [{ ...silver, option_id: large.option_id }, 'option_id', large.option_id],
    [{ ...other.silver }, 'spec_id', other.silver.spec_id],
    [{ ...silver, option_id: 0 }, 'option_id', 0],
    [{ ...silver, spec_id: -1 }, 'spec_id', -1],
  ];
  for (const [pair, field, value] of invalid) {
    const changes = { name: 'Broken', price: 1, specs: [black, pair, large] };
    for (const [method, target, body] of [
      ['PUT', path, skuFields(catalog, changes)],
      ['PATCH', path, changes],
      ['POST', SKUS, skuFields(catalog, changes)],
      ['POST', `${path}specs/`, pair],
    ] as const) {
      const answer = await send(server, method, target, { body });
      const what = `${method} ${JSON.stringify(pair)}: ${answer.text}`;
      assert.is(answer.status, 422, what);
      assert.match(answer.json.error, /^database error: /, what);
      assert.match(answer.json.error, new RegExp(`\\b${field}\\b`), what);
      assert.match(answer.json.error, new RegExp(`(?<!\\d)${value}(?!\\d)`), what);
    }
  }
  assert.equal(await read(server, path), before);
  assert.equal(await read(server, `${path}specs/`), records);
  assert.equal(await read(server, SKUS), list);
  assert.equal(storedFiles(), files);
  // Pages are written in the order of commits: if a later one exists, so would an earlier one.
  const later = await makeSku({ name: 'Later' });
  await pageWith(server, Number(later.split('/')[3]), 'Later');
  assert.is(await pageWith(server, id, 'Untouched'), page);
  // The rejected writes have used no ids.
  assert.is(Number(later.split('/')[3]), id + 1);
});

test('after a write of a SKU its page is rendered again', async () => {
  const path = await makeSku({ name: 'Fresh <b>' });
  const id = Number(path.split('/')[3]);
  assert.not.match(await pageWith(server, id, 'Fresh &lt;b&gt;'), 'Fresh <b>');
  await send(server, 'PATCH', path, { body: { name: 'Fresher' } });
  await pageWith(server, id, 'Fresher');
  await send(server, 'PUT', path, { body: skuFields(catalog, { name: 'Freshest' }) });
  await pageWith(server, id, 'Freshest');
});

test('keyword selects the SKUs with exactly that name, and an empty one is ignored', async () => {
  const names = ['Key', 'key', 'Key ', ' Key', 'Keys', 'Ke\u0301y', 'K\u00e9y', 'a+b&c=d%', 'Key'];
  const ids: Record<string, number[]> = {};
  for (const name of names) {
    const { id } = await make(server, SKUS, skuFields(catalog, { name }));
    (ids[name] ??= []).push(id);
  }
  for (const name of new Set(names)) {
    const query = `keyword=${encodeURIComponent(name)}&per_page=1000`;
    const found = await send(server, 'GET', `${SKUS}?${query}`);
    assert.is(found.status, 200);
    const foundIds = found.json.map(({ id }: { id: number }) => id);
    assert.equal(foundIds, ids[name], name);
    assert.is(found.headers.get('x-total-count'), String(ids[name]?.length), name);
  }
  for (const pattern of ['Nothing', '%25', '*']) {
    const none = await send(server, 'GET', `${SKUS}?keyword=${pattern}`);
    assert.is(none.status, 200);
    assert.is(none.text, '[]', pattern);
  }
  const absent = await send(server, 'GET', SKUS);
  for (const query of ['keyword=', 'keyword']) {
    const all = await send(server, 'GET', `${SKUS}?${query}`);
    assert.is(all.text, absent.text, query);
    assert.is(all.headers.get('x-total-count'), absent.headers.get('x-total-count'), query);
  }
  assert.is((await send(server, 'GET', `${SKUS}?keyword=a&keyword=b`)).status, 400);
});

test('a record belongs to the SKU in the path; id and sku_id in the body are ignored', async () => {
  const path = await makeSku();
  const body = { ...catalog.silver, sku_id: catalog.sku, id: 1 };
  const added = await send(server, 'POST', `${path}specs/`, { body });
  assert.is(added.status, 201);
  assert.equal(Object.keys(added.json), ['id', 'spec_id', 'option_id']);
  assert.is.not(added.json.id, 1);
  assert.equal((await read(server, path)).specs, [catalog.silver]);
  assert.equal((await read(server, `${SKUS}${catalog.sku}/`)).specs, []);
});

test('a SKU with hundreds of records is written completely or not at all, and deleted with them', async () => {
  const { silver, large } = catalog;
  const records = (count: number) => Array.from({ length: count }, () => silver);
  const path = await makeSku({ specs: records(300) });
  const added = await send(server, 'PATCH', path, { body: { stock: 1, specs: records(250) } });
  assert.is(added.status, 200);
  assert.equal(added.json.specs, records(550));
  const broken = [...records(250), { ...large, option_id: UNKNOWN }];
  const refused = await send(server, 'PATCH', path, { body: { stock: 2, specs: broken } });
  assert.is(refused.status, 422);
  const conditional = { headers: { 'If-Match': '"another"' } };
  assert.is((await send(server, 'DELETE', path, conditional)).status, 412);
  assert.equal(await read(server, path), added.json);
  assert.is((await send(server, 'DELETE', path)).status, 204);
  assert.is((await send(server, 'GET', `${path}specs/`)).status, 404);
});

test('read-only and unknown members of a SKU and its specs are ignored and never stored', async () => {
  const extra = { id: 1, goods: 'Mine', category: 'Mine', sales: 9, colour: 'red', sku_id: 3 };
  const pair = { ...catalog.silver, id: 1, sku_id: catalog.sku, name: 'x' };
  const path = await makeSku({ ...extra, specs: [pair] });
  const created = await read(server, path);
  assert.equal(created, {
    id: Number(path.split('/')[3]),
    ...without(skuFields(catalog), 'spu_id'),
    goods: 'Phone',
    goods_id: catalog.spu,
    category: 'Phone 3',
    sales: 0,
    specs: [catalog.silver],
    code: null,
  });
  const put = await send(server, 'PUT', path, { body: { ...skuFields(catalog), ...extra } });
  assert.equal(put.json, created);
  const patched = await send(server, 'PATCH', path, { body: extra });
  assert.equal(patched.json, created);
  const stored = Object.values(filesOf(server.data)).map((file) => atob(file));
  assert.not.ok(stored.some((file) => file.includes('"colour"')));
});

test.run();
