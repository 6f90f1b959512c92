/** src/pages/refresh/dependents.ts: which pages a change affects. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName, Scalar } from '../../../../src/model/kind.ts';
import type { SkuPageFacts } from '../../../../src/pages/shop/facts.ts';
import { Gatherer, MAX_CHOICE_SKUS } from '../../../../src/pages/shop/gather.ts';
import { dependentsOf, expand, NamedEnds } from '../../../../src/pages/refresh/dependents.ts';
import { RowSummaries } from '../../../../src/pages/refresh/row-summaries.ts';
import { type PageName, PART_SIZE } from '../../../../src/pages/shop/names.ts';
import { atOnce } from '../../../../src/slices.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu } from '../../../support/shop.ts';

/**
 * Categories 1 > 2 > 3 and 4 > 5 > 6. SPU 1 of brand 1 in category 3, with the SKUs 1 and 2 in
 * category 3 and 3 in category 6. SPU 2 of brand 2 in category 6, with SKU 4. Brand 3 has no SPU.
 * SKU 1 has option 1, SKU 2 option 2, both of specification 1; SKU 4 has option 3 of specification
 * 2; no SKU has option 4 of specification 3.
 */
function catalog(): MemoryStore {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      for (const name of ['Oak', 'Pine', 'Elm']) {
        add(transaction, 'brands', { name, logo: '', first_letter: '' });
      }
      const [wood, leaf] = [addChain(transaction, 'Wood'), addChain(transaction, 'Leaf')];
      addSpu(transaction, 'Table', 1, wood);
      addSpu(transaction, 'Chair', 2, leaf);
      for (const [spu, category] of [
        [1, 3],
        [1, 3],
        [1, 6],
        [2, 6],
      ] as const) {
        addSku(transaction, 'SKU', spu, category);
      }
      for (const goods_id of [1, 2, 1]) add(transaction, 'specs', { name: 'Colour', goods_id });
      for (const spec_id of [1, 1, 2, 3]) add(transaction, 'options', { value: 'Red', spec_id });
      add(transaction, 'sku_specs', { sku_id: 1, spec_id: 1, option_id: 1 });
      add(transaction, 'sku_specs', { sku_id: 2, spec_id: 1, option_id: 2 });
      add(transaction, 'sku_specs', { sku_id: 4, spec_id: 2, option_id: 3 });
      add(transaction, 'books', { name: 'Emma', pub_date: '1815-12-23' });
    },
  ]);
  return store;
}

/** The names of all pages that a commit affects. */
function touched(run: (transaction: Transaction) => void): PageName[] {
  return [...pagesNamed(catalog(), run)].toSorted();
}

function pagesNamed(store: MemoryStore, run: (transaction: Transaction) => void): Set<PageName> {
  const summaries = new RowSummaries();
  for (const each of store.commit([run])) summaries.add(each);
  return namesOf(store, summaries);
}

function namesOf(store: MemoryStore, summaries: RowSummaries): Set<PageName> {
  const names = new Set<PageName>();
  const ends = new NamedEnds();
  for (const summary of summaries.take()) {
    const { pages, fanOuts } = dependentsOf(store, summary, ends);
    for (const name of pages) names.add(name);
    const waiting = new Set(fanOuts);
    for (const fanOut of waiting) {
      const expanding = expand(store, fanOut);
      let step = expanding.next();
      for (; step.done !== true; step = expanding.next()) names.add(step.value);
      for (const other of step.value) waiting.add(other);
    }
  }
  return names;
}

const PHONE = ['goods/1.html', 'skus/1.html', 'skus/2.html', 'skus/3.html'];
const OWN = ['categories/3.html', 'goods/1.html', 'skus/1.html'];

