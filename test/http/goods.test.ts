/** spec 1.6: the SPU endpoints. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  read,
  spuFields,
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

test.run();
