/** src/pages/shop/sitemap.ts: the files of the sitemap of a shop that has deleted most of its rows. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sitemapParts } from '../../../../src/pages/shop/sitemap.ts';
import { add, MemoryStore } from '../../../support/memory-store.ts';

test('the files are named without a look at each id that was ever used', () => {
  const store = new MemoryStore();
  const category = (name: string) => ({ name, parent_id: null });
  store.commit([
    (transaction) => {
      for (const name of ['Wood', 'Leaf']) add(transaction, 'categories', category(name));
      for (let nth = 0; nth < 100_000; nth += 1) transaction.nextId('categories');
      add(transaction, 'categories', category('Stone'));
    },
  ]);
  let looks = 0;
  store.has = (kind, id) => {
    looks += 1;
    return store.get(kind, id) !== undefined;
  };
  assert.equal(
    [...sitemapParts(store)],
    ['sitemap-categories-1.xml', 'sitemap-categories-101.xml'],
  );
  assert.ok(looks < 100, `${looks} ids`);
});

test.run();
