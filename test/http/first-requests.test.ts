/**
 * Requests right after a start, when the indexes of large tables do not exist yet: they wait until
 * an index is built in slices, and do not block other requests (docs/performance.md, "Bounds").
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName } from '../../src/model/kind.ts';
import { indexOrder } from '../../src/store/memory/orders/order.ts';
import { Orderings } from '../../src/store/memory/orders/orderings.ts';
import { BOUNDS } from '../../src/store/memory/orders/bounds.ts';
import { read, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { fill } from '../support/filled-store.ts';
import { importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const SKUS = BOUNDS.smallTableRows + 200;

/** Kinds with so many rows that building an index takes long. */
const LARGE: ReadonlySet<KindName> = new Set(['skus', 'sku_specs']);

const filled = join(temporaryDirectory(), 'data');

/** The indexes that were built in one go, while all other requests waited. */
const builtAtOnce: string[] = [];
const { index } = Orderings.prototype;

test.before(async () => {
  await fill(filled, SKUS);
  // The description that responses are checked against has its own small store, for its examples.
  await send(await openService(), 'GET', '/');
  Orderings.prototype.index = function (kind, attribute) {
    const isThere = this.find(kind, indexOrder(attribute)) !== undefined;
    if (!isThere && LARGE.has(kind.name)) builtAtOnce.push(`${kind.name} by ${attribute}`);
    return index.call(this, kind, attribute);
  };
});

test.after(async () => {
  Orderings.prototype.index = index;
  await closeServices();
});

/** @param compares without it only the request needs an index. */
async function started(compares = false): Promise<Service> {
  const data = join(temporaryDirectory(), 'data');
  cpSync(filled, data, { recursive: true });
  builtAtOnce.length = 0;
  return openService({ data, compares });
}

const sku = skuFields(
  { spu: 1, chain: [1, 2, 3] },
  { code: 'N-1', specs: [{ spec_id: 1, option_id: 1 }] },
);

const brand = { name: 'Brand', logo: '', first_letter: 'B' };

type Case = readonly [method: string, path: string, status: number, body?: unknown];

const CASES: readonly Case[] = [
  ['GET', '/admin/skus/', 200],
  ['GET', '/admin/skus/?per_page=1000', 200],
  ['GET', '/admin/skus/?goods_id=7&category_id=3', 200],
  ['GET', '/admin/skus/?keyword=Phone%201', 200],
  ['GET', '/admin/skus/?code=N-1', 200],
  ['GET', '/admin/skus/?q=phone', 200],
  ['GET', '/admin/skus/?sortby=price&order=desc', 200],
  ['GET', '/admin/skus/?sortby=category', 200],
  ['GET', '/admin/skus/?price_min=5&price_max=9999', 200],
  ['GET', '/admin/skus/5/specs/', 200],
  ['GET', '/admin/goods/3/', 200],
  ['GET', '/admin/goods/3/specs/', 200],
  ['GET', '/admin/summary/', 200],
  ['GET', '/admin/audits/', 200],
  ['GET', '/admin/skus/5/audits/', 200],
  ['GET', '/admin/changes/?since=1&limit=1', 200],
  ['GET', '/admin/skus/export/?goods_id=3', 200],
  ['GET', '/admin/skus/export/?format=ndjson', 200],
  ['GET', '/pages/skus/5.html', 200],
  ['GET', '/pages/goods/3.html', 200],
  ['GET', '/pages/categories/3.html', 200],
  ['GET', '/pages/', 200],
  ['POST', '/admin/skus/', 201, sku],
  ['POST', '/admin/skus/bulk/', 201, [sku, { ...sku, code: 'N-2' }]],
  ['POST', '/admin/skus/preview/', 200, sku],
  ['POST', '/admin/skus/preview/', 200, { id: 5, price: 3 }],
  ['POST', '/admin/skus/5/specs/', 201, { spec_id: 1, option_id: 1 }],
  ['PUT', '/admin/skus/5/', 200, sku],
  ['PATCH', '/admin/skus/5/', 200, { price: 3 }],
  [
    'PATCH',
    '/admin/skus/bulk/',
    200,
    Array.from({ length: 50 }, (_, n) => ({ id: n + 1, stock: 3 })),
  ],
  ['DELETE', '/admin/skus/5/', 204],
  ['DELETE', '/admin/skus/5/specs/9/', 204],
  ['PATCH', '/admin/goods/3/', 200, { name: 'Renamed' }],
  ['DELETE', '/admin/goods/3/', 409],
  ['PATCH', '/admin/specs/5/', 200, { name: 'Renamed' }],
  ['PATCH', '/admin/specs/5/', 422, { spu_id: 9 }],
  ['DELETE', '/admin/specs/5/', 409],
  ['PATCH', '/admin/options/5/', 200, { value: 'Renamed' }],
  ['DELETE', '/admin/options/5/', 409],
  ['PATCH', '/admin/categories/3/', 200, { name: 'Renamed' }],
  ['PATCH', '/admin/categories/3/', 422, { parent_id: null }],
  ['DELETE', '/admin/categories/3/', 409],
  ['POST', '/admin/brands/', 201, brand],
  ['DELETE', '/admin/brands/1/', 409],
  ['POST', '/admin/page-builds/', 202, { stale: true }],
];

for (const [method, path, status, body] of CASES) {
  const what = `${method} ${path} ${status === 200 ? '' : status}`.trim();
  test(`${what}: no index of a large table is built in one go`, async () => {
    const server = await started();
    const answer = await send(server, method, path, {
      ...(body !== undefined && { body }),
      headers: { 'idempotency-key': 'first' },
    });
    assert.is(answer.status, status, answer.text);
    await server.stop(0);
    assert.equal(builtAtOnce, []);
  });
}

test('building all pages: no index of a large table is built in one go', async () => {
  const server = await started(true);
  await server.pagesAtRest();
  await server.stop();
  assert.equal(builtAtOnce, []);
});

test('reading 50 SKUs: no index of a large table is built in one go', async () => {
  const server = await started();
  for (let id = 1; id <= 50; id += 1) await read(server, `/admin/skus/${id}/`);
  await Promise.all(Array.from({ length: 50 }, (_, n) => read(server, `/admin/skus/${n + 1}/`)));
  await server.stop(0);
  assert.equal(builtAtOnce, []);
});

test('an import by name, and a reversal of its write: no index of a large table is built in one go', async () => {
  const server = await started();
  const { name } = await read(server, '/admin/skus/5/');
  const file = `name,price USD\r\n${name},3.00\r\n`;
  const done = await importInto(server, 'skus', file, { query: 'match=name' });
  assert.equal([done.state, done.changed], ['done', 1], JSON.stringify(done.errors));
  const [entry] = await read(server, '/admin/audits/?resource=skus');
  await server.stop(0);
  builtAtOnce.length = 0;
  const again = await openService({ data: server.data, compares: false });
  const undone = await send(again, 'POST', `/admin/audits/${entry.id}/reversal/`, { body: {} });
  assert.is(undone.status, 200, undone.text);
  await again.stop(0);
  assert.equal(builtAtOnce, []);
});

test.run();
