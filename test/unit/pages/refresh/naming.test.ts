/** src/pages/refresh/naming.ts: each page is named once for all its changes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Change, changeOf } from '../../../../src/model/change.ts';
import { PageNaming } from '../../../../src/pages/refresh/naming.ts';
import { MAX_CHOICE_SKUS } from '../../../../src/pages/shop/gather.ts';
import { isSkuPage, PART_SIZE } from '../../../../src/pages/shop/names.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu } from '../../../support/shop.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

const newBrand = (id: number): Change =>
  changeOf('brands', id, null, { id, name: 'Oak', logo: '', first_letter: '' });

const unexpected = (error: unknown): never => {
  throw error;
};

const SPUS = 20;
const SKUS_OF_SPU = 30;

test('if many SKUs change, each page is named once, and pages that list them are named last', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  await store.transact((transaction) => {
    const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
    const chain = addChain(transaction, 'Wood');
    for (let spu = 1; spu <= SPUS; spu += 1) addSpu(transaction, `Table ${spu}`, brand, chain);
    // One SKU of each SPU, then the next one of each, as in some imported files.
    for (let nth = 1; nth <= SPUS * SKUS_OF_SPU; nth += 1) {
      addSku(transaction, `SKU ${nth}`, (nth % SPUS) + 1, 3);
    }
  });
  const naming = new PageNaming(store, unexpected);
  store.onCommit(({ changes }) => naming.note(changes, () => {}));
  for (let nth = 1; nth <= SPUS * SKUS_OF_SPU; nth += 1) {
    await store.transact((transaction) => {
      change(transaction, 'skus', nth, { caption: `${nth}`, is_launched: nth % 2 === 0 });
    });
  }
  // Listeners are called after the response to a commit.
  await turn();
  assert.ok(naming.begin());
  const names: string[] = [];
  while (naming.isUnderWay) {
    const found = naming.next();
    assert.ok(found, 'it was said to be under way');
    if (found !== 'noted') names.push(found.name);
  }
  assert.is(naming.next(), null);
  assert.is(naming.size, 0);
  assert.is(new Set(names).size, names.length, 'each once');
  const lists = names.filter((name) => !isSkuPage(name));
  assert.is(names.length - lists.length, SPUS * SKUS_OF_SPU);
  assert.is(lists.filter((name) => name.startsWith('goods/')).length, SPUS);
  assert.equal(names.slice(-lists.length), lists);
  await store.close();
});

test('if many rows leave a long list and enter another, the parts of both are named once', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  const skus = 16 * PART_SIZE;
  await store.transact((transaction) => {
    const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
    addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
    addChain(transaction, 'Leaf');
    for (let nth = 1; nth <= skus; nth += 1) addSku(transaction, `SKU ${nth}`, 1, 3);
  });
  const naming = new PageNaming(store, unexpected);
  store.onCommit(({ changes }) => naming.note(changes, () => {}));
  await store.transact((transaction) => {
    for (let id = 1; id <= skus; id += 2) change(transaction, 'skus', id, { category_id: 6 });
  });
  await turn();
  assert.ok(naming.begin());
  const names: string[] = [];
  let steps = 0;
  for (let found = naming.next(); found !== null; found = naming.next()) {
    steps += 1;
    if (found !== 'noted') names.push(found.name);
  }
  const lists = names.filter((name) => name.startsWith('categories/'));
  assert.is(lists.length, 2 * (8 + 1), 'all parts of both, and one that may have to be removed');
  assert.is(names.filter(isSkuPage).length, skus / 2);
  assert.ok(steps < 2 * names.length, `${steps} steps for ${names.length} names`);
  await store.close();
});

test('if many options of an SPU are renamed, the pages of its SKUs are named once', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  const skus = MAX_CHOICE_SKUS + 10;
  await store.transact((transaction) => {
    const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
    const goods_id = addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
    const spec_id = add(transaction, 'specs', { name: 'Number', goods_id });
    for (let nth = 1; nth <= skus; nth += 1) {
      const sku_id = addSku(transaction, `SKU ${nth}`, goods_id, 3);
      const option_id = add(transaction, 'options', { value: `${nth}`, spec_id });
      add(transaction, 'sku_specs', { sku_id, spec_id, option_id });
    }
  });
  const naming = new PageNaming(store, unexpected);
  store.onCommit(({ changes }) => naming.note(changes, () => {}));
  const namesAfterRenaming = async (from: number, to: number) => {
    await store.transact((transaction) => {
      for (let id = from; id <= to; id += 1) change(transaction, 'options', id, { value: 'New' });
    });
    await turn();
    assert.ok(naming.begin());
    const names: string[] = [];
    for (let found = naming.next(); found !== null; found = naming.next()) {
      if (found !== 'noted' && isSkuPage(found.name)) names.push(found.name);
    }
    return names;
  };
  assert.is((await namesAfterRenaming(1, MAX_CHOICE_SKUS)).length, skus);
  const later = await namesAfterRenaming(MAX_CHOICE_SKUS + 1, skus);
  assert.is(later.length, 10, 'no other page offers their SKUs as choices');
  await store.close();
});

test('changes that come while pages are being named have to wait, and no page is lost', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  await store.transact((transaction) => {
    const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
    addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
    for (const name of ['Small', 'Large']) addSku(transaction, name, 1, 3);
  });
  const naming = new PageNaming(store, unexpected);
  store.onCommit(({ changes }) => naming.note(changes, () => {}));
  const changeSku = async (id: number) => {
    await store.transact((transaction) => change(transaction, 'skus', id, { caption: 'Oiled' }));
    await turn();
  };
  const names: string[] = [];
  const nameAll = () => {
    for (let found = naming.next(); found !== null; found = naming.next()) {
      if (found !== 'noted') names.push(found.name);
    }
  };
  await changeSku(1);
  assert.is(naming.begin(), true);
  const first = naming.next();
  names.push(first === null || first === 'noted' ? 'no name' : first.name);
  // Otherwise a reader could get one of its lists from a file that is out of date.
  assert.is(naming.size, 1, 'the row is not done with');
  await changeSku(2);
  assert.is(naming.begin(), false);
  nameAll();
  assert.is(naming.begin(), true);
  nameAll();
  assert.equal(names.filter(isSkuPage), ['skus/1.html', 'skus/2.html']);
  await store.close();
});

test('changes that are noted in slices are noted before those of later commits', async () => {
  const naming = new PageNaming(new MemoryStore(), unexpected);
  const many = Array.from({ length: 2001 }, (_, index) => newBrand(index + 1));
  const noted: (readonly [what: string, size: number])[] = [];
  naming.note(many, () => noted.push(['many', naming.size]));
  naming.note([newBrand(2002)], () => noted.push(['one', naming.size]));
  assert.is(naming.begin(), false, 'none is noted');
  await until('all are noted', () => noted.length === 2);
  // What is being noted counts as one.
  assert.equal(noted, [
    ['many', 2001 + 1],
    ['one', 2002],
  ]);
  assert.is(naming.begin(), true);
});

test('changes that are still being noted have to be begun as well', async () => {
  const naming = new PageNaming(new MemoryStore(), unexpected);
  naming.note([newBrand(1)], () => {});
  const noted = Promise.withResolvers<void>();
  naming.note(
    Array.from({ length: 2001 }, (_, index) => newBrand(index + 2)),
    noted.resolve,
  );
  assert.is(naming.begin(), false, 'there are pages to name, and more to come');
  while (naming.next() !== null);
  await noted.promise;
  assert.is(naming.begin(), true);
});

test('pages of later changes do not overtake lists that have waited for longer', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  await store.transact((transaction) => {
    for (const name of ['Oak', 'Pine']) {
      const brand = add(transaction, 'brands', { name, logo: '', first_letter: '' });
      const spu = addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
      addSku(transaction, 'SKU', spu, 3 * brand);
    }
  });
  const naming = new PageNaming(store, unexpected);
  store.onCommit(({ changes }) => naming.note(changes, () => {}));
  const now = performance.now.bind(performance);
  let passed = 0;
  performance.now = () => now() + passed;
  const step = () => {
    const found = naming.next();
    return found === null || found === 'noted' ? found : found.name;
  };
  try {
    await store.transact((transaction) => change(transaction, 'skus', 1, { caption: 'Oiled' }));
    await turn();
    assert.ok(naming.begin());
    const first = [step(), step(), step(), step()];
    assert.equal(first, ['skus/1.html', 'noted', 'noted', 'noted'], 'its lists have to wait');
    passed += 1000;
    await store.transact((transaction) => change(transaction, 'brands', 2, { name: 'Elm' }));
    await turn();
    assert.ok(naming.begin());
    const names: unknown[] = [];
    while (naming.isUnderWay) names.push(step());
    assert.equal(
      names.filter((name) => name !== 'noted'),
      ['goods/1.html', 'categories/3.html', 'skus/2.html', 'goods/2.html'],
    );
  } finally {
    performance.now = now;
    await store.close();
  }
});

test('the pages of a renamed option have the age of its change, also after later changes', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  await store.transact((transaction) => {
    const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
    const chain = addChain(transaction, 'Wood');
    for (const name of ['Table', 'Chair']) {
      addSku(transaction, 'SKU', addSpu(transaction, name, brand, chain), 3);
    }
    const spec_id = add(transaction, 'specs', { name: 'Colour', goods_id: 1 });
    const option_id = add(transaction, 'options', { value: 'Red', spec_id });
    add(transaction, 'sku_specs', { sku_id: 1, spec_id, option_id });
  });
  const naming = new PageNaming(store, unexpected);
  store.onCommit(({ changes }) => naming.note(changes, () => {}));
  const now = performance.now.bind(performance);
  let passed = 0;
  performance.now = () => now() + passed;
  try {
    await store.transact((transaction) => change(transaction, 'options', 1, { value: 'Blue' }));
    await turn();
    assert.ok(naming.begin());
    assert.is(naming.next(), 'noted', 'what refers to the option is to be found later');
    passed += 100_000;
    assert.ok(naming.age >= 100_000, `${naming.age}`);
    await store.transact((transaction) => change(transaction, 'skus', 2, { caption: 'Oiled' }));
    await turn();
    assert.ok(naming.begin());
    const ages = new Map<string, number>();
    for (let found = naming.next(); found !== null; found = naming.next()) {
      if (found !== 'noted') ages.set(found.name, found.age);
    }
    for (const [name, isOld] of [
      ['skus/1.html', true],
      ['goods/1.html', true],
      ['skus/2.html', false],
    ] as const) {
      assert.is((ages.get(name) ?? Number.NaN) >= 100_000, isOld, name);
    }
  } finally {
    performance.now = now;
    await store.close();
  }
});

test('the age is that of the oldest change whose pages are not all named, also while they are', async () => {
  const store = await openStore(storeDirectory(), { disk: quickDisk });
  const now = performance.now.bind(performance);
  let passed = 0;
  performance.now = () => now() + passed;
  try {
    const naming = new PageNaming(store, unexpected);
    store.onCommit(({ changes }) => naming.note(changes, () => {}));
    assert.is(naming.age, 0);
    await store.transact((transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
      for (const name of ['Low', 'High']) addSku(transaction, name, 1, 3);
    });
    await turn();
    passed += 100_000;
    // Not that of the newest change: while rows keep being added, their pages would never be named.
    naming.note([newBrand(2)], () => {});
    assert.ok(naming.changesAge >= 100_000);
    assert.ok(naming.begin());
    passed += 100_000;
    const ages: number[] = [];
    for (let found = naming.next(); found !== null; found = naming.next()) {
      if (found === 'noted') continue;
      ages.push(found.age);
      if (naming.size > 0) assert.ok(naming.age >= 200_000, `${naming.age}`);
    }
    assert.ok(ages.length > 2);
    for (const age of ages) assert.ok(age >= 200_000 && age < 300_000, `${age}`);
    assert.is(naming.age, 0);
  } finally {
    performance.now = now;
    await store.close();
  }
});

test.run();
