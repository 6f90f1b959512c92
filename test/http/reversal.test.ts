/** Undoing a write by its audit entry (spec 1.14). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import { checkStore } from '../../src/store/check.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  read,
  skuFields,
} from '../support/catalog.ts';
import { send, tokenFor } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const AUDITS = '/admin/audits/';
const BRANDS = '/admin/brands/';
const SKUS = '/admin/skus/';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(closeServices);

test.after(() => assert.equal(checkStore(machineDisk, server.data).findings, []));

interface Entry {
  readonly id: number;
  readonly subject: string;
  readonly action: string;
  readonly resource: string;
  readonly resource_id: number;
}

/** The newest entries, the newest first. */
const newest = (count = 1): Promise<Entry[]> => read(server, `${AUDITS}?order=desc&limit=${count}`);

/** The newest entry of a row. */
async function lastOf(resource: string, id: number): Promise<number> {
  const [entry] = await read(server, `/admin/${resource}/${id}/audits/?order=desc&limit=1`);
  return entry.id;
}

const reverse = (entry: number, body: Fields = {}, token?: string) =>
  send(server, 'POST', `${AUDITS}${entry}/reversal/`, { body, ...(token && { token }) });

const told = (entries: readonly Entry[]) =>
  entries.map(({ action, resource, resource_id }) => `${action} ${resource} ${resource_id}`);

test('the reversal of an update restores the old values, and returns the object', async () => {
  const { id } = await make(server, BRANDS, { name: 'Ondine', logo: 'o.png' });
  const path = `${BRANDS}${id}/`;
  const before = await send(server, 'GET', path);
  await send(server, 'PUT', path, { body: { name: 'Pallas' } });
  const token = await tokenFor('editor', { sub: 'ann' });
  const answer = await reverse(await lastOf('brands', id), {}, token);
  assert.is(answer.status, 200, answer.text);
  assert.is(answer.text, before.text);
  assert.is(answer.headers.get('etag'), before.headers.get('etag'));
  assert.is((await send(server, 'GET', path)).text, before.text);
  const [entry] = await newest();
  assert.is(entry?.subject, 'ann');
  assert.equal(told([entry as Entry]), [`update brands ${id}`]);
});

test('the reversal of a create deletes the item, or is 409 if others refer to it', async () => {
  const { id } = await make(server, BRANDS, { name: 'New' });
  const created = await lastOf('brands', id);
  const answer = await reverse(created);
  assert.is(answer.status, 204, answer.text);
  assert.is(answer.text, '');
  assert.is((await send(server, 'GET', `${BRANDS}${id}/`)).status, 410);
  assert.equal(told(await newest()), [`delete brands ${id}`]);
  assert.is((await make(server, BRANDS, { name: 'Next' })).id, id + 1);

  const [first] = await read(server, `${BRANDS}${catalog.brand}/audits/?limit=1`);
  for (const body of [{}, { force: true }]) {
    const referred = await reverse(first.id, body);
    assert.is(referred.status, 409);
    assert.match(referred.json.error, `brand ${catalog.brand} is referred to by`);
  }
});

test('the reversal of a delete restores the item under its id; a second reversal is 409', async () => {
  const { id } = await make(server, BRANDS, { name: 'Gone', first_letter: 'G' });
  const path = `${BRANDS}${id}/`;
  const before = await send(server, 'GET', path);
  await send(server, 'DELETE', path);
  const deleted = await lastOf('brands', id);
  const answer = await reverse(deleted);
  assert.is(answer.status, 200, answer.text);
  assert.is(answer.text, before.text);
  const again = await send(server, 'GET', path);
  assert.is(again.status, 200);
  assert.is(again.text, before.text);
  assert.equal(told(await newest()), [`create brands ${id}`]);
  assert.is((await make(server, BRANDS, { name: 'Next' })).id, id + 1, 'ids go on as they would');
  const [found] = await read(server, `${BRANDS}?q=gone`);
  assert.is(found.id, id);
  const twice = await reverse(deleted);
  assert.is(twice.status, 409);
  assert.equal(twice.json, {
    error: `brand ${id} exists again since audit entry ${deleted}`,
  });
});

test('a SKU and its records of the same request are reversed together, and so is the reversal', async () => {
  const { silver, large, black } = catalog;
  const body = skuFields(catalog, { specs: [silver, large], code: 'R-1' });
  const { id } = await make(server, SKUS, body);
  const path = `${SKUS}${id}/`;
  const before = await send(server, 'GET', path);
  await send(server, 'DELETE', path);
  const back = await reverse(await lastOf('skus', id));
  assert.is(back.status, 200, back.text);
  assert.is(back.text, before.text);
  assert.is((await send(server, 'GET', path)).text, before.text);
  const [, , sku] = await newest(3);
  assert.equal(told([sku as Entry]), [`create skus ${id}`]);
  // The reversal of the reversal.
  assert.is((await reverse(sku?.id ?? 0)).status, 204);
  assert.is((await send(server, 'GET', path)).status, 410);
  assert.is((await reverse(await lastOf('skus', id))).text, before.text);

  await send(server, 'PATCH', path, { body: { price: 1, specs: [black] } });
  const changed = await reverse(await lastOf('skus', id));
  assert.is(changed.text, before.text);
});

