/** The content of pages, rendered from rows without a server. */
import Validator from '@adobe/structured-data-validator';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName, Scalar } from '../../../../src/model/kind.ts';
import { MAX_CHOICE_SKUS } from '../../../../src/pages/shop/gather.ts';
import { SITEMAP_PART } from '../../../../src/pages/shop/names.ts';
import { PriceFormat } from '../../../../src/pages/render/price.ts';
import {
  MAX_NESTING,
  richText,
  summaryOf,
  summaryOfHtml,
} from '../../../../src/pages/render/rich-text.ts';
import { MAX_DESCRIPTION_LENGTH } from '../../../../src/pages/shop/description.ts';
import type { PageSettings } from '../../../../src/pages/shop/settings.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu, freshPages, Site } from '../../../support/shop.ts';

type Fields = Readonly<Record<string, Scalar>>;

/**
 * SKU 1 of SPU 1, silver and large; SKUs 2 and 3 of the same SPU, black. SKU 1 is in categories 4
 * to 6, its SPU in 1 to 3.
 *
 * @param more is committed after that.
 */
function catalog(more: (transaction: Transaction) => void): MemoryStore {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      add(transaction, 'brands', { name: 'Works', logo: '', first_letter: 'W' });
      const [spu, own] = [addChain(transaction, 'SPU'), addChain(transaction, 'Own')];
      addSpu(transaction, 'Phone', 1, spu);
      for (const name of ['Colour', 'Size']) add(transaction, 'specs', { name, goods_id: 1 });
      for (const [value, spec_id] of [
        ['Silver', 1],
        ['Black', 1],
        ['Large', 2],
      ] as const) {
        add(transaction, 'options', { value, spec_id });
      }
      for (const [name, category] of [
        ['Phone, silver', own[2]],
        ['Phone, black', spu[2]],
        ['Phone, black again', spu[2]],
      ] as const) {
        addSku(transaction, name, 1, category);
      }
      change(transaction, 'skus', 1, {
        caption: 'Light',
        price: 64900,
        cost_price: 50211,
        market_price: 69900,
        stock: 42,
      });
      for (const [sku_id, spec_id, option_id] of [
        [1, 1, 1],
        [1, 2, 3],
        [2, 1, 2],
        [3, 1, 2],
      ] as const) {
        add(transaction, 'sku_specs', { sku_id, spec_id, option_id });
      }
    },
    more,
  ]);
  return store;
}

/** Adds SKUs to SPU 1, in category 3. */
function addSkus(transaction: Transaction, count: number, name = 'More'): void {
  for (let left = count; left > 0; left -= 1) addSku(transaction, name, 1, 3);
}

type Changes = readonly (readonly [KindName, number, Fields])[];

/** Every page after some changes, without white space between tags. */
function pagesAfter(changes: Changes, settings: Partial<PageSettings> = {}): Map<string, string> {
  const store = catalog((transaction) => {
    for (const [kind, id, fields] of changes) change(transaction, kind, id, fields);
  });
  const pages = freshPages(store, new Site(settings));
  return new Map([...pages].map(([name, text]) => [name, text.replace(/>\s+</g, '><')]));
}

const AMOUNTS: readonly [amount: number, currency: string, locale: string, text: string][] = [
  [0, 'USD', 'en', '$0.00'],
  [1, 'USD', 'en', '$0.01'],
  [99, 'USD', 'en', '$0.99'],
  [100_000, 'USD', 'en', '$1,000.00'],
  [Number.MAX_SAFE_INTEGER, 'USD', 'en', '$90,071,992,547,409.91'],
  [64_900, 'EUR', 'de', '649,00\u00a0€'],
  [64_900, 'JPY', 'ja', '￥64,900'],
  [64_900, 'KWD', 'en', 'KWD\u00a064.900'],
];

for (const [amount, currency, locale, text] of AMOUNTS) {
  test(`${amount} of the smallest unit of ${currency} is shown as ${text}`, () => {
    assert.is(new PriceFormat(currency, locale).shown(amount), text);
  });
}

test('amounts in metadata have a decimal point and as many digits as the currency', () => {
  assert.is(new PriceFormat('USD', 'de').exact(5), '0.05');
  assert.is(new PriceFormat('JPY', 'de').exact(5), '5');
  assert.is(new PriceFormat('KWD', 'de').exact(1234), '1.234');
});

interface Shown {
  readonly what: string;
  readonly page?: string;
  readonly changes?: Changes;
  readonly settings?: Partial<PageSettings>;
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
}

const sku = (fields: Fields): Changes => [['skus', 1, fields]];

