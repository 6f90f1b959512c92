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

test('a list has a page for each 48 entries, and every page is counted and found', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      const chain = addChain(transaction, 'Wood');
      const spu = addSpu(transaction, 'Table', brand, chain);
      for (let nth = 1; nth <= 49; nth += 1) addSku(transaction, `Table ${nth}`, spu, chain[2]);
      for (const parent_id of [null, chain[0]]) {
        for (let nth = 2; nth <= 49; nth += 1) {
          add(transaction, 'categories', { name: `Category ${nth}`, parent_id });
        }
      }
    },
  ]);
  const sitemap = [
    'sitemap.xml',
    ...['skus', 'goods', 'categories'].map((of) => `sitemap-${of}-1.xml`),
  ];
  for (const hasSitemap of [true, false]) {
    const list = new PageList(hasSitemap);
    const names = [...list.all(store)];
    const parts = names.filter((name) => /\d\/2\.html$|^index/.test(name));
    assert.equal(parts, [
      'index.html',
      'index/2.html',
      'categories/1/2.html',
      'categories/3/2.html',
      'goods/1/2.html',
    ]);
    assert.equal(
      names.filter((name) => name.startsWith('sitemap')),
      hasSitemap ? sitemap : [],
    );
    assert.is(steps(list.count(store), () => 0).returned, names.length);
    const others =
      'index/3 goods/1/3 goods/2 categories/1/3 categories/2/2 categories/3/3 categories/100 skus/50'
        .split(' ')
        .map((name) => `${name}.html`);
    const found = [...names, ...sitemap, ...others].filter((name) => list.has(store, name));
    assert.equal(new Set(found), new Set(names));
  }
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
