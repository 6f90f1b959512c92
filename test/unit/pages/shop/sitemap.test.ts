/** src/pages/shop/sitemap.ts: the files of the sitemap, also of a shop that has deleted most rows. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sitemapPages, sitemapParts, sitemaps } from '../../../../src/pages/shop/sitemap.ts';
import { add, MemoryStore } from '../../../support/memory-store.ts';

test('a file lists a thousand ids, and the first one of the categories the front page as well', () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const category = (name: string) => add(transaction, 'categories', { name, parent_id: null });
      category('Wood');
      for (let nth = 0; nth < 998; nth += 1) transaction.nextId('categories');
      for (const name of ['Leaf', 'Stone']) category(name);
    },
  ]);
  assert.equal(
    [...sitemaps(store)],
    ['sitemap.xml', 'sitemap-categories-1.xml', 'sitemap-categories-2.xml'],
  );
  const pages = (part: number) => sitemapPages(store, 'categories', part);
  assert.equal(pages(1), ['index.html', 'categories/1.html', 'categories/1000.html']);
  assert.equal(pages(2), ['categories/1001.html']);
  assert.equal(pages(3), []);
  assert.equal(sitemapPages(store, 'goods', 1), []);
});

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