const SHOWN: readonly Shown[] = [
  { what: 'price and stock', has: ['>$649.00<', '42 in stock'], lacks: ['Off sale'] },
  {
    what: 'that a SKU is off sale, without price or stock',
    changes: sku({ is_launched: false }),
    has: ['Off sale', 'Phone, silver', 'Light'],
    lacks: ['649', '699', '42', 'in stock', 'Out of stock', 'Market', 'Offer', 'product:price'],
  },
  {
    what: '"Out of stock" for a stock of 0',
    changes: sku({ stock: 0 }),
    has: ['Out of stock'],
    lacks: ['>0'],
  },
  {
    what: 'the stock as the language writes numbers',
    changes: sku({ stock: 12_345 }),
    settings: { locale: 'de' },
    has: ['12.345 auf Lager'],
  },
  { what: 'a price of 0', changes: sku({ price: 0 }), has: ['>$0.00<'] },
  { what: 'a higher market price', has: ['<s>$699.00</s>'] },
  {
    what: 'no market price that is equal to the price',
    changes: sku({ market_price: 64_900 }),
    lacks: ['Market price'],
  },
  {
    what: 'no market price that is lower than the price',
    changes: sku({ market_price: 1 }),
    lacks: ['Market price', '0.01'],
  },
  {
    what: 'the category path of the SKU with links, and not that of its SPU',
    has: [4, 5, 6].map((id) => `<li><a href="../categories/${id}.html">Own ${id - 3}</a></li>`),
    lacks: ['SPU 1', 'SPU 2', 'SPU 3'],
  },
  {
    what: 'the SPU and the brand of a SKU',
    has: ['<a href="../goods/1.html">Phone</a>, <span class="by">by <bdi>Works</bdi></span>'],
  },
  { what: 'no empty caption', changes: sku({ caption: '' }), lacks: ['class="caption"'] },
  {
    what: 'the specifications of a SKU with their options',
    has: ['<dt>Colour</dt><dd>Silver</dd><dt>Size</dt><dd>Large</dd>'],
    lacks: ['<dd>Black'],
  },
  {
    what: 'the other SKUs of the SPU by their options, but only the first with the same options',
    has: ['<a href="../skus/2.html">Black</a>', 'class="chosen">'],
    lacks: ['skus/3.html'],
  },
  {
    what: 'that another option is unavailable',
    changes: [
      ['skus', 2, { is_launched: false }],
      ['skus', 3, { is_launched: false }],
    ],
    has: ['<a href="../skus/2.html" class="unavailable">Black'],
  },
  {
    what: 'the SKU on sale, of two with the same options',
    changes: [['skus', 2, { is_launched: false }]],
    has: ['<a href="../skus/3.html">Black</a>'],
    lacks: ['unavailable'],
  },
  {
    what: 'no headings for empty descriptions',
    changes: [['goods', 1, { desc_detail: '' }]],
    lacks: ['Details', 'In the box', 'After-sales'],
  },
  {
    what: 'the descriptions of the SPU',
    changes: [['goods', 1, { desc_detail: 'D.', desc_pack: 'P.', desc_service: 'S.' }]],
    has: ['<p>D.</p>', '<p>P.</p>', '<p>S.</p>'],
  },
  {
    what: 'title, description, canonical address and Open Graph',
    has: [
      '<title>Phone, silver · Catalog</title>',
      '<meta name="description" content="Light">',
      '<link rel="canonical" href="https://shop.example/pages/skus/1.html">',
      '<meta property="og:url" content="https://shop.example/pages/skus/1.html">',
      '<meta property="og:title" content="Phone, silver">',
      '<meta property="og:type" content="product">',
      '<meta property="product:price:amount" content="649.00">',
    ],
  },
  {
    what: 'no absolute address without --public-url',
    settings: { publicUrl: null },
    lacks: ['canonical', 'og:url', 'https://shop'],
  },
  {
    what: 'the language, the currency and the name of the shop',
    settings: { locale: 'de', currency: 'EUR', shopName: 'Laden' },
    has: ['<html lang="de">', '649,00\u00a0€', '· Laden</title>', 'content="EUR"'],
  },
  {
    what: 'words in German',
    settings: { locale: 'de-AT' },
    has: ['42 auf Lager', 'Vergleichspreis', '<h2>Merkmale</h2>', '>Startseite</a>'],
    lacks: ['in stock', 'Home', 'Specification'],
  },
  {
    what: 'words in Spanish',
    settings: { locale: 'es-MX' },
    has: ['42 en stock', 'Precio de referencia', '<h2>Características</h2>', '>Inicio</a>'],
    lacks: ['in stock', 'Home', 'Specification'],
  },
  {
    what: 'words in French',
    settings: { locale: 'fr' },
    has: ['42 en stock', 'Prix de référence', '<h2>Caractéristiques</h2>', '>Accueil</a>'],
    lacks: ['in stock', 'Home', 'Specification'],
  },
  {
    what: 'words in Italian',
    settings: { locale: 'it' },
    has: ['42 in magazzino', 'Prezzo di riferimento', '<h2>Caratteristiche</h2>'],
    lacks: ['in stock', 'Specification'],
  },
  {
    what: 'words in Dutch',
    settings: { locale: 'nl-BE' },
    has: ['42 op voorraad', 'Vergelijkingsprijs', '<h2>Kenmerken</h2>'],
    lacks: ['in stock', 'Specification'],
  },
  {
    what: 'words in Japanese',
    settings: { locale: 'ja' },
    has: [
      '42 点の在庫あり',
      '参考価格',
      '<h2>仕様</h2>',
      '>ホーム</a>',
      'ブランド <bdi>Works</bdi>',
    ],
    lacks: ['in stock', 'Home', 'Specification'],
  },
  {
    what: 'words in Polish',
    settings: { locale: 'pl' },
    has: ['42 w magazynie', 'Cena rynkowa', '<h2>Specyfikacja</h2>', 'marka <bdi>Works</bdi>'],
    lacks: ['in stock', 'Home', 'Specification'],
  },
  {
    what: 'words in Portuguese',
    settings: { locale: 'pt-BR' },
    has: ['42 em estoque', 'Preço de referência', '<h2>Especificações</h2>', '>Início</a>'],
    lacks: ['in stock', 'Home', 'Specification'],
  },
  ...['zh', 'zh-CN', 'zh-SG'].map((locale) => ({
    what: `words in simplified Chinese for ${locale}`,
    settings: { locale },
    has: ['42 件有货', '市场价', '<h2>规格参数</h2>', '>首页</a>', '品牌 <bdi>Works</bdi>'],
    lacks: ['in stock', 'Home', 'Specification'],
  })),
  ...['ko', 'zh-TW', 'zh-HK'].map((locale) => ({
    what: `words in English for ${locale}, as the program has no other ones`,
    settings: { locale },
    has: [`<html lang="${locale}">`, '42 in stock'],
  })),
  {
    what: 'the text direction of its language',
    settings: { locale: 'ar' },
    has: ['<html lang="ar" dir="rtl">'],
  },
  {
    what: 'the SKUs of an SPU with price and options, on the page of the SPU',
    page: 'goods/1.html',
    has: [
      '<a href="../skus/1.html">Phone, silver</a>',
      '<bdi>Silver</bdi> · <bdi>Large</bdi>',
      '$649.00',
      'by <bdi>Works</bdi>',
    ],
  },
  {
    what: 'which SKUs are off sale or out of stock, on the page of the SPU',
    page: 'goods/1.html',
    changes: [
      ['skus', 1, { is_launched: false }],
      ['skus', 2, { stock: 0 }],
    ],
    has: ['Off sale', 'Out of stock'],
    lacks: ['649.00'],
  },
  {
    what: 'two levels of subcategories, on the page of a category',
    page: 'categories/1.html',
    has: ['<a class="shelf" href="../categories/2.html">SPU 2</a>', 'categories/3.html">SPU 3</a>'],
  },
  {
    what: 'the SKUs of a third-level category, on its page',
    page: 'categories/3.html',
    has: ['<a href="../skus/2.html">Phone, black</a>'],
    lacks: ['skus/1.html'],
  },
  {
    what: 'the categories of the first level, on the front page',
    page: 'index.html',
    has: ['<a class="shelf" href="categories/1.html">SPU 1</a>', 'categories/4.html">Own 1</a>'],
  },
];

