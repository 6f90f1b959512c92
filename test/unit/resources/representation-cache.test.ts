/** Cached representations equal fresh ones. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KIND_NAMES } from '../../../src/model/kind.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import { RepresentationCache } from '../../../src/resources/representation-cache.ts';
import { represent } from '../../../src/resources/representation.ts';
import type { Transaction } from '../../../src/store/draft.ts';
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
      });
    }
    addRecord(draft);
  });
  return store;
}

function addRecord(draft: Transaction): void {
  draft.put('sku_specs', { id: draft.nextId('sku_specs'), sku_id: 1, spec_id: 1, option_id: 1 });
}

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
          const row = store.get(name, id);
          if (row === undefined) throw new Error(`${name} ${id} is not there`);
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
  const read = () => {
    const row = store.get('skus', 1);
    if (row === undefined) throw new Error('SKU 1 is not there');
    return cache.get(KINDS.skus, row);
  };
  const first = read();
  await store.transact(changed('skus', 2));
  await store.transact(changed('brands', 1));
  assert.is(read(), first);
  await store.close();
});

test('no more are kept than the cache may hold, and those last read are', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store, 4);
  const read = (kind: 'skus' | 'categories', id: number) => {
    const row = store.get(kind, id);
    if (row === undefined) throw new Error(`${kind} ${id} is not there`);
    return cache.get(KINDS[kind], row);
  };
  const first = read('skus', 1);
  const last = [read('skus', 2), read('categories', 1), read('categories', 2)];
  read('categories', 3);
  assert.is.not(read('skus', 1), first);
  assert.is(read('categories', 2), last[2]);
  await store.close();
});

test.run();
