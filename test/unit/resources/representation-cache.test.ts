/** Cached representations equal fresh ones. */
import { fullGC, heapStats } from 'bun:jsc';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KIND_NAMES, type KindName } from '../../../src/model/kind.ts';
import { changeOf } from '../../../src/model/change.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import { existingRow } from '../../../src/model/rows.ts';
import { RepresentationCache } from '../../../src/resources/representation-cache.ts';
import { represent } from '../../../src/resources/representation.ts';
import { atOnce } from '../../../src/slices.ts';
import type { Transaction } from '../../../src/store/writer/draft.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';

function fail(error: unknown): never {
  throw error;
}

async function filled(): Promise<Store> {
  const store = await Store.open({
    directory: temporaryDirectory(),
    command: 'test',
    create: true,
    disk: quickDisk,
    onError: fail,
    onFatal: fail,
  });
  await store.transact((draft) => {
    draft.put('brands', { id: draft.nextId('brands'), name: 'B', logo: '', first_letter: '' });
    for (const parent_id of [null, 1, 2]) {
      draft.put('categories', { id: draft.nextId('categories'), name: 'C', parent_id });
    }
    draft.put('goods', {
      id: draft.nextId('goods'),
      name: 'SPU',
      brand_id: 1,
      category1_id: 1,
      category2_id: 2,
      category3_id: 3,
      sales: 0,
      comments: 0,
      desc_detail: '',
      desc_pack: '',
      desc_service: '',
    });
    draft.put('specs', { id: draft.nextId('specs'), name: 'Colour', goods_id: 1 });
    draft.put('options', { id: draft.nextId('options'), value: 'Silver', spec_id: 1 });
    for (const name of ['One', 'Two']) {
      draft.put('skus', {
        id: draft.nextId('skus'),
        name,
        goods_id: 1,
        caption: '',
        category_id: 3,
        price: 3,
        cost_price: 1,
        market_price: 4,
        stock: 0,
        sales: 0,
        is_launched: true,
        code: null,
      });
    }
    addRecord(draft);
  });
  return store;
}

function addRecord(draft: Transaction): void {
  draft.put('sku_specs', { id: draft.nextId('sku_specs'), sku_id: 1, spec_id: 1, option_id: 1 });
}

const reader = (store: Store, cache: RepresentationCache) => (kind: KindName, id: number) =>
  cache.get(KINDS[kind], existingRow(store, kind, id));

const changed =
  (kind: 'brands' | 'categories' | 'goods' | 'specs' | 'skus', id: number) =>
  (draft: Transaction): void => {
    const row = draft.get(kind, id);
    if (row !== undefined) draft.put(kind, { ...row, name: `${row['name']} changed` });
  };

for (const [what, change] of [
  ['its row', changed('skus', 1)],
  ['the name of its SPU', changed('goods', 1)],
  ['the name of its category', changed('categories', 3)],
  ['the name of a brand', changed('brands', 1)],
  ['the name of a specification', changed('specs', 1)],
  ['its records, by one more', addRecord],
  ['its records, by one less', (draft: Transaction) => draft.delete('sku_specs', 1)],
] as const) {
  test(`no kept representation outlives a change of ${what}`, async () => {
    const store = await filled();
    const cache = new RepresentationCache(store);
    const compare = () => {
      for (const name of KIND_NAMES) {
        for (const id of store.ids(name)) {
          const row = existingRow(store, name, id);
          assert.equal(cache.get(KINDS[name], row), represent(KINDS[name], row, store));
        }
      }
    };
    compare();
    await store.transact(change);
    compare();
    await store.close();
  });
}

test('a representation is kept while nothing changes that it shows', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const read = () => reader(store, cache)('skus', 1);
  const first = read();
  await store.transact(changed('skus', 2));
  await store.transact(changed('brands', 1));
  assert.is(read(), first);
  await store.close();
});

test('a change of the records of one SKU leaves what is kept of the others', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const read = reader(store, cache);
  const [one, two] = [read('skus', 1), read('skus', 2)];
  await store.transact(addRecord);
  assert.is.not(read('skus', 1), one);
  assert.is(read('skus', 2), two);
  await store.close();
});