for (const { what, page = 'skus/1.html', changes = [], settings, has = [], lacks = [] } of SHOWN) {
  test(`a page shows ${what}`, () => {
    const html = pagesAfter(changes, settings).get(page) ?? '';
    assert.match(
      html,
      /^<!doctype html>\n?<html lang="[a-z]+(?:-[A-Z]+)?"(?: dir="rtl")?>.*<\/html>\n$/s,
    );
    for (const text of has) assert.ok(html.includes(text), `has ${text} in ${html}`);
    for (const text of lacks) assert.not.ok(html.includes(text), `lacks ${text} in ${html}`);
  });
}

test('no two pages of a long list have the same title', () => {
  const store = catalog((transaction) => {
    addSkus(transaction, 60);
    for (let left = 60; left > 0; left -= 1) {
      add(transaction, 'categories', { name: 'More', parent_id: null });
    }
  });
  const pages = freshPages(store);
  for (const [name, title] of [
    ['index.html', 'Catalog'],
    ['index/2.html', 'Catalog · Page 2'],
    ['goods/1.html', 'Phone · Catalog'],
    ['goods/1/2.html', 'Phone · Page 2 · Catalog'],
    ['categories/3.html', 'SPU 3 · Catalog'],
    ['categories/3/2.html', 'SPU 3 · Page 2 · Catalog'],
  ] as const) {
    assert.is(/<title>(.*)<\/title>/.exec(pages.get(name) ?? '')?.[1], title, name);
  }
});

test('if a SKU has two records of one specification, the later one is shown', () => {
  const store = catalog((transaction) => {
    add(transaction, 'sku_specs', { sku_id: 1, spec_id: 1, option_id: 2 });
  });
  const html = freshPages(store).get('skus/1.html') ?? '';
  assert.match(html, '<dd>Black</dd>');
  assert.not.match(html, '<dd>Silver</dd>');
});

