/** How many specification records a SKU may have, whichever write adds them (spec 2.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, type Pair, skuFields } from '../support/catalog.ts';
import { type Received, send, type Sent } from '../support/client.ts';
import { importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const MOST = 10_000;

const pairs = (pair: Pair, count: number) => Array.from({ length: count }, () => pair);

let server: Service;
let catalog: Catalog;
let sku: string;
let records: string;

test.before(async () => {
  server = await openService({ maxJsonElements: MOST + 1 });
  catalog = await createCatalog(server);
  sku = `/admin/skus/${catalog.sku}/`;
  records = `${sku}specs/`;
});

test.after(closeServices);

async function sent(method: string, path: string, body?: Sent['body']): Promise<Received> {
  return send(server, method, path, body === undefined ? {} : { body });
}

function requireRefused({ status, json }: Received, element = ''): void {
  assert.is(status, 422);
  const message = `SKU ${catalog.sku} would have more than ${MOST} specification records`;
  assert.is(json.error, `database error: ${element}specs: ${message}`);
}

async function counted(): Promise<number> {
  const { headers } = await sent('HEAD', records);
  return Number(headers.get('x-total-count'));
}

test('a SKU has at most 10,000 records, by PATCH, PUT, POST, in an array and by undo', async () => {
  const { silver, black } = catalog;
  assert.is((await sent('PATCH', sku, { specs: pairs(silver, MOST - 1) })).status, 200);
  requireRefused(await sent('PATCH', sku, { specs: pairs(black, 2) }));
  requireRefused(await sent('PUT', sku, { ...skuFields(catalog), specs: pairs(black, 2) }));
  const element = { id: catalog.sku, specs: pairs(black, 2) };
  const other = { ...skuFields(catalog), specs: pairs(black, 2) };
  const added = await sent('POST', '/admin/skus/bulk/', [other]);
  assert.is(added.status, 201);
  const updates = [{ id: added.json[0].id, specs: pairs(black, 1) }, element];
  requireRefused(await sent('PATCH', '/admin/skus/bulk/', updates), '1.');
  const last = await sent('POST', records, black);
  assert.is(last.status, 201);
  requireRefused(await sent('POST', records, black));
  assert.is(await counted(), MOST);
  // What adds none is accepted.
  assert.is((await sent('PATCH', sku, { caption: 'Full', specs: [] })).status, 200);
  const record = `${records}${last.json.id}/`;
  assert.is((await sent('DELETE', record)).status, 204);
  const [entry] = (await sent('GET', '/admin/audits/?resource=sku_specs&per_page=1&order=desc'))
    .json;
  assert.is(entry.action, 'delete');
  assert.is((await sent('POST', records, black)).status, 201);
  requireRefused(await sent('POST', `/admin/audits/${entry.id}/reversal/`));
  assert.is(await counted(), MOST);
});

test('a new SKU has at most 10,000 records as well', async () => {
  const many = { ...skuFields(catalog), specs: pairs(catalog.silver, MOST + 1) };
  const refused = await sent('POST', '/admin/skus/', many);
  assert.is(refused.status, 422);
  assert.match(refused.json.error, `would have more than ${MOST} specification records`);
});

test('a row of an import that would add too many is an error of the row', async () => {
  const row = (specs: readonly Pair[]) => JSON.stringify([{ id: catalog.sku, specs }]);
  const options = { format: 'json' } as const;
  const tooMany = row(pairs(catalog.black, MOST + 1));
  const before = await counted();
  const { state, errors } = await importInto(server, 'skus', tooMany, options);
  assert.is(state, 'refused');
  assert.equal([errors.length, errors[0].column], [1, 'specs']);
  assert.match(errors[0].message, 'would have more than 10000 specification records');
  assert.is(await counted(), before);
  const replaced = await importInto(server, 'skus', row(pairs(catalog.black, MOST)), options);
  assert.is(replaced.state, 'done');
  assert.is(await counted(), MOST);
});

test.run();
