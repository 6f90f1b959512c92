/** src/pages/shop/sitemap.ts: the sitemap of a shop without categories. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryStore } from '../../../support/memory-store.ts';
import { freshPages } from '../../../support/shop.ts';

test('the sitemap of an empty shop lists the front page, and its index is not empty', () => {
  const pages = freshPages(new MemoryStore());
  const index = pages.get('sitemap.xml') ?? '';
  assert.match(index, '<loc>https://shop.example/pages/sitemap-categories-1.xml</loc>');
  const part = pages.get('sitemap-categories-1.xml') ?? '';
  assert.match(part, '<url><loc>https://shop.example/pages/</loc></url>');
});

test.run();
