/** Stores of any size, for tests of what size costs. */
import type { Transaction } from '../../src/store/writer/draft.ts';
import { openQuickStore } from './quick-store.ts';

/**
 * Makes a store in the shape of a shop: 20 SKUs an SPU, two specifications with four options each,
 * some 333 SKUs a category, and as many books.
 */
export async function fill(directory: string, skus: number): Promise<void> {
  const store = await openQuickStore(directory);
  const spus = Math.ceil(skus / 20);
  const leaves = Math.ceil(skus / 333);
  await store.transact((draft) => {
    const brand = { name: 'Brand', logo: '', first_letter: 'B' };
    draft.put('brands', { id: draft.nextId('brands'), ...brand });
    const category = (name: string, parent_id: number | null) => {
      draft.put('categories', { id: draft.nextId('categories'), name, parent_id });
    };
    category('First level', null);
    category('Second level', 1);
    for (let leaf = 0; leaf < leaves; leaf += 1) category(`Third level ${leaf}`, 2);
    for (let book = 0; book < Math.min(skus, 10_000); book += 1) {
      const counts = { commentcount: 0, readcount: 0, image: '' };
      const id = draft.nextId('books');
      draft.put('books', { id, name: `Book ${id}`, pub_date: '2001-02-03', ...counts });
    }
  });
  for (let spu = 0; spu < spus; spu += 1000) {
    await store.transact((draft) => {
      for (let next = spu; next < Math.min(spu + 1000, spus); next += 1) {
        addSpu(draft, 3 + (next % leaves));
      }
    });
  }
  await store.close();
}

function addSpu(draft: Transaction, category: number): void {
  const goods_id = draft.nextId('goods');
  const texts = { desc_detail: '<p>Made.</p>', desc_pack: 'Box', desc_service: 'None' };
  const levels = { category1_id: 1, category2_id: 2, category3_id: category };
  const spu = { id: goods_id, name: `SPU ${goods_id}`, brand_id: 1, ...levels };
  draft.put('goods', { ...spu, sales: 0, comments: 0, ...texts });
  for (const name of ['Colour', 'Storage']) {
    const spec_id = draft.nextId('specs');
    draft.put('specs', { id: spec_id, name, goods_id });
    for (let value = 0; value < 4; value += 1) {
      draft.put('options', { id: draft.nextId('options'), value: `${name} ${value}`, spec_id });
    }
  }
  for (let n = 0; n < 20; n += 1) {
    const id = draft.nextId('skus');
    const prices = { price: 1000 + ((id * 7919) % 100_000), cost_price: 900, market_price: 1100 };
    const rest = { stock: id % 100, sales: 0, is_launched: true, code: null };
    const names = { name: `Phone ${(id * 7919) % 1_000_003}`, caption: 'A good one' };
    draft.put('skus', { id, ...names, goods_id, category_id: category, ...prices, ...rest });
    for (const [which, spec_id] of [2 * goods_id - 1, 2 * goods_id].entries()) {
      const option_id = 4 * (2 * goods_id - 2 + which) + 1 + (n % 4);
      draft.put('sku_specs', { id: draft.nextId('sku_specs'), sku_id: id, spec_id, option_id });
    }
  }
}