const CHANGED: readonly [KindName, number, Record<string, Scalar>, readonly PageName[]][] = [
  ['skus', 1, { name: 'New' }, OWN],
  ['skus', 1, { caption: 'New' }, OWN],
  ['skus', 1, { price: 5 }, OWN],
  ['skus', 1, { stock: 5 }, OWN],
  ['skus', 3, { price: 5 }, ['categories/6.html', 'goods/1.html', 'skus/3.html']],
  ['skus', 1, { market_price: 5 }, ['skus/1.html']],
  ['skus', 1, { sales: 5 }, ['skus/1.html']],
  ['skus', 1, { code: 'A-1' }, ['skus/1.html']],
  ['skus', 1, { cost_price: 5 }, []],
  ['skus', 1, { is_launched: false }, ['categories/3.html', ...PHONE]],
  ['goods', 1, { name: 'New' }, PHONE],
  ['goods', 1, { desc_detail: 'New' }, PHONE],
  ['goods', 1, { brand_id: 3 }, PHONE],
  ['goods', 1, { sales: 5 }, []],
  ['goods', 1, { comments: 5 }, []],
  ['brands', 1, { name: 'New' }, PHONE],
  ['brands', 1, { logo: '/new.png' }, PHONE],
  ['brands', 1, { first_letter: 'N' }, []],
  ['brands', 3, { name: 'New' }, []],
  [
    ...(['categories', 3, { name: 'New' }] as const),
    [1, 2, 3].map((id) => `categories/${id}.html`).concat(PHONE.slice(0, 3)),
  ],
  [
    ...(['categories', 1, { name: 'New' }] as const),
    [1, 2, 3].map((id) => `categories/${id}.html`).concat(PHONE.slice(0, 3), 'index.html'),
  ],
  [
    ...(['categories', 5, { name: 'New' }] as const),
    [
      'categories/4.html',
      'categories/5.html',
      'categories/6.html',
      'goods/2.html',
      'index.html',
      'skus/3.html',
      'skus/4.html',
    ],
  ],
  ['specs', 1, { name: 'New' }, ['categories/3.html', ...PHONE]],
  ['specs', 2, { name: 'New' }, ['categories/6.html', 'goods/2.html', 'skus/4.html']],
  ['specs', 3, { name: 'New' }, []],
  ['options', 1, { value: 'New' }, ['categories/3.html', ...PHONE]],
  ['options', 4, { value: 'New' }, []],
  ['sku_specs', 1, { option_id: 2 }, ['categories/3.html', ...PHONE]],
  ['books', 1, { name: 'New' }, []],
];

for (const [kind, id, fields, pages] of CHANGED) {
  const what = `${Object.keys(fields).join()} of ${kind} ${id}`;
  test(`a change of ${what} affects ${pages.join(', ') || 'no page'}`, () => {
    const names = touched((transaction) => change(transaction, kind, id, fields));
    assert.equal(names, pages.toSorted());
  });
}

test('a change of any attribute of a SKU that templates get affects its page', () => {
  const { own } = atOnce(new Gatherer(catalog(), null).facts('skus/3.html'));
  const { id, ...shown } = (JSON.parse(own ?? '') as SkuPageFacts).sku;
  const others: Record<string, Scalar> = { goods_id: 2, category_id: 3, is_launched: false };
  for (const [attribute, value] of Object.entries(shown)) {
    const other = others[attribute] ?? (typeof value === 'number' ? value + 1 : 'Other');
    const names = touched((transaction) => change(transaction, 'skus', id, { [attribute]: other }));
    assert.ok(names.includes('skus/3.html'), attribute);
  }
});

// After the end of a list that gets or loses a row, a part may begin or end.
const BEHIND = ['categories/6/2.html', 'goods/2/2.html'];

test('a new SKU affects its page, its lists, the other SKUs of its SPU, and the sitemap', () => {
  const names = touched((transaction) => void addSku(transaction, 'SKU', 2, 6));
  const own = ['categories/6.html', 'goods/2.html', 'skus/4.html', 'skus/5.html'];
  assert.equal(names, [...own, ...BEHIND, 'sitemap.xml', 'sitemap-skus-1.xml'].toSorted());
});

test('a deleted SKU affects its page, its lists and the sitemap, and its records no other page', () => {
  const names = touched((transaction) => transaction.delete('skus', 4));
  const own = ['categories/6.html', 'goods/2.html', 'skus/4.html'];
  assert.equal(names, [...own, ...BEHIND, 'sitemap.xml', 'sitemap-skus-1.xml'].toSorted());
});

test('a SKU that moves to another SPU affects both SPUs and all their SKUs', () => {
  const names = touched((transaction) => change(transaction, 'skus', 3, { goods_id: 2 }));
  const skus = [1, 2, 3, 4].map((id) => `skus/${id}.html`);
  const lists = ['goods/1.html', 'goods/1/2.html', 'goods/2.html', 'goods/2/2.html'];
  // The page of the category does not show the names of SPUs.
  assert.equal(names, [...lists, ...skus].toSorted());
});

test('a SKU that moves twice before its pages are named affects all SPUs that it had', () => {
  const store = catalog();
  store.commit([(transaction) => void addSpu(transaction, 'Stool', 1, [1, 2, 3])]);
  const summaries = new RowSummaries();
  // The page of SPU 2 may have been made between the commits, with the SKU on it.
  for (const goods_id of [2, 3]) {
    const moving = (transaction: Transaction) => change(transaction, 'skus', 3, { goods_id });
    for (const each of store.commit([moving])) summaries.add(each);
  }
  const names = namesOf(store, summaries);
  for (const spu of [1, 2, 3]) assert.ok(names.has(`goods/${spu}.html`), `SPU ${spu}`);
});

