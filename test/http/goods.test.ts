/** spec 1.6: the SPU endpoints. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  makeChain,
  read,
  spuFields,
  storeFilesOf,
  without,
} from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const GOODS = '/admin/goods/';
const DESCRIPTIONS = ['desc_detail', 'desc_pack', 'desc_service'] as const;

let server: Service;
let catalog: Catalog;
let other: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
  other = await createCatalog(server, 'Lamp');
});

test.after(closeServices);

/** A new SPU. @returns its path. */
async function makeSpu(changes: Fields = {}): Promise<string> {
  const { id } = await make(server, GOODS, spuFields(catalog, changes));
  return `${GOODS}${id}/`;
}

test('an SPU has the fields of the specification, in that order', async () => {
  const { brand, chain } = catalog;
  const created = await send(server, 'POST', GOODS, { body: spuFields(catalog) });
  assert.is(created.status, 201);
  const { id } = created.json;
  assert.equal(Object.entries(created.json), [
    ['id', id],
    ['name', 'Phone'],
    ['brand', 'Phone Works'],
    ['brand_id', brand],
    ['category1_id', chain[0]],
    ['category2_id', chain[1]],
    ['category3_id', chain[2]],
    ['sales', 0],
    ['comments', 0],
    ['desc_detail', 'All of it.'],
    ['desc_pack', 'A box.'],
    ['desc_service', 'Two years.'],
  ]);
  assert.is(created.headers.get('location'), `${GOODS}${id}/`);
  const got = await send(server, 'GET', `${GOODS}${id}/`);
  assert.is(got.status, 200);
  assert.is(got.headers.get('content-type'), 'application/json');
  assert.is(got.text, created.text);
});

test('GET lists SPUs as an array, paged, with the total in a header', async () => {
  const list = await send(server, 'GET', GOODS);
  assert.is(list.status, 200);
  assert.ok(Array.isArray(list.json));
  assert.is(list.headers.get('x-total-count'), String(list.json.length));
  assert.equal(list.json[0], await read(server, `${GOODS}${list.json[0].id}/`));
  const page = await send(server, 'GET', `${GOODS}?per_page=1`);
  assert.equal(page.json, list.json.slice(0, 1));
  assert.is(page.headers.get('x-total-count'), String(list.json.length));
});

test('PUT is 200 with the whole SPU, including the name of its new brand', async () => {
  const path = await makeSpu();
  const body = spuFields(other, { name: 'Lamp', desc_detail: 'Bright.', desc_pack: '' });
  const put = await send(server, 'PUT', path, { body });
  assert.is(put.status, 200);
  assert.equal(put.json, { id: put.json.id, ...body, brand: 'Lamp Works', sales: 0, comments: 0 });
  assert.equal(Object.keys(put.json), Object.keys(await read(server, path)));
  assert.equal(await read(server, path), put.json);
});

test('descriptions that POST or PUT omits are empty', async () => {
  const body = without(spuFields(catalog), ...DESCRIPTIONS);
  const created = await send(server, 'POST', GOODS, { body });
  assert.is(created.status, 201);
  const path = await makeSpu();
  const put = await send(server, 'PUT', path, { body });
  assert.is(put.status, 200);
  for (const name of DESCRIPTIONS) {
    assert.is(created.json[name], '', `POST ${name}`);
    assert.is(put.json[name], '', `PUT ${name}`);
    const one = await send(server, 'PUT', await makeSpu(), {
      body: without(spuFields(catalog), name),
    });
    for (const each of DESCRIPTIONS) {
      assert.is(one.json[each], each === name ? '' : spuFields(catalog)[each], `${name} ${each}`);
    }
  }
});

test('PATCH changes only the fields that were sent', async () => {
  const path = await makeSpu();
  const changes: readonly Fields[] = [
    { name: 'Phone 2' },
    { desc_pack: '' },
    { brand_id: other.brand },
    { category1_id: other.chain[0], category2_id: other.chain[1], category3_id: other.chain[2] },
  ];
  const expected = await read(server, path);
  for (const body of changes) {
    const answer = await send(server, 'PATCH', path, { body });
    assert.is(answer.status, 200, answer.text);
    Object.assign(expected, body, 'brand_id' in body && { brand: 'Lamp Works' });
    assert.equal(answer.json, expected);
    assert.equal(await read(server, path), expected);
  }
});