test('no page contains the cost price in any format', () => {
  for (const is_launched of [true, false]) {
    for (const [name, text] of pagesAfter(sku({ is_launched, cost_price: 918_273_645 }))) {
      for (const form of ['918273645', '9182736', '9,182,736', '50211', '502.11', 'cost']) {
        assert.not.ok(text.includes(form), `${name} has ${form}`);
      }
    }
  }
});

const HOSTILE = `</script><script>alert(1)</script><!--<img src=x onerror="a()">'&amp;\u2028{{ 7*7*7 }}{% raw %}`;

test('a hostile value of any field is escaped wherever a page shows it', () => {
  const fields: Changes = [
    ['brands', 1, { name: `brand${HOSTILE}`, logo: `"${HOSTILE}` }],
    ...[1, 2, 3, 4, 5, 6].map((id) => ['categories', id, { name: `category${HOSTILE}` }] as const),
    ['goods', 1, { name: `spu${HOSTILE}`, desc_detail: '', desc_pack: '', desc_service: '' }],
    ['specs', 1, { name: `spec${HOSTILE}` }],
    ['options', 1, { value: `option${HOSTILE}` }],
    ['options', 2, { value: `option${HOSTILE}` }],
    ['skus', 1, { name: `sku${HOSTILE}`, caption: `caption${HOSTILE}` }],
    ['skus', 2, { name: `sku${HOSTILE}`, caption: `caption${HOSTILE}` }],
  ];
  const escaped = HOSTILE.replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
  const seen = new Set<string>();
  for (const [name, html] of pagesAfter(fields, { shopName: `shop${HOSTILE}` })) {
    if (!name.endsWith('.html')) continue;
    for (const where of ['brand', 'category', 'spu', 'spec', 'option', 'sku', 'caption', 'shop']) {
      if (html.includes(where + escaped)) seen.add(where);
    }
    // Without our own JSON-LD, which another test checks.
    const rest = html.replace(/<script type="application\/ld\+json">[^<]*<\/script>/g, '');
    assert.not.match(rest, /<script|<img|<!--|343|&amp;lt;| onerror="/i, name);
  }
  assert.is(seen.size, 8, [...seen].join());
});

/** What HTML allows in no document, as code points; the noncharacters are examples. */
const FORBIDDEN = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  0xfdd0,
  0xfdef,
  0xfffe,
  0xffff,
  0x1fffe,
  0x10ffff,
].filter((code) => !'\t\n\f\r'.includes(String.fromCodePoint(code)));

test('a code point that HTML forbids is shown as U+FFFD, and others as they are', () => {
  const forbidden = String.fromCodePoint(...FORBIDDEN);
  const allowed = '\t\f é\ufdcf\ufdf0\ufffd\u{10000}😀\u200f';
  const name = `a${forbidden}b${allowed}`;
  const desc_detail = `<p>${name} &#1;&#x7f;&#xfffe;&#0;<a href="https://a.example/\u0001">c</a></p>`;
  const pages = pagesAfter([
    ['categories', 1, { name }],
    ['goods', 1, { name, desc_detail }],
    ['options', 1, { value: name }],
    ['skus', 1, { name, caption: name }],
  ]);
  for (const [page, text] of pages) {
    const found = Array.from(text).filter((each) => FORBIDDEN.includes(each.codePointAt(0) ?? 0));
    assert.equal(found, [], page);
  }
  const marks = '\ufffd'.repeat(FORBIDDEN.length);
  const shown = `a${marks}b${allowed}`;
  for (const page of ['skus/1.html', 'goods/1.html', 'categories/1.html']) {
    assert.ok(pages.get(page)?.includes(`<h1>${shown}</h1>`), page);
  }
  const html = pages.get('skus/1.html') ?? '';
  assert.ok(html.includes(`<p>${shown} \ufffd\ufffd\ufffd\ufffd<a href="https://a.example/`), html);
  assert.is(metadataOf(html).length, 2);
});

/** The JSON-LD of a page. */
function metadataOf(html = ''): Record<string, unknown>[] {
  return [...html.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)].map(
    ([, json = '']) => JSON.parse(json),
  );
}

test('a SKU after the first 200 of its SPU has its own options among its choices', () => {
  const store = catalog((transaction) => {
    addSkus(transaction, MAX_CHOICE_SKUS);
    const id = addSku(transaction, 'Last', 1, 3);
    const option_id = add(transaction, 'options', { value: 'Green', spec_id: 1 });
    add(transaction, 'sku_specs', { sku_id: id, spec_id: 1, option_id });
  });
  const html = freshPages(store).get(`skus/${MAX_CHOICE_SKUS + 4}.html`) ?? '';
  const shown = html.replace(/>\s+</g, '><');
  assert.match(
    shown,
    '<h2>Colour</h2><ul><li><a href="../skus/1.html">Silver</a></li>' +
      '<li><a href="../skus/2.html">Black</a></li>' +
      '<li><span class="chosen"><span class="hidden">This one: </span>Green</span></li></ul>',
  );
});

