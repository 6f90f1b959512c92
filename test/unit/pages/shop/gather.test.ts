/** src/pages/shop/gather.ts: what pages show, data that pages of an SPU share, and rows that stay in memory. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Catalog } from '../../../../src/pages/shop/catalog.ts';
import type { PageFacts } from '../../../../src/pages/shop/facts.ts';
import { Gatherer } from '../../../../src/pages/shop/gather.ts';
import { PART_SIZE } from '../../../../src/pages/shop/names.ts';
import { PageList } from '../../../../src/pages/shop/page-list.ts';
import { atOnce } from '../../../../src/slices.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addShop, addSku, addSpu, Site } from '../../../support/shop.ts';

const SKUS = 5;

/** A shop of one SPU, and how often its SKUs are read for the choices of their pages. */
function counted(): { store: MemoryStore; catalog: Catalog; reads: () => number } {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
      for (let number = 1; number <= SKUS; number += 1) addSku(transaction, `SKU ${number}`, 1, 3);
    },
  ]);
  let reads = 0;
  const catalog = new Proxy<Catalog>(store, {
    get(target, member) {
      if (member !== 'select') {
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return (...[kind, selection]: Parameters<Catalog['select']>) => {
        if (kind === 'skus') reads += 1;
        return target.select(kind, selection);
      };
    },
  });
  return { store, catalog, reads: () => reads };
}

test('pages that were named together read the SKUs of their SPU once, even if commits change them', () => {
  const { store, catalog, reads } = counted();
  const gatherer = new Gatherer(catalog, null);
  const known = new Map<number, string>();
  const shared = new Set<string | null>();
  for (let id = 1; id <= SKUS; id += 1) {
    shared.add(atOnce(gatherer.facts(`skus/${id}.html`, known)).shared);
    store.commit([(transaction) => change(transaction, 'skus', 1, { price: id })]);
  }
  assert.is(reads(), 1);
  assert.is(shared.size, 1);
});

test('a page that is gathered alone has the current choices', () => {
  const { store, catalog } = counted();
  const gatherer = new Gatherer(catalog, null);
  assert.match(atOnce(gatherer.facts('skus/1.html')).shared ?? '', '"launched":true');
  store.commit([
    (transaction) => {
      for (let id = 1; id <= SKUS; id += 1) change(transaction, 'skus', id, { is_launched: false });
    },
  ]);
  assert.not.match(atOnce(gatherer.facts('skus/1.html')).shared ?? '', '"launched":true');
});

test('a gatherer leaves SKUs and their records that are text in memory as they are', () => {
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, SKUS)]);
  const state = store.opened();
  const gatherer = new Gatherer(state, state);
  const facts = [...new PageList(true).all(state)].map((name) => atOnce(gatherer.facts(name)));
  assert.ok(
    facts.some(({ own }) => own?.includes('Brown')),
    'the records were read',
  );
  for (const kind of ['skus', 'sku_specs'] as const) {
    assert.is.not(state.peek(kind, 1), state.peek(kind, 1), `${kind}: parsed at each call`);
    assert.is(state.get(kind, 1), state.peek(kind, 1), `${kind}: kept once it was asked for`);
  }
});

test('the cost price of a SKU is not among the facts, which templates of the operator may show', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      addShop(transaction, SKUS);
      change(transaction, 'skus', 1, { cost_price: 918_273_645, market_price: 918_273_646 });
    },
  ]);
  const gatherer = new Gatherer(store, store);
  const facts = [...new PageList(true).all(store)].map((name) => atOnce(gatherer.facts(name)));
  const text = JSON.stringify(facts);
  assert.ok(text.includes('918273646'));
  assert.not.ok(text.includes('918273645'));
  assert.not.ok(text.includes('cost_price'));
});

test('a list has a next part only if it has more entries than its parts so far', () => {
  for (const [entries, hasNext] of [
    [PART_SIZE, false],
    [PART_SIZE + 1, true],
  ] as const) {
    const store = new MemoryStore();
    store.commit([
      (transaction) => {
        const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
        const [first, ...others] = addChain(transaction, 'Wood');
        addSpu(transaction, 'Table', brand, [first, ...others]);
        for (let nth = 1; nth <= entries; nth += 1) addSku(transaction, `SKU ${nth}`, 1, 3);
        // The chain has one of them already.
        for (let nth = 2; nth <= entries; nth += 1) {
          add(transaction, 'categories', { name: `First ${nth}`, parent_id: null });
          add(transaction, 'categories', { name: `Second ${nth}`, parent_id: first });
        }
      },
    ]);
    const gatherer = new Gatherer(store, null);
    for (const [name, list] of [
      ['index.html', 'categories'],
      ['categories/1.html', 'categories'],
      ['categories/3.html', 'items'],
      ['goods/1.html', 'items'],
    ] as const) {
      const { own } = atOnce(gatherer.facts(name));
      const found = JSON.parse(own ?? '')[list];
      assert.equal([found.hasNext, found.entries.length], [hasNext, PART_SIZE], name);
    }
  }
});

test('a page shows at most 100 specifications of a SKU, and 8 categories below one in a list', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
      const sku_id = addSku(transaction, 'SKU', 1, 3);
      for (let nth = 1; nth <= 101; nth += 1) {
        const spec_id = add(transaction, 'specs', { name: `Spec ${nth}`, goods_id: 1 });
        const option_id = add(transaction, 'options', { value: 'Red', spec_id });
        add(transaction, 'sku_specs', { sku_id, spec_id, option_id });
      }
      for (let nth = 2; nth <= 9; nth += 1) {
        add(transaction, 'categories', { name: `Second ${nth}`, parent_id: 1 });
      }
    },
  ]);
  const gatherer = new Gatherer(store, null);
  const sku = JSON.parse(atOnce(gatherer.facts('skus/1.html')).own ?? '');
  const ids = sku.specifications.map(({ id }: { id: number }) => id);
  // Those of the newest records.
  assert.equal([ids.length, ids.at(0), ids.at(-1)], [100, 2, 101]);
  const front = JSON.parse(atOnce(gatherer.facts('index.html')).own ?? '');
  assert.is(front.categories.entries[0].below.length, 8);
});

/** Deletes all that pages show, in an order in which nothing refers to a missing row. */
function deleteAll(store: MemoryStore): void {
  store.commit([
    (transaction) => {
      const kinds = ['sku_specs', 'skus', 'options', 'specs', 'goods', 'categories'] as const;
      for (const kind of kinds) {
        for (const id of [...transaction.ids(kind)].reverse()) transaction.delete(kind, id);
      }
    },
  ]);
}

/** The facts of a page whose rows are deleted after some steps; null if it takes fewer. */
function factsOfDeleted(name: string, steps: number): PageFacts | null {
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, SKUS)]);
  const gathering = new Gatherer(store, store).facts(name);
  for (let step = 0; step < steps; step += 1) if (gathering.next().done === true) return null;
  deleteAll(store);
  return atOnce(gathering);
}

test('no page fails if all rows are deleted between two steps of gathering it', () => {
  const site = new Site();
  const names = ['skus/2.html', 'goods/1.html', 'categories/3.html', 'categories/1.html'];
  for (const name of [...names, 'index.html', 'sitemap.xml']) {
    let steps = 0;
    for (let facts = factsOfDeleted(name, 0); facts !== null; facts = factsOfDeleted(name, steps)) {
      const prepared = site.renderer.prepare(facts);
      if (prepared !== null) assert.is.not(site.renderer.render(prepared), '');
      steps += 1;
    }
    assert.ok(steps > 1, `${name} takes ${steps} steps`);
  }
});

test.run();