test('the write of a single specification record can be reversed', async () => {
  const { sku, silver } = catalog;
  const path = `${SKUS}${sku}/specs/`;
  const record = await make(server, path, silver);
  await send(server, 'DELETE', `${path}${record.id}/`);
  const [deleted] = await newest();
  const back = await reverse(deleted?.id ?? 0);
  assert.equal(back.json, record);
  assert.equal(await read(server, path), [record]);
  const [created] = await newest();
  assert.is((await reverse(created?.id ?? 0)).status, 204);
  assert.equal(await read(server, path), []);
});

test('if an item has changed since, its reversal is 409 and names what differs, unless forced', async () => {
  const { id } = await make(server, SKUS, skuFields(catalog));
  const path = `${SKUS}${id}/`;
  await send(server, 'PATCH', path, { body: { price: 1, stock: 1 } });
  const entry = await lastOf('skus', id);
  await send(server, 'PATCH', path, { body: { price: 2, caption: 'Other' } });
  const changed = await read(server, path);
  const refused = await reverse(entry);
  assert.is(refused.status, 409);
  assert.equal(refused.json, {
    error: `SKU ${id} has changed since audit entry ${entry}: caption, price`,
  });
  assert.equal(await read(server, path), changed);
  const forced = await reverse(entry, { force: true });
  assert.is(forced.status, 200);
  const { price, stock, caption } = skuFields(catalog);
  assert.equal(forced.json, { ...changed, price, stock, caption });

  await send(server, 'DELETE', path);
  const gone = await reverse(entry);
  assert.equal(gone.json, { error: `SKU ${id} was deleted since audit entry ${entry}` });
  assert.is((await reverse(entry, { force: true })).status, 200);
});

test('if a new SKU has got records since, the reversal of its create is 409, unless forced', async () => {
  const { id } = await make(server, SKUS, skuFields(catalog));
  const created = await lastOf('skus', id);
  await send(server, 'PATCH', `${SKUS}${id}/`, { body: { name: 'Other' } });
  await send(server, 'PATCH', `${SKUS}${id}/`, { body: { name: skuFields(catalog)['name'] } });
  const record = await make(server, `${SKUS}${id}/specs/`, catalog.silver);
  const refused = await reverse(created);
  assert.is(refused.status, 409);
  assert.equal(refused.json, {
    error: `specification record ${record.id} was added to SKU ${id} since`,
  });
  assert.is((await reverse(created, { force: true })).status, 204);
});

test('a reversal that violates integrity is a database error, even if it is forced', async () => {
  const sku = await make(server, SKUS, skuFields(catalog, { code: 'TAKEN' }));
  const path = `${SKUS}${sku.id}/`;
  await send(server, 'PATCH', path, { body: { code: null } });
  const entry = await lastOf('skus', sku.id);
  const other = await make(server, SKUS, skuFields(catalog, { code: 'TAKEN' }));
  for (const body of [{}, { force: true }]) {
    const refused = await reverse(entry, body);
    assert.is(refused.status, 422);
    assert.match(refused.json.error, `database error: code: TAKEN is the code of SKU ${other.id}`);
  }
  await send(server, 'DELETE', `${SKUS}${other.id}/`);
  assert.equal((await reverse(entry)).json, sku);

  const spec = await make(server, '/admin/specs/', { name: 'S', spu_id: catalog.spu });
  const option = await make(server, '/admin/options/', { value: 'O', spec_id: spec.id });
  await send(server, 'DELETE', `/admin/options/${option.id}/`);
  await send(server, 'DELETE', `/admin/specs/${spec.id}/`);
  const orphan = await reverse(await lastOf('options', option.id));
  assert.is(orphan.status, 422);
  assert.equal(orphan.json, { error: `database error: spec_id: ${spec.id} does not exist` });
});

test('an editor may reverse; a viewer is 403, a missing token 401, an unknown entry 404', async () => {
  const { id } = await make(server, BRANDS, { name: 'Roles' });
  const entry = await lastOf('brands', id);
  const path = `${AUDITS}${entry}/reversal/`;
  assert.is((await send(server, 'POST', path, { token: null })).status, 401);
  assert.is((await reverse(entry, {}, await tokenFor('viewer'))).status, 403);
  assert.is((await reverse(99999)).status, 404);
  assert.is((await reverse(0)).status, 404);
  const get = await send(server, 'GET', path);
  assert.is(get.status, 405);
  assert.is(get.headers.get('allow'), 'POST, OPTIONS');
  const options = await send(server, 'OPTIONS', path, { token: null });
  assert.equal(Object.keys(options.json.attributes), ['force']);
  assert.is((await reverse(entry, {}, await tokenFor('editor'))).status, 204);
});

test('the body of a reversal may be missing; an invalid one is 422 or 400, and nothing is reversed', async () => {
  const brand = await make(server, BRANDS, { name: 'Body' });
  const entry = await lastOf('brands', brand.id);
  const path = `${AUDITS}${entry}/reversal/`;
  for (const [status, body] of [
    [422, { force: 'yes' }],
    [422, []],
    [400, '{'],
  ] as const) {
    assert.is((await send(server, 'POST', path, { body })).status, status);
  }
  assert.equal(await read(server, `${BRANDS}${brand.id}/`), brand);
  assert.is((await send(server, 'POST', path)).status, 204);
});

test.run();