test('the direction of the pages is that of the script of their language', () => {
  const rightToLeft = 'ar ar-EG he fa ur ur-Aran dv ckb ku-IQ ku-Arab az-Arab pa-PK yi ff-Adlm nqo';
  for (const locale of rightToLeft.split(' ')) {
    const html = pagesAfter([], { locale }).get('skus/1.html') ?? '';
    assert.match(html, `<html lang="${locale}" dir="rtl">`);
  }
  for (const locale of 'en ja zh-TW ar-Latn ku az pa sd-Deva'.split(' ')) {
    const html = pagesAfter([], { locale }).get('skus/1.html') ?? '';
    assert.match(html, `<html lang="${locale}">`);
  }
});

test('JSON-LD contains hostile values unchanged, and none of them can end its element', () => {
  const html = pagesAfter(sku({ name: HOSTILE })).get('skus/1.html') ?? '';
  const [product] = metadataOf(html);
  assert.is(product?.['name'], HOSTILE);
  for (const [, json = ''] of html.matchAll(/ld\+json">(.*?)<\/script>/gs)) {
    assert.not.match(json, /[<>&\u2028\u2029]/);
  }
});

const LOGOS: readonly (readonly [logo: string, shown: boolean])[] = [
  ['https://cdn.example/logo.svg', true],
  ['/logos/works.png', true],
  ['http://cdn.example/logo.svg', false],
  ['javascript:alert(1)', false],
  ['data:image/svg+xml,<svg/>', false],
  ['//cdn.example/logo.svg', false],
  ['/\\cdn.example/logo.svg', false],
  ['https:\\\\cdn.example', false],
  ['https://cdn.example/a b.svg', false],
  ['logo.svg', false],
  ['', false],
];

for (const [logo, shown] of LOGOS) {
  test(`${JSON.stringify(logo)} is ${shown ? 'shown' : 'not shown'} as a brand's logo`, () => {
    const pages = pagesAfter([['brands', 1, { logo }]]);
    for (const name of ['skus/1.html', 'goods/1.html']) {
      assert.is(pages.get(name)?.includes('<img class="logo"'), shown, name);
      if (shown) assert.match(pages.get(name) ?? '', `src="${logo}"`);
    }
  });
}

const SCROLLS = '<div class="table" role="group" aria-label="Details" tabindex="0">';

const TEXT_AND_LIST = '<p>One</p>\n<p>Two</p>\n<ul><li>A\n\nB</li></ul>\n<p>Three<br>\nfour</p>';

/** Descriptions and the HTML into which they are converted. */
const RICH: readonly (readonly [text: string, html: string])[] = [
  ['Plain & <simple>', '<p>Plain &amp; &lt;simple&gt;</p>'],
  ['One\n\nTwo\nlines', '<p>One</p>\n<p>Two<br>\nlines</p>'],
  [
    'One <b>two\n\nthree</b> four\n\nFive',
    '<p>One <b>two<br>\n<br>\nthree</b> four</p>\n<p>Five</p>',
  ],
  ['One<br>\n\n<i>Two</i> \r\n \r\nThree', '<p>One<br /></p>\n<p><i>Two</i></p>\n<p>Three</p>'],
  ['One<br>\nTwo<BR />\r\nThree\nFour', '<p>One<br>\nTwo<br>\nThree<br>\nFour</p>'],
  ['One<br>\n<br>\nTwo<br>Three', '<p>One<br>\n<br>\nTwo<br />Three</p>'],
  ['3 < 5 & 5 > 3', '<p>3 &lt; 5 &amp; 5 &gt; 3</p>'],
  ['<p>A <b>bold</b> word</p>', '<p>A <b>bold</b> word</p>'],
  ['<p style="color:red" onclick="a()" class="x">A</p>', '<p>A</p>'],
  ['<ul><li>One</li></ul>', '<ul><li>One</li></ul>'],
  ['<p>One</p><li>Two</li>\nThree', '<p>One</p>\n<li>Two</li>\n<p>Three</p>'],
  ['One\n\nTwo\n<ul><li>A\n\nB</ul>\nThree\nfour', TEXT_AND_LIST],
  ['<p>One</p>\n\n<p>Two</p>', '<p>One</p>\n<p>Two</p>'],
  ['<b>One<p>Two</p></b>Three', '<b>One<p>Two</p></b>\n<p>Three</p>'],
  ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
  ['<p><img src=x onerror=a()></p>', '<p>&lt;img src=x onerror=a()&gt;</p>'],
  ['<b>note</b>: at I<Imax only.', '<p><b>note</b>: at I&lt;Imax only.</p>'],
  ['if x<y. Then\n\nSecond', '<p>if x&lt;y. Then</p>\n<p>Second</p>'],
  ['<https://a.example/a?b=1>', '<p>&lt;https://a.example/a?b=1&gt;</p>'],
  ['<Enter>', '<p>&lt;Enter&gt;</p>'],
  ['x</script>y', '<p>x&lt;/script&gt;y</p>'],
  ['<!-- a --> <?b?> <![CDATA[c]]>', '<p>&lt;!-- a --&gt; &lt;?b?&gt; &lt;![CDATA[c]]&gt;</p>'],
  ['/?a=1&copy=2&region=4 &copy;', '<p>/?a=1&amp;copy=2&amp;region=4 ©</p>'],
  ['<a href="/?a&copy">A</a>', '<p><a href="/?a&amp;copy" rel="nofollow noopener">A</a></p>'],
  ['<p>I<b and c</p>', '<p>I&lt;b and c</p>'],
  ['<B>A</B >', '<p><b>A</b></p>'],
  [
    '<a href="https://a.example/">A</a>',
    '<p><a href="https://a.example/" rel="nofollow noopener">A</a></p>',
  ],
  [
    'One <a href="https://a.example/b\n\n/c\r\n">A</a>\nline',
    '<p>One <a href="https://a.example/b/c" rel="nofollow noopener">A</a><br>\nline</p>',
  ],
  ['<a href="java\nscript:alert(1)">A</a>', '<p><a>A</a></p>'],
  ['<a href="javascript:alert(1)">A</a>', '<p><a>A</a></p>'],
  ['<a href="JaVa&#x53;cript:alert(1)">A</a>', '<p><a>A</a></p>'],
  ['<a href="//a.example/">A</a>', '<p><a>A</a></p>'],
  ['<a>A</a>', '<p><a>A</a></p>'],
  ['<table summary="A"><tr><td>A</table>', `${SCROLLS}<table><tr><td>A</td></tr></table></div>`],
  // A browser ends the first table at the second, so an end tag for each would end an element more.
  ['<table><table></table>A</table>B', `${SCROLLS}<table><table></table>A</table></div>\n<p>B</p>`],
  [
    '<table></table><table></table>',
    `${SCROLLS}<table></table></div>\n${SCROLLS}<table></table></div>`,
  ],
  ['<p>never closed', '<p>never closed</p>'],
  ['', ''],
];

for (const [text, html] of RICH) {
  test(`the description ${JSON.stringify(text)} becomes ${JSON.stringify(html)}`, () => {
    assert.is(richText(text, 'Details'), html);
  });
}

const NASTY = [
  '<svg><script>alert(1)</script></svg>',
  '<math><mi//xlink:href="data:x,<script>alert(1)</script>">',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<style>@import "//x"</style><link rel=stylesheet href=//x><base href=//x><meta http-equiv=refresh>',
  '<form action=//x><input name=a autofocus onfocus=a()><button formaction=//x>',
  '<table background="//x"><td style="background:url(//x)">',
  '<p id="main" name="x" title="</p><script>alert(1)</script>">',
  '<noscript><p title="</noscript><script>alert(1)</script>">',
  '<xmp><p title="</xmp><script>alert(1)</script>">',
  '<!--><script>alert(1)</script>-->',
  '<<script>script>alert(1)<</script>/script>',
  '<b <script>alert(1)</script>>',
  '<b title="<script>alert(1)</script>">',
  "<b title='\"><img src=x onerror=a()>'>",
  '<a href="x"onclick=a() title=">">',
  '<a href=`javascript:a()`><a href="java\tscript:a()"><a href="&#1;javascript:a()">',
  '<a href="javascript&colon;a()"><a href="&#106;avascript:a()"><a\nhref=javascript:a()>',
  '&lt;script&gt;alert(1)&lt;/script&gt;<b>&#60;img src=x onerror=a()></b>',
  '</p/><img/src=x/onerror=a()>',
  '<b/><table><style><!--</style><img src=x onerror=a()>',
];

/** The tags and attributes that are kept. */
const HARMLESS =
  /<div class="table" role="group" aria-label="Details" tabindex="0">(?=<table>)|(?<=<\/table>)<\/div>|<\/?(?:p|br|h3|h4|ul|ol|li|blockquote|strong|b|em|i|u|s|sub|sup|code|table|thead|tbody|tr|th|td|caption)(?: ?\/)?>|<a(?: href="(?:https?|mailto|tel):[^"<>]*" rel="nofollow noopener")?>|<\/a>/g;

for (const text of NASTY) {
  test(`only harmless tags of ${JSON.stringify(text)} are kept`, () => {
    assert.not.match(richText(text, 'Details').replace(HARMLESS, ''), /</);
  });
}

test('the summary of a description is its words without tags, cut at a word', () => {
  assert.is(summaryOfHtml('<p>One</p><p>two &amp; three</p>', 160), 'One two & three');
  assert.is(summaryOfHtml('One two three', 9), 'One two…');
  assert.is(summaryOfHtml('  One\n two ', 160), 'One two');
});

test('the summary of a description has every word of its text', () => {
  assert.is(summaryOfHtml('<p>at I<Imax only.</p> <Enter>', 160), 'at I<Imax only. <Enter>');
  assert.is(
    summaryOfHtml('<https://a.example/?a=1&copy=2>', 160),
    '<https://a.example/?a=1&copy=2>',
  );
});

test('a word of a description stays whole in the summary, if a part of it is bold or a link', () => {
  assert.is(
    summaryOfHtml('<p>A <b>bold</b>, <A HREF="/l">linked</A> word<strong>s</strong>.</p>', 160),
    'A bold, linked words.',
  );
  assert.is(summaryOfHtml('H<sub>2</sub>O<br>新<b>款</b>手机', 160), 'H2O 新款手机');
});

test('the summary of a description has no part of a tag or of a reference', () => {
  for (let spaces = 4060; spaces <= 4096; spaces += 1) {
    const text = `One${' '.repeat(spaces)}<a href="/?a&amp;b">&amp;</a>`;
    assert.match(summaryOfHtml(text, 160), /^One(?: &)?$/);
  }
});

test('a summary of plain text keeps what looks like HTML', () => {
  assert.is(summaryOf('<foo val=“bar” />', 160), '<foo val=“bar” />');
  assert.is(summaryOf('5 &lt; 6  <b>', 160), '5 &lt; 6 <b>');
});

test('a summary in a script without spaces is cut between characters', () => {
  assert.is(summaryOf('新款手机的说明文字', 6), '新款手机的…');
  assert.is(summaryOf('A 新款手机的说明文字', 9), 'A 新款手机的说…');
  assert.is(summaryOf('📷📷📷', 5), '📷📷…');
  assert.is(summaryOf('📷📷📷', 4), '📷…');
});

test('a caption is put into the metadata as plain text, unchanged', () => {
  const caption = '<foo val=“bar” />';
  const page = pagesAfter([['skus', 1, { caption }]]).get('skus/1.html') ?? '';
  const escaped = '&lt;foo val=“bar” /&gt;';
  assert.ok(page.includes(`<meta name="description" content="${escaped}">`));
  assert.ok(page.includes(`<meta property="og:description" content="${escaped}">`));
  assert.ok(page.includes('"description":"\\u003cfoo val=“bar” /\\u003e"'));
});

/** `depth` nested elements that are never closed. */
const DEEP: Readonly<Record<string, (depth: number) => string>> = {
  allowed: (depth) => '<b>'.repeat(depth),
  'in upper case': (depth) => '<B>'.repeat(depth),
  'closed by another name': (depth) => '<b></i>'.repeat(depth),
};

for (const [what, nested] of Object.entries(DEEP)) {
  test(`a description with elements nested more than ${MAX_NESTING} deep is shown as text: ${what}`, () => {
    assert.match(richText(`<em>x</em>${nested(MAX_NESTING)}`, 'Details'), /<em>x<\/em>/);
    const html = richText(`<em>x</em>${nested(MAX_NESTING + 1)}`, 'Details');
    assert.ok(html.startsWith('<p>&lt;em&gt;x&lt;/em&gt;&lt;'), html.slice(0, 40));
    assert.not.match(summaryOfHtml(nested(MAX_NESTING + 1), 4), /^$/);
  });
}

test('paragraphs, items and cells without end tags do not count as nested', () => {
  const rows = `<table>${'<tr><td>a<td>b'.repeat(500)}</table>`;
  for (const text of ['<p>x'.repeat(1000), `<ul>${'<li>x'.repeat(1000)}</ul>`, rows]) {
    assert.not.match(richText(text, 'Details'), /&lt;/);
  }
});

test('a description that is too long is cut between two characters', () => {
  const html = richText('😀'.repeat(MAX_DESCRIPTION_LENGTH), 'Details');
  assert.is(html, `<p>${'😀'.repeat(MAX_DESCRIPTION_LENGTH / 2)}</p>`);
  assert.is(richText(`a${'😀'.repeat(MAX_DESCRIPTION_LENGTH)}`, 'Details').isWellFormed(), true);
});

async function issuesOf(html: string | undefined, severity: string): Promise<string[]> {
  const jsonld: Record<string, object[]> = {};
  for (const each of metadataOf(html)) (jsonld[String(each['@type'])] ??= []).push(each);
  const issues = await new Validator().validate({ jsonld, microdata: {}, rdfa: {} });
  return issues.filter((each) => each.severity === severity).map((each) => each.issueMessage);
}

/** Merchant listings require a picture; the catalog has none. */
const NO_PICTURE = 'Required attribute "image" is missing';

test('the validator finds no error in Product, Offer and BreadcrumbList except the missing picture', async () => {
  const pages = pagesAfter([]);
  for (const name of ['skus/1.html', 'skus/2.html', 'goods/1.html', 'categories/3.html']) {
    const html = pages.get(name);
    const types = metadataOf(html).map((each) => each['@type']);
    assert.equal(
      types,
      name.startsWith('skus') ? ['Product', 'BreadcrumbList'] : ['BreadcrumbList'],
    );
    const errors = await issuesOf(html, 'ERROR');
    assert.equal(errors, name.startsWith('skus') ? [NO_PICTURE] : [], name);
  }
});

test('Product and Offer contain the data of the page, and a SKU that is off sale has none', () => {
  const [product] = metadataOf(pagesAfter([]).get('skus/1.html'));
  const url = 'https://shop.example/pages/skus/1.html';
  assert.equal(product, {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: 'Phone, silver',
    sku: '1',
    description: 'Light',
    category: 'Own 1 > Own 2 > Own 3',
    brand: { '@type': 'Brand', name: 'Works' },
    url,
    offers: {
      '@type': 'Offer',
      price: '649.00',
      priceCurrency: 'USD',
      availability: 'https://schema.org/InStock',
      url,
    },
  });
  const [coded] = metadataOf(pagesAfter(sku({ code: 'PH-1' })).get('skus/1.html'));
  assert.is(coded?.['sku'], 'PH-1', 'the article number');
  const [empty] = metadataOf(pagesAfter(sku({ stock: 0 })).get('skus/1.html'));
  assert.match(JSON.stringify(empty), 'https://schema.org/OutOfStock');
  const off = metadataOf(pagesAfter(sku({ is_launched: false })).get('skus/1.html'));
  assert.not.match(JSON.stringify(off), 'Product', 'what is off sale is not offered');
});

const FILE =
  /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<(urlset|sitemapindex) xmlns="http:\/\/www\.sitemaps\.org\/schemas\/sitemap\/0\.9">\n((?:<(url|sitemap)><loc>[^<>"']+<\/loc><\/\3>\n)+)<\/\1>\n$/;

/** The addresses of a file of the sitemap, which must follow the protocol. */
function addressesOf(text = ''): string[] {
  assert.match(text, FILE);
  assert.not.match(text, /&(?!amp;|lt;|gt;|quot;|#39;)/);
  const found = [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = '']) =>
    address.replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
  );
  assert.ok(found.length <= 50_000 && Buffer.byteLength(text) < 50 * 1024 * 1024);
  return found;
}

test('the sitemap lists every page once, except later parts of lists, by its absolute escaped address', () => {
  const store = catalog((transaction) => {
    addSkus(transaction, SITEMAP_PART + 5);
    transaction.delete('skus', 2);
  });
  const publicUrl = "https://shop.example/a&b'c";
  const pages = freshPages(store, new Site({ publicUrl }));
  const files = addressesOf(pages.get('sitemap.xml'));
  assert.equal(
    files.toSorted(),
    ['categories-1', 'goods-1', 'skus-1', 'skus-2'].map(
      (file) => `${publicUrl}/sitemap-${file}.xml`,
    ),
  );
  const told = files.flatMap((file) => {
    const addresses = addressesOf(pages.get(file.slice(publicUrl.length + 1)));
    // A file may list only what is below its own folder.
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    for (const address of addresses) assert.ok(address.startsWith(folder), `${address} in ${file}`);
    return addresses;
  });
  const wanted = [...pages.keys()]
    .filter((name) => /^(?:skus|goods|categories)\/\d+\.html$|^index\.html$/.test(name))
    .map((name) => `${publicUrl}/${name === 'index.html' ? '' : name}`);
  assert.equal(told.toSorted(), wanted.toSorted());
  assert.ok(pages.has(`goods/1/2.html`) && told.length > SITEMAP_PART);
});

test('the sitemap of an empty shop lists its front page', () => {
  const pages = freshPages(new MemoryStore());
  const files = addressesOf(pages.get('sitemap.xml'));
  assert.equal(files, ['https://shop.example/pages/sitemap-categories-1.xml']);
  assert.equal(addressesOf(pages.get('sitemap-categories-1.xml')), ['https://shop.example/pages/']);
});

test('a page with its style sheet has less than 30 kB and loads nothing from other hosts', () => {
  const pages = freshPages(
    catalog((transaction) => addSkus(transaction, 200, 'A name of a usual length')),
  );
  const style = Buffer.byteLength(pages.get('style.css') ?? '');
  for (const [name, text] of pages) {
    if (!name.endsWith('.html')) continue;
    const bytes = Buffer.byteLength(text) + style;
    assert.ok(bytes < 30_000, `${name}: ${bytes} bytes`);
    assert.not.match(
      text.replace(/https:\/\/(?:shop\.example|schema\.org)/g, ''),
      /(?:src|href)="(?:https?:)?\/\//,
    );
  }
});

test.run();
