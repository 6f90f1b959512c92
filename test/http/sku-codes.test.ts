/** spec 1.7 and 2.9: the article number of a SKU. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, make, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const SKUS = '/admin/skus/';

let server: Service;
let catalog: Catalog;
let made = 0;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(closeServices);

/** A SKU with a name of its own. @returns its id. */
async function makeSku(changes: object = {}): Promise<number> {
  made += 1;
  return (await make(server, SKUS, skuFields(catalog, { name: `SKU ${made}`, ...changes }))).id;
}

const patch = (id: number, body: object) => send(server, 'PATCH', `${SKUS}${id}/`, { body });

const codeOf = async (id: number) => (await send(server, 'GET', `${SKUS}${id}/`)).json.code;

test('code is the last attribute of a SKU, and null unless it is sent', async () => {
  const id = await makeSku();
  const { json } = await send(server, 'GET', `${SKUS}${id}/`);
  assert.is(Object.keys(json).at(-1), 'code');
  assert.is(json.code, null);
});

for (const code of ['A', 'AB-12', '4006381333931', 'Nº 7 grün', '😀'.repeat(64), 'a b']) {
  test(`${JSON.stringify(code)} is a valid code, and is stored as it was sent`, async () => {
    assert.is(await codeOf(await makeSku({ code })), code);
  });
}

for (const code of ['', ' A', 'A ', '\u3000A', 'A\u0085', 'x'.repeat(65), '\ud800', 7, true, []]) {
  test(`${JSON.stringify(code)} is not a valid code, and is 422`, async () => {
    const { status, json } = await send(server, 'POST', SKUS, {
      body: skuFields(catalog, { code }),
    });
    assert.is(status, 422);
    assert.equal(Object.keys(json.fields), ['code']);
  });
}

test('PUT without code stores null; PATCH without code keeps it', async () => {
  const id = await makeSku({ code: 'PUT-1' });
  assert.is((await patch(id, { price: 1 })).json.code, 'PUT-1');
  const put = await send(server, 'PUT', `${SKUS}${id}/`, { body: skuFields(catalog) });
  assert.is(put.status, 200);
  assert.is(put.json.code, null);
});

test('a code that another SKU has is 422, and the error names that SKU', async () => {
  const first = await makeSku({ code: 'ONE' });
  const body = skuFields(catalog, { name: 'Second', code: 'ONE' });
  const { status, json } = await send(server, 'POST', SKUS, { body });
  assert.is(status, 422);
  assert.equal(json, { error: `database error: code: ONE is the code of SKU ${first}` });
  const second = await makeSku();
  assert.is((await patch(second, { code: 'ONE' })).json.error, json.error);
  assert.is(await codeOf(second), null);
});

test('codes that differ only in case are different codes', async () => {
  await makeSku({ code: 'case' });
  assert.is(await codeOf(await makeSku({ code: 'Case' })), 'Case');
});

test('a code can be used again after its SKU has changed it or is deleted', async () => {
  const first = await makeSku({ code: 'FREE' });
  await patch(first, { code: null });
  const second = await makeSku({ code: 'FREE' });
  assert.is((await send(server, 'DELETE', `${SKUS}${second}/`)).status, 204);
  assert.is(await codeOf(await makeSku({ code: 'FREE' })), 'FREE');
});

test('one bulk PATCH can exchange the codes of two SKUs', async () => {
  const [a, b] = [await makeSku({ code: 'X' }), await makeSku({ code: 'Y' })];
  const body = [
    { id: a, code: 'Y' },
    { id: b, code: 'X' },
  ];
  assert.is((await send(server, 'PATCH', `${SKUS}bulk/`, { body })).status, 200);
  assert.equal([await codeOf(a), await codeOf(b)], ['Y', 'X']);
});

test('in a bulk POST the error for a duplicate code names the element', async () => {
  const holder = await makeSku({ code: 'HELD' });
  const body = [skuFields(catalog, { code: 'NEW' }), skuFields(catalog, { code: 'HELD' })];
  const taken = await send(server, 'POST', `${SKUS}bulk/`, { body });
  assert.is(taken.status, 422);
  assert.is(taken.json.error, `database error: 1.code: HELD is the code of SKU ${holder}`);
  const twice = [skuFields(catalog, { code: 'TWIN' }), skuFields(catalog, { code: 'TWIN' })];
  const { status, json } = await send(server, 'POST', `${SKUS}bulk/`, { body: twice });
  assert.is(status, 422);
  assert.match(json.error, /^database error: [01]\.code: TWIN is the code of SKU \d+$/);
});

test('the filter code selects the SKU with exactly that code; an empty value is 400', async () => {
  const id = await makeSku({ code: 'FILTER me' });
  const found = await send(server, 'GET', `${SKUS}?code=FILTER%20me`);
  assert.equal(
    (found.json as { id: number }[]).map((sku) => sku.id),
    [id],
  );
  for (const other of ['filter me', 'FILTER', 'x'.repeat(500), 'null']) {
    const { status, json } = await send(server, 'GET', `${SKUS}?code=${encodeURIComponent(other)}`);
    assert.is(status, 200);
    assert.equal(json, []);
  }
  const empty = await send(server, 'GET', `${SKUS}?code=`);
  assert.is(empty.status, 400);
  assert.match(empty.json.error, /query parameter code must not be empty/);
});

test('a search finds a SKU by part of its code', async () => {
  const id = await makeSku({ code: 'SEARCH-4711' });
  const { json } = await send(server, 'GET', `${SKUS}?q=ch-47`);
  assert.equal(
    (json as { id: number }[]).map((sku) => sku.id),
    [id],
  );
});

test('sortby=code lists SKUs without a code first, and then sorts by code', async () => {
  for (const code of ['SORT-b', 'SORT-a', 'SORT-B', 'SORT-10', 'SORT-9']) await makeSku({ code });
  const { json } = await send(server, 'GET', `${SKUS}?sortby=code&per_page=1000`);
  const codes = (json as { code: string | null }[]).map(({ code }) => code);
  const firstCode = codes.findIndex((code) => code !== null);
  assert.ok(firstCode > 0);
  assert.not.ok(codes.slice(firstCode).includes(null));
  assert.equal(
    codes.filter((code) => code?.startsWith('SORT-')),
    ['SORT-10', 'SORT-9', 'SORT-B', 'SORT-a', 'SORT-b'],
  );
});

test.run();