test('no more bytes are kept than the cache may use, and what is read again stays', async () => {
  const store = await filled();
  const { text } = represent(KINDS.skus, existingRow(store, 'skus', 1), store);
  const most = 8 * (text.length + 300);
  const cache = new RepresentationCache(store, most);
  const read = reader(store, cache);
  const count = 100;
  await store.transact((draft) => {
    const brand = { logo: '', first_letter: '' };
    for (let n = 0; n < count; n += 1) {
      draft.put('brands', { id: draft.nextId('brands'), name: `Brand ${n}`, ...brand });
    }
  });
  const [once, again] = [read('skus', 1), read('skus', 2)];
  for (let id = 1; id <= count; id += 1) {
    read('brands', id);
    assert.is(read('skus', 2), again);
    assert.ok(cache.bytes <= most, String(cache.bytes));
  }
  assert.ok(cache.bytes > most / 2, 'the bytes are in use');
  assert.is.not(read('skus', 1), once);
  await store.close();
});

test('what comes and goes while there is room leaves nothing behind', async () => {
  const store = await filled();
  const brand = existingRow(store, 'brands', 1);
  const cache = new RepresentationCache(store, 1_000_000);
  const drop = (row: typeof brand) =>
    atOnce(cache.dropAll([changeOf<KindName>('brands', 1, row, null)]));
  // More than there is room for; then some leave.
  const rows = Array.from({ length: 5000 }, () => ({ ...brand }));
  for (const row of rows) cache.get(KINDS.brands, row);
  for (const row of rows.splice(-1000)) drop(row);
  const memory = () => {
    fullGC();
    return heapStats().heapSize;
  };
  const before = memory();
  for (let turn = 0; turn < 150_000; turn += 1) {
    const row = { ...brand };
    cache.get(KINDS.brands, row);
    drop(row);
  }
  const more = memory() - before;
  assert.ok(more < 2 * 1024 * 1024, `${more} bytes more`);
  await store.close();
});

test('a representation that is larger than the cache is given, and not kept', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store, 400);
  const read = reader(store, cache);
  assert.equal(read('skus', 1), represent(KINDS.skus, existingRow(store, 'skus', 1), store));
  assert.is(cache.bytes, 0);
  await store.close();
});

test('texts beyond U+00FF count two bytes a code unit', async () => {
  const store = await filled();
  const bytesOf = async (name: string) => {
    await store.transact((draft) => {
      draft.put('brands', { id: 1, name, logo: '', first_letter: '' });
    });
    const cache = new RepresentationCache(store);
    reader(store, cache)('brands', 1);
    return cache.bytes;
  };
  const [narrow, wide] = [await bytesOf('é'.repeat(100)), await bytesOf('水'.repeat(100))];
  assert.ok(wide - narrow > 100, `${narrow} ${wide}`);
  await store.close();
});

test('a row that is dropped takes its entry with it', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store, 8000);
  const read = reader(store, cache);
  const rows = [existingRow(store, 'skus', 1), existingRow(store, 'skus', 2)];
  for (const id of [1, 2]) read('skus', id);
  assert.ok(cache.bytes > 0);
  atOnce(cache.dropAll(rows.map((row) => changeOf<KindName>('skus', row.id, row, null))));
  assert.is(cache.bytes, 0);
  await store.close();
});

test('a representation of many records is made in steps, is that of the request, and is kept', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const sku = existingRow(store, 'skus', 1);
  assert.ok(cache.get(KINDS.skus, sku), 'of few records at once');
  const add = (count: number) =>
    store.transact((draft) => {
      for (let record = 0; record < count; record += 1) {
        const id = draft.nextId('sku_specs');
        draft.put('sku_specs', { id, sku_id: 1, spec_id: 1, option_id: 1 });
      }
    });
  await add(5000);
  const many = existingRow(store, 'skus', 1);
  assert.is(cache.get(KINDS.skus, many), null, 'of many not at once');
  const preparing = cache.prepare(KINDS.skus, many);
  assert.is(cache.prepare(KINDS.skus, many), preparing, 'once, whoever asks');
  const expected = represent(KINDS.skus, many, store);
  await add(1);
  const now = existingRow(store, 'skus', 1);
  atOnce(cache.dropAll([changeOf<KindName>('skus', 1, many, now)]));
  const prepared = await preparing;
  assert.is(prepared.text, expected.text);
  assert.is(prepared.etag, expected.etag);
  assert.is(cache.get(KINDS.skus, many), null, 'of a row that is gone');
  await cache.prepare(KINDS.skus, many);
  assert.is(cache.get(KINDS.skus, many), null, 'of a row that was gone before');
  const later = await cache.prepare(KINDS.skus, now);
  assert.is(later.text, represent(KINDS.skus, now, store).text);
  assert.is(cache.get(KINDS.skus, now), later);
  await store.close();
});

test.run();
