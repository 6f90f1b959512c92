/** A PATCH as `application/merge-patch+json` replaces the records of a SKU (spec 2.8). */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  make,
  type Pair,
  read,
  skuFields,
} from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

let server: Service;
let catalog: Catalog;
let sku: string;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.before.each(async () => {
  const { silver, large } = catalog;
  const made = await make(server, '/admin/skus/', skuFields(catalog, { specs: [silver, large] }));
  sku = `/admin/skus/${made.id}/`;
});

test.after(closeServices);

const headers = { 'content-type': 'Application/Merge-Patch+JSON; charset=utf-8' };

const merge = (body: object, path = sku): Promise<Received> =>
  send(server, 'PATCH', path, { body, headers });

const records = (): Promise<(Pair & { id: number })[]> => read(server, `${sku}specs/`);

test('the records become those of the array, and those that stay keep their ids', async () => {
  const { silver, black, large } = catalog;
  const [, kept] = await records();
  const changed = await merge({ specs: [black, large], stock: 3 });
  assert.equal([changed.json.specs, changed.json.stock], [[large, black], 3]);
  assert.equal((await records()).map(({ id }) => id)[0], kept?.id);
  const twice = await merge({ specs: [silver, large, silver] });
  assert.equal(twice.json.specs, [large, silver, silver]);
  assert.is((await records())[0]?.id, kept?.id);
  assert.equal((await merge({ specs: [silver, large] })).json.specs, [large, silver]);
  assert.equal((await merge({ specs: [] })).json.specs, []);
});

test('whatever there was, the SKU then has each record as often as the array', async () => {
  const choice = fc.constantFrom('silver', 'black', 'large');
  const arrays = fc.array(fc.array(choice, { maxLength: 6 }), { minLength: 1, maxLength: 5 });
  const named = (pair: Pair) => `${pair.spec_id} ${pair.option_id}`;
  const check = async (sent: ('silver' | 'black' | 'large')[][]) => {
    for (const specs of sent.map((names) => names.map((each) => catalog[each]))) {
      const before = await records();
      assert.is((await merge({ specs })).status, 200);
      const after = await records();
      assert.equal(after.map(named).toSorted(), specs.map(named).toSorted());
      // A record is created only if there was none that could stay.
      const left = before.map(named);
      for (const pair of specs.map(named)) {
        if (left.includes(pair)) left.splice(left.indexOf(pair), 1);
      }
      const kept = after.filter(({ id }) => before.some((each) => each.id === id));
      assert.is(kept.length, before.length - left.length);
    }
  };
  await fc.assert(fc.asyncProperty(arrays, check), { numRuns: 30 });
});

test('without the array no record changes', async () => {
  const before = await records();
  assert.is((await merge({ stock: 8 })).json.stock, 8);
  assert.equal(await records(), before);
});

test('a SKU moves to another SPU with its specifications there, in one change set', async () => {
  const other = await createCatalog(server, 'Tablet');
  const patch = { spu_id: other.spu, specs: [other.black] };
  const { status } = await send(server, 'PATCH', sku, { body: patch });
  assert.is(status, 422, 'the records of the SPU that it leaves do not fit');
  const { headers: before } = await send(server, 'GET', sku);
  const moved = await merge(patch);
  assert.equal([moved.json.goods_id, moved.json.specs], [other.spu, [other.black]]);
  const sequence = Number(moved.headers.get('catalog-sequence'));
  assert.is(sequence, Number(before.get('catalog-sequence')) + 1);
});

test('a refused array changes nothing', async () => {
  const before = await records();
  const { spec_id } = catalog.silver;
  const foreign = await merge({ specs: [{ spec_id, option_id: catalog.large.option_id }] });
  assert.is(foreign.status, 422);
  const malformed = await merge({ stock: 1, specs: null });
  assert.equal(malformed.json.fields, { specs: ['must be an array'] });
  assert.equal(await records(), before);
});

test('an undo brings back the records that were replaced, with their ids', async () => {
  const before = await records();
  await merge({ specs: [catalog.black] });
  const [entry] = await read(server, `${sku}audits/?order=desc&per_page=1`);
  const undone = await send(server, 'POST', `/admin/audits/${entry.id}/reversal/`);
  assert.is(undone.status, 200, undone.text);
  assert.equal(await records(), before);
});

test('PUT and arrays of changes add records whatever their media type', async () => {
  const { silver, black, large } = catalog;
  const body = skuFields(catalog, { specs: [black] });
  const put = await send(server, 'PUT', sku, { body, headers });
  assert.equal(put.json.specs, [silver, large, black]);
  const [patched] = (await merge([{ id: put.json.id, specs: [black] }], '/admin/skus/bulk/')).json;
  assert.equal(patched.specs, [silver, large, black, black]);
});

test('a preview of this type shows the page as it would be', async () => {
  const body = { id: Number(/\d+/.exec(sku)?.[0]), specs: [catalog.black] };
  const { text } = await send(server, 'POST', '/admin/skus/preview/', { body, headers });
  assert.match(text, '<dt>Colour</dt><dd>Black</dd>');
  assert.not.match(text, '<dt>Size</dt>');
});

test.run();
