/** src/pages/shop/page-list.ts: the pages of a shop are listed and counted row by row. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Catalog } from '../../../../src/pages/shop/catalog.ts';
import { PageList } from '../../../../src/pages/shop/page-list.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu } from '../../../support/shop.ts';

const SPUS = 2000;

/** A shop whose SPUs have one SKU each, and how often its rows were looked up. */
function shop(): { store: MemoryStore; catalog: Catalog; looks: () => number } {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      const chain = addChain(transaction, 'Wood');
      for (let nth = 1; nth <= SPUS; nth += 1) {
        const spu = addSpu(transaction, `Table ${nth}`, brand, chain);
        addSku(transaction, `Table ${nth}`, spu, chain[2]);
      }
    },
  ]);
  let looks = 0;
  const counted = <Args extends unknown[], T>(look: (...args: Args) => T) => {
    return (...args: Args) => {
      looks += 1;
      return look(...args);
    };
  };
  const catalog: Catalog = Object.assign(Object.create(store) as MemoryStore, {
    firstId: counted(store.firstId.bind(store)),
    rank: counted(store.rank.bind(store)),
    matching: counted(store.matching.bind(store)),
    ids: () => {
      throw new Error('reads every id at once');
    },
  });
  return { store, catalog, looks: () => looks };
}

/** Runs to the end. @returns what was yielded, and the most look-ups between two yields. */
function steps<Y, R>(work: Generator<Y, R>, looks: () => number) {
  const yielded: Y[] = [];
  let most = 0;
  for (;;) {
    const before = looks();
    const step = work.next();
    most = Math.max(most, looks() - before);
    if (step.done === true) return { yielded, most, returned: step.value };
    yielded.push(step.value);
  }
}

test('pages are listed and counted with a few look-ups between two yields', () => {
  const { catalog, looks } = shop();
  const list = new PageList(true);
  const all = steps(list.all(catalog), looks);
  const count = steps(list.count(catalog), looks);
  assert.is(count.returned, all.yielded.length);
  assert.ok(all.yielded.length > 2 * SPUS);
  assert.ok(all.most <= 10, `${all.most} look-ups for a page`);
  assert.ok(count.most <= 10, `${count.most} look-ups in a part of the count`);
});

test('rows that are created or deleted while pages are listed are listed as they are then', () => {
  const { store } = shop();
  const names: string[] = [];
  for (const name of new PageList(false).all(store)) {
    names.push(name);
    if (name !== 'goods/1.html') continue;
    store.commit([
      (transaction) => {
        change(transaction, 'skus', 2, { goods_id: 1 });
        transaction.delete('goods', 2);
        const chain = addChain(transaction, 'Leaf');
        addSku(transaction, 'New', addSpu(transaction, 'New', 1, chain), chain[2]);
      },
    ]);
  }
  assert.not.ok(names.includes('goods/2.html'));
  assert.ok(names.includes('goods/3.html'));
  assert.equal(names.slice(-2), [`goods/${SPUS + 1}.html`, `skus/${SPUS + 1}.html`]);
});

test.run();
