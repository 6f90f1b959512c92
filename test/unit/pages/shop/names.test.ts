/** src/pages/shop/names.ts: the names of pages. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  FRONT,
  frontPage,
  listPage,
  type Page,
  parseName,
  rootOf,
  SHOWN_KINDS,
  SITEMAP,
  SITEMAP_PART,
  sitemapOf,
  sitemapPage,
  skuPage,
  STYLE,
} from '../../../../src/pages/shop/names.ts';

/** All ids that the store can assign. */
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const part = fc.integer({ min: 1, max: 999_999_999 });

const pages: fc.Arbitrary<{ name: string; page: Page }> = fc.oneof(
  id.map((sku) => ({ name: skuPage(sku), page: { type: 'sku', id: sku } as const })),
  fc.tuple(id, part).map(([spu, at]) => ({
    name: listPage('goods', spu, at),
    page: { type: 'spu', id: spu, part: at } as const,
  })),
  fc.tuple(id, part).map(([category, at]) => ({
    name: listPage('categories', category, at),
    page: { type: 'category', id: category, part: at } as const,
  })),
  part.map((at) => ({ name: frontPage(at), page: { type: 'front', part: at } as const })),
  fc.tuple(fc.constantFrom(...SHOWN_KINDS), part).map(([of, at]) => ({
    name: sitemapPage(of, at),
    page: { type: 'sitemap-part', of, part: at } as const,
  })),
);

test('the name of a page is parsed into the same page', () => {
  fc.assert(
    fc.property(pages, ({ name, page }) => {
      assert.equal(parseName(name), page);
    }),
  );
  assert.equal(parseName(STYLE), { type: 'style' });
  assert.equal(parseName(SITEMAP), { type: 'sitemap' });
  assert.equal(parseName(FRONT), { type: 'front', part: 1 });
});

/** The one name of a page, written again for this test. */
function nameOf(page: Page): string {
  if (page.type === 'sku') return `skus/${page.id}.html`;
  if (page.type === 'style') return 'style.css';
  if (page.type === 'sitemap') return 'sitemap.xml';
  if (page.type === 'sitemap-part') return `sitemap-${page.of}-${page.part}.xml`;
  const list = { front: 'index', spu: 'goods/', category: 'categories/' }[page.type];
  const stem = page.type === 'front' ? list : `${list}${page.id}`;
  return page.part === 1 ? `${stem}.html` : `${stem}/${page.part}.html`;
}

test('a page has exactly one name, and another spelling is not a page', () => {
  const words = [
    'skus',
    'goods',
    'categories',
    'index',
    'sitemap-skus',
    'sitemap',
    'style',
    '..',
    '',
  ];
  const marks = ['/', '/', '.', '-', '.html', '.xml', '.css', '\n', '%2f', '\0', ' '];
  const piece = fc.oneof(
    fc.constantFrom(...words, ...marks),
    fc.constantFrom('0', '01', '1', '2', '10', '1e3', '99999999999999999', '٣'),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join('')),
      (name) => {
        const page = parseName(name);
        if (page !== null) assert.is(nameOf(page), name);
      },
    ),
    { numRuns: 5000 },
  );
});

const NONE = [
  '',
  '/',
  'index',
  'index.htm',
  'index.html/',
  '/index.html',
  'index/1.html',
  'index/02.html',
  'skus',
  'skus/.html',
  'skus/0.html',
  'skus/01.html',
  'skus/-1.html',
  'skus/1.html\n',
  'skus/1/2.html',
  'skus/1.xml',
  'SKUS/1.html',
  'goods/1/1.html',
  'goods/1/2/3.html',
  'goods/1/0.html',
  'categories/1/.html',
  'sitemap-skus-0.xml',
  'sitemap-brands-1.xml',
  'sitemap-skus-1.html',
  'sitemap-1.xml',
  'style.css/',
  'style.css?v=1',
  '../keys.json',
  'skus/../skus/1.html',
  'skus/99999999999999999999.html',
  '.0123456789abcdef.tmp',
];

for (const name of NONE) {
  test(`${JSON.stringify(name)} is not the name of a page`, () => {
    assert.is(parseName(name), null);
  });
}

test('the file of the sitemap that lists a row is determined by its id', () => {
  assert.is(sitemapOf('skus', 1), 'sitemap-skus-1.xml');
  assert.is(sitemapOf('skus', SITEMAP_PART), 'sitemap-skus-1.xml');
  assert.is(sitemapOf('skus', SITEMAP_PART + 1), 'sitemap-skus-2.xml');
});

test('the path to the root has one ".." for each folder in the name of the page', () => {
  assert.is(rootOf('index.html'), '');
  assert.is(rootOf('skus/1.html'), '../');
  assert.is(rootOf('goods/1/2.html'), '../../');
});

test.run();