test('the brand of an SPU changes if the brand is renamed', async () => {
  const { id } = await make(server, '/admin/brands/', { name: 'Old' });
  const path = await makeSpu({ brand_id: id });
  assert.is((await read(server, path)).brand, 'Old');
  await send(server, 'PATCH', `/admin/brands/${id}/`, { body: { name: 'New' } });
  assert.is((await read(server, path)).brand, 'New');
});

test('category1_id as a string is 422', async () => {
  const path = await makeSpu();
  const body = spuFields(catalog, { category1_id: String(catalog.chain[0]) });
  for (const [method, target] of [
    ['POST', GOODS],
    ['PUT', path],
    ['PATCH', path],
  ] as const) {
    const answer = await send(server, method, target, { body });
    assert.is(answer.status, 422);
    assert.equal(Object.keys(answer.json.fields), ['category1_id']);
  }
});

test('desc_detail as a boolean is 422', async () => {
  const body = spuFields(catalog, { desc_detail: true });
  const answer = await send(server, 'POST', GOODS, { body });
  assert.is(answer.status, 422);
  assert.equal(Object.keys(answer.json.fields), ['desc_detail']);
});

test('categories that are not a chain are a database error, and nothing is written', async () => {
  const path = await makeSpu();
  const before = await read(server, path);
  const sibling = await makeChain(server, 'Sibling');
  const files = storeFilesOf(server.data);
  for (const [field, value] of [
    ['category1_id', catalog.chain[1]],
    ['category2_id', sibling[1]],
    ['category3_id', sibling[2]],
  ] as const) {
    const body = spuFields(catalog, { name: 'Broken', [field]: value });
    for (const [method, target] of [
      ['POST', GOODS],
      ['PUT', path],
      ['PATCH', path],
    ] as const) {
      const answer = await send(server, method, target, { body });
      assert.is(answer.status, 422, answer.text);
      assert.match(answer.json.error, /^database error: /);
      assert.match(answer.json.error, new RegExp(`\\b${field}\\b.*\\b${value}\\b`));
    }
  }
  assert.equal(await read(server, path), before);
  assert.equal(storeFilesOf(server.data), files);
});

test('a brand that does not exist is a database error that names it', async () => {
  const answer = await send(server, 'POST', GOODS, { body: spuFields(catalog, { brand_id: 777 }) });
  assert.is(answer.status, 422);
  assert.match(answer.json.error, /^database error: brand_id\b.*\b777\b/);
});

test('counts, brand, id and unknown members of a body are ignored and never stored', async () => {
  const extra = { id: 1, brand: 'Mine', sales: 5, comments: 5, colour: 'red' };
  const path = await makeSpu(extra);
  const created = await read(server, path);
  assert.equal(created, {
    ...spuFields(catalog),
    id: Number(path.split('/')[3]),
    brand: 'Phone Works',
    sales: 0,
    comments: 0,
  });
  for (const [method, body] of [
    ['PUT', spuFields(catalog, extra)],
    ['PATCH', extra],
  ] as const) {
    const answer = await send(server, method, path, { body });
    assert.is(answer.status, 200);
    assert.equal(answer.json, created);
  }
  const stored = Object.values(storeFilesOf(server.data)).map((file) => atob(file));
  assert.not.ok(stored.some((file) => file.includes('"colour"')));
});

test('PUT of an SPU as it was read leaves it unchanged', async () => {
  const path = await makeSpu();
  const before = await send(server, 'GET', path);
  const put = await send(server, 'PUT', path, { body: before.text });
  assert.is(put.status, 200);
  assert.is(put.text, before.text);
});

test('DELETE is 204 without a body; the SPU is then 410, and its id is not used again', async () => {
  const path = await makeSpu();
  const deleted = await send(server, 'DELETE', path);
  assert.is(deleted.status, 204);
  assert.is(deleted.text, '');
  assert.is((await send(server, 'GET', path)).status, 410);
  assert.is((await send(server, 'PUT', path, { body: spuFields(catalog) })).status, 404);
  const next = await makeSpu();
  assert.is(Number(next.split('/')[3]), Number(path.split('/')[3]) + 1);
});

test.run();
