/** src/pages/render.ts: a page from rows, without a server. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row, Scalar } from '../../src/model/kind.ts';
import { formatAmount, PAGE_POLICY, renderSku } from '../../src/pages/render.ts';
import { type Rows, viewOf } from '../support/view.ts';

const SKU: Row = {
  id: 1,
  name: 'Phone, silver',
  goods_id: 1,
  caption: 'Light',
  category_id: 3,
  price: 64900,
  cost_price: 50211,
  market_price: 69900,
  stock: 42,
  sales: 0,
  is_launched: true,
};

const GOODS: Row = {
  id: 1,
  name: 'Phone',
  brand_id: 1,
  category1_id: 4,
  category2_id: 5,
  category3_id: 6,
  sales: 0,
  comments: 0,
  desc_detail: 'Detail.',
  desc_pack: 'Pack.',
  desc_service: 'Service.',
};

const BASE: Rows = {
  brands: [{ id: 1, name: 'Works', logo: '', first_letter: 'W' }],
  categories: [
    { id: 1, name: 'Own 1', parent_id: null },
    { id: 2, name: 'Own 2', parent_id: 1 },
    { id: 3, name: 'Own 3', parent_id: 2 },
    { id: 4, name: 'SPU 1', parent_id: null },
    { id: 5, name: 'SPU 2', parent_id: 4 },
    { id: 6, name: 'SPU 3', parent_id: 5 },
  ],
  goods: [GOODS],
  specs: [
    { id: 1, name: 'Colour', goods_id: 1 },
    { id: 2, name: 'Size', goods_id: 1 },
  ],
  options: [
    { id: 1, value: 'Silver', spec_id: 1 },
    { id: 2, value: 'Black', spec_id: 1 },
    { id: 3, value: 'Large', spec_id: 2 },
  ],
};

function render(sku: Partial<Record<string, Scalar>>, more: Rows = {}): string {
  const html = renderSku(viewOf({ ...BASE, skus: [{ ...SKU, ...sku } as Row], ...more }), 1);
  if (html === null) throw new Error('there is no page');
  return html;
}

const AMOUNTS: readonly [amount: number, text: string][] = [
  [0, '0.00'],
  [1, '0.01'],
  [10, '0.10'],
  [99, '0.99'],
  [100, '1.00'],
  [12_345, '123.45'],
  [99_999, '999.99'],
  [100_000, '1,000.00'],
  [123_456_789, '1,234,567.89'],
  [Number.MAX_SAFE_INTEGER, '90,071,992,547,409.91'],
];

for (const [amount, text] of AMOUNTS) {
  test(`an amount of ${amount} hundredths reads ${text}`, () => {
    assert.is(formatAmount(amount), text);
  });
}

test('there is no page for a SKU that is not there', () => {
  assert.is(renderSku(viewOf(BASE), 1), null);
});

interface Shown {
  readonly name: string;
  readonly sku?: Partial<Record<string, Scalar>>;
  readonly more?: Rows;
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
}

const SHOWN: readonly Shown[] = [
  { name: 'on sale: price and stock', has: ['>649.00<', '42 in stock'], lacks: ['Off sale'] },
  {
    name: 'off sale: marked, without price or stock',
    sku: { is_launched: false },
    has: ['Off sale', 'Phone, silver', 'Light'],
    lacks: ['649.00', '699.00', '42', 'in stock', 'Out of stock', 'Market'],
  },
  { name: 'a stock of none', sku: { stock: 0 }, has: ['Out of stock'], lacks: ['in stock<', '>0'] },
  { name: 'a stock of one', sku: { stock: 1 }, has: ['1 in stock'] },
  { name: 'a price of nothing', sku: { price: 0 }, has: ['>0.00<'] },
  { name: 'a higher market price', has: ['<s>699.00</s>'] },
  { name: 'an equal market price', sku: { market_price: 64900 }, lacks: ['Market price'] },
  { name: 'a lower market price', sku: { market_price: 1 }, lacks: ['Market price', '0.01'] },
  { name: 'the purchase price', lacks: ['50211', '502.11', 'cost'] },
  {
    name: 'the purchase price, off sale',
    sku: { is_launched: false },
    lacks: ['50211', '502.11', 'cost'],
  },
  {
    name: "the SKU's own category, not the SPU's",
    has: ['<li>Own 1</li>', '<li>Own 2</li>', '<li>Own 3</li>'],
    lacks: ['SPU 1', 'SPU 2', 'SPU 3'],
  },
  { name: 'no caption', sku: { caption: '' }, lacks: ['class="caption"'] },
  { name: 'no records: no table', lacks: ['<dl', 'Specification<'] },
  {
    name: 'the records, each with its option',
    more: {
      sku_specs: [
        { id: 1, sku_id: 1, spec_id: 1, option_id: 1 },
        { id: 2, sku_id: 1, spec_id: 2, option_id: 3 },
        { id: 3, sku_id: 2, spec_id: 1, option_id: 2 },
      ],
    },
    has: ['<dt>Colour</dt><dd>Silver</dd>', '<dt>Size</dt><dd>Large</dd>'],
    lacks: ['Black'],
  },
  {
    name: 'of two records of one specification, the later',
    more: {
      sku_specs: [
        { id: 1, sku_id: 1, spec_id: 1, option_id: 1 },
        { id: 2, sku_id: 1, spec_id: 1, option_id: 2 },
      ],
    },
    has: ['<dd>Black</dd>'],
    lacks: ['Silver</dd>'],
  },
  {
    name: 'an SPU without descriptions: no headings',
    more: { goods: [{ ...GOODS, desc_detail: '', desc_pack: '', desc_service: '' }] },
    lacks: ['Details', 'In the box', 'After-sales'],
  },
  { name: 'the descriptions', has: ['Detail.', 'Pack.', 'Service.', 'Phone, by Works'] },
];

for (const { name, sku = {}, more = {}, has = [], lacks = [] } of SHOWN) {
  test(`what a page shows: ${name}`, () => {
    const body = render(sku, more).replace(/<style>.*?<\/style>/s, '');
    for (const text of has) assert.ok(body.includes(text), `has ${text}`);
    for (const text of lacks) assert.not.ok(body.includes(text), `lacks ${text}`);
  });
}

const hostile = (where: string) => `${where}<script>"&'</script>{{ 7*7*7 }}{% raw %}`;
const expected = (where: string) =>
  `${where}&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;{{ 7*7*7 }}{% raw %}`;

test('every text of every row is escaped, once', () => {
  const html = render(
    { name: hostile('name'), caption: hostile('caption') },
    {
      brands: [{ id: 1, name: hostile('brand') }],
      categories: [{ id: 3, name: hostile('category'), parent_id: null }],
      goods: [
        {
          ...GOODS,
          name: hostile('goods'),
          desc_detail: hostile('detail'),
          desc_pack: hostile('pack'),
          desc_service: hostile('service'),
        },
      ],
      specs: [{ id: 1, name: hostile('spec'), goods_id: 1 }],
      options: [{ id: 1, value: hostile('option'), spec_id: 1 }],
      sku_specs: [{ id: 1, sku_id: 1, spec_id: 1, option_id: 1 }],
    },
  );
  const places = ['name', 'caption', 'brand', 'category', 'goods', 'detail', 'pack', 'service'];
  for (const where of [...places, 'spec', 'option']) {
    assert.ok(html.includes(expected(where)), where);
  }
  assert.not.match(html, /<script|343|&amp;lt;/i);
});

test('one state gives one page, byte for byte', () => {
  assert.is(render({}), render({}));
});

test('a page is a whole document that names its language and its characters', () => {
  const html = render({});
  assert.match(html, /^<!doctype html>\n<html lang="en">/);
  assert.match(html, '<meta charset="utf-8">');
  assert.match(html, /<\/html>\n$/);
});

test('the policy allows the one style sheet of a page by its digest, and no script', () => {
  const styles = [...render({}).matchAll(/<style>(.*?)<\/style>/gs)];
  assert.is(styles.length, 1);
  const digest = createHash('sha256')
    .update(styles[0]?.[1] ?? '')
    .digest('base64');
  assert.ok(PAGE_POLICY.includes(`style-src 'sha256-${digest}'`));
  assert.match(PAGE_POLICY, /^default-src 'none';/);
  assert.not.match(PAGE_POLICY, /script|unsafe/);
  assert.not.match(render({}), / style=| on[a-z]+=/);
});

test.run();