test('a new row without references to it affects its own page, its list and the sitemap', () => {
  const row = { name: 'New', parent_id: 5 };
  assert.equal(
    touched((transaction) => void add(transaction, 'categories', row)),
    [
      'categories/4.html',
      'categories/5.html',
      'categories/5/2.html',
      'categories/7.html',
      'sitemap-categories-1.xml',
      'sitemap.xml',
    ],
  );
  const spu = (transaction: Transaction) => void addSpu(transaction, 'New', 1, [1, 2, 3]);
  assert.equal(touched(spu), ['goods/3.html', 'sitemap-goods-1.xml', 'sitemap.xml']);
  const brand = { name: 'New', logo: '', first_letter: '' };
  assert.equal(
    touched((transaction) => void add(transaction, 'brands', brand)),
    [],
  );
});

test('in a long list a changed row affects only its own part, and a new row the last parts', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', 1, addChain(transaction, 'Wood'));
      for (let left = 150; left > 0; left -= 1) addSku(transaction, `SKU ${left}`, 1, 3);
    },
  ]);
  const changed = pagesNamed(store, (transaction) => change(transaction, 'skus', 60, { price: 5 }));
  const own = ['categories/3/2.html', 'goods/1/2.html', 'skus/60.html'];
  assert.equal([...changed].toSorted(), own);
  const parts = (...numbers: readonly number[]) =>
    ['categories/3', 'goods/1'].flatMap((list) => numbers.map((part) => `${list}/${part}.html`));
  const named = pagesNamed(store, (transaction) => void addSku(transaction, 'SKU', 1, 3));
  assert.equal(
    [...named].filter((name) => name === 'skus/151.html' || !name.startsWith('skus/')).toSorted(),
    [...parts(3, 4, 5), 'sitemap.xml', 'sitemap-skus-1.xml', 'skus/151.html'].toSorted(),
  );
});

test('a renamed brand affects the parts of a long list that there are, the last one full', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
      for (let left = 2 * PART_SIZE; left > 0; left -= 1) addSku(transaction, 'SKU', 1, 3);
    },
  ]);
  const named = pagesNamed(store, (transaction) =>
    change(transaction, 'brands', 1, { name: 'Elm' }),
  );
  const lists = [...named].filter((name) => !name.startsWith('skus/'));
  assert.equal(lists, ['goods/1.html', 'goods/1/2.html']);
});

test('no page is left out if a row is removed while the pages of many rows are being named', () => {
  const store = catalog();
  // A list of so many rows is changed in place.
  const last = 1000;
  store.commit([
    (transaction) => {
      for (let id = 5; id <= last; id += 1) addSku(transaction, 'SKU', 1, 3);
    },
  ]);
  const names = expand(store, 'choices/1');
  assert.is(names.next().value, 'skus/1.html');
  store.commit([(transaction) => transaction.delete('skus', 1)]);
  const others = [2, 3, ...Array.from({ length: last - 4 }, (_, index) => index + 5)];
  assert.equal(
    [...names],
    others.map((id) => `skus/${id}.html`),
  );
});

test('each of the first MAX_CHOICE_SKUS SKUs of an SPU affects the other SKUs, and further ones do not', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', 1, addChain(transaction, 'Wood'));
      add(transaction, 'specs', { name: 'Colour', goods_id: 1 });
      add(transaction, 'options', { value: 'Red', spec_id: 1 });
      for (let left = MAX_CHOICE_SKUS + 1; left > 0; left -= 1) addSku(transaction, 'SKU', 1, 3);
    },
  ]);
  const [last, next] = [MAX_CHOICE_SKUS, MAX_CHOICE_SKUS + 1];
  const records = (sku_id: number) => (transaction: Transaction) =>
    void add(transaction, 'sku_specs', { sku_id, spec_id: 1, option_id: 1 });
  const offSale = (sku: number) => (transaction: Transaction) =>
    change(transaction, 'skus', sku, { is_launched: false });
  for (const edit of [records, offSale]) {
    assert.ok(pagesNamed(store, edit(last)).has('skus/1.html'), edit.name);
    const own = [...pagesNamed(store, edit(next))].filter((name) => name.startsWith('skus/'));
    assert.equal(own, [`skus/${next}.html`], edit.name);
  }
});

test.run();
