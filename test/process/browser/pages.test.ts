/** Pages of every kind, in a browser if one is installed. */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { available } from '../../support/chromium.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  skuFields,
} from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { faultsOf, folderOf } from '../../support/shop.ts';
import { overflow, shoot, testInBrowser, violationsOn } from './browser.ts';
import { end, endAll, open } from './visits.ts';

let server: TestServer;

/** One page of each kind, by name. */
const PAGES: Record<string, string> = {
  front: 'index.html',
  category: 'categories/1.html',
  sku: 'skus/1.html',
  spu: 'goods/1.html',
};

const RICH = [
  '<h3>Sound</h3><p>A <strong>large</strong> speaker, see <a href="https://a.example/">notes</a>.</p>',
  '<table><thead><tr><th scope="col">Part</th><th scope="col">Weight</th></tr></thead>',
  '<tbody><tr><td>Body</td><td>180 g</td></tr></tbody></table><ul><li>One</li><li>Two</li></ul>',
].join('');

const COLUMNS = ['Model', 'Display', 'Memory', 'Battery', 'Weight', 'Dimensions', 'Material'];

/** A table that a narrow window cannot show without a cut in a word. */
const TABLE = [
  '<table><caption>Comparison</caption><tr>',
  COLUMNS.map((name) => `<th scope="col">${name}</th>`).join(''),
  '</tr></table>',
].join('');

test.before(async () => {
  if (!available) return;
  server = await startServer({
    demo: true,
    args: ['--public-url', 'https://shop.example/pages', '--shop-name', 'A <small> & "shop"'],
  });
  await fill();
  await fillFromTheRight();
  await until('every page is there', () => faultsOf(server.data).length === 0);
});

test.after(async () => {
  if (!available) return;
  await endAll();
  await server.stop();
});

/** Adds to the demo catalog long lists, the longest words, hostile names and rich text. */
async function fill(): Promise<void> {
  const long = await createCatalog(server, 'Long');
  const many = Array.from({ length: 60 }, (_, number) =>
    skuFields(long, { name: `No. ${number}` }),
  );
  assert.is((await send(server, 'POST', '/admin/skus/bulk/', { body: many })).status, 201);
  await send(server, 'PATCH', `/admin/goods/${long.spu}/`, { body: { desc_detail: RICH } });
  PAGES['list'] = `goods/${long.spu}.html`;
  PAGES['part'] = `categories/${long.chain[2]}/2.html`;
  PAGES['rich'] = `skus/${long.sku}.html`;
  const table = await createCatalog(server, 'Table');
  await send(server, 'PATCH', `/admin/goods/${table.spu}/`, { body: { desc_detail: TABLE } });
  const spec = `/admin/specs/${table.silver.spec_id}/`;
  await send(server, 'PATCH', spec, { body: { name: 'Betriebssysteme' } });
  PAGES['table'] = await page({ of: table, fields: { specs: [table.silver] } });
  PAGES['choices'] = `skus/${await choices(long)}.html`;
  PAGES['off'] = await page({ of: long, fields: { is_launched: false } });
  PAGES['empty'] =
    `categories/${(await make(server, '/admin/categories/', { name: 'Empty' })).id}.html`;

  const word = 'W'.repeat(255);
  const wide = await createCatalog(server, 'W'.repeat(240));
  for (const [path, fields] of [
    ...wide.chain.map((id) => [`/admin/categories/${id}/`, { name: word }] as const),
    [`/admin/goods/${wide.spu}/`, { name: word, desc_detail: word }],
    [`/admin/brands/${wide.brand}/`, { name: word }],
    [`/admin/specs/${wide.silver.spec_id}/`, { name: word }],
    [`/admin/options/${wide.silver.option_id}/`, { value: word }],
  ] as const) {
    assert.is((await send(server, 'PATCH', path, { body: fields })).status, 200);
  }
  const fields = { name: word, caption: word, price: Number.MAX_SAFE_INTEGER };
  await page({ of: wide, fields: { ...fields, specs: [wide.black] } });
  PAGES['wide'] = await page({ of: wide, fields: { ...fields, specs: [wide.silver] } });
  PAGES['wide list'] = `goods/${wide.spu}.html`;
  PAGES['wide category'] = `categories/${wide.chain[0]}.html`;
  PAGES['wide shelf'] = `categories/${wide.chain[2]}.html`;

  const name = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
  const hostile = await createCatalog(server, name);
  await send(server, 'PATCH', `/admin/goods/${hostile.spu}/`, {
    body: { desc_detail: `<p>${name}</p><svg onload="document.title='run'">` },
  });
  PAGES['hostile'] = await page({
    of: hostile,
    fields: { name, caption: name, specs: [hostile.black] },
  });
  PAGES['hostile list'] = `goods/${hostile.spu}.html`;
}

/** The end of the name of an SPU whose direction is never closed (U+202E). */
const RTL_END = 'end';

/** Adds an SPU with names in Arabic and numbers in Latin script. */
async function fillFromTheRight(): Promise<void> {
  const of = await createCatalog(server, 'Rtl');
  const silver = { path: `/admin/options/${of.silver.option_id}/`, body: { value: 'فضي' } };
  const large = { path: `/admin/options/${of.large.option_id}/`, body: { value: '128 GB' } };
  const spu = { path: `/admin/goods/${of.spu}/`, body: { name: `\u202e${RTL_END}` } };
  const brand = { path: `/admin/brands/${of.brand}/`, body: { name: 'شركة EU' } };
  for (const { path, body } of [silver, large, spu, brand]) {
    assert.is((await send(server, 'PATCH', path, { body })).status, 200);
  }
  const fields = { name: 'هاتف 128 GB', specs: [of.silver, of.large] };
  await send(server, 'DELETE', `/admin/skus/${of.sku}/`);
  PAGES['rtl'] = await page({ of, fields });
  PAGES['rtl list'] = `goods/${of.spu}.html`;
}

/** The page of a new SKU. */
async function page({ of, fields }: { of: Catalog; fields: Fields }): Promise<string> {
  return `skus/${(await make(server, '/admin/skus/', skuFields(of, fields))).id}.html`;
}

/** A SKU of an SPU with other SKUs, one of which is off sale. */
async function choices(of: Catalog): Promise<number> {
  const off = skuFields(of, { is_launched: false, name: 'Off' });
  await make(server, '/admin/skus/', { ...off, specs: [of.black] });
  const fields = skuFields(of, { name: 'With sisters' });
  return (await make(server, '/admin/skus/', { ...fields, specs: [of.silver, of.large] })).id;
}

const at = (name: string) => `${server.url}/pages/${PAGES[name]}`;

const HEIGHT = 800;

/** The narrowest and the widest layout that axe-core checks; it finds the same in between. */
const JUDGED_WIDTHS = new Set([360, 1280]);

/** Checks a page at each width, in light and dark. It is loaded once. */
async function judge(on: Page, name: string): Promise<void> {
  for (const width of [320, 360, 768, 1280]) {
    const where = `${name} at ${width} px`;
    await on.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of ['light', 'dark'] as const) {
      await on.emulateMedia({ colorScheme });
      if (colorScheme === 'light' && JUDGED_WIDTHS.has(width)) {
        assert.equal(await violationsOn(on), [], where);
      }
      await shoot(on, `${name.replace(' ', '-')}-${width}-${colorScheme}`);
    }
    const tooWide = await overflow(on);
    assert.ok(tooWide <= 0, `${where}: ${tooWide} px too wide`);
  }
  // Dark mode changes only colours, which are the same at every width.
  assert.equal(await violationsOn(on, ['color-contrast']), [], `${name}, dark`);
}

/** Asserts that the page has its landmarks and one heading of the first level. */
async function hasLandmarks(on: Page, name: string): Promise<void> {
  assert.is(await on.getByRole('main').count(), 1, name);
  assert.is(await on.getByRole('heading', { level: 1 }).count(), 1, name);
  const crumbs = on.getByRole('navigation', { name: 'Breadcrumb' });
  assert.is(await crumbs.count(), name === 'front' ? 0 : 1, name);
}

testInBrowser(
  'every page passes axe-core, fits the window, has landmarks, and loads nothing from other hosts',
  async () => {
    const visit = await open();
    for (const name of Object.keys(PAGES)) {
      await visit.page.goto(at(name), { waitUntil: 'load' });
      await judge(visit.page, name);
      await hasLandmarks(visit.page, name);
    }
    assert.equal(visit.complaints, []);
    assert.equal(visit.foreign, []);
    await end(visit.page);
  },
);

testInBrowser(
  'a page and its style sheet have less than 30 kB together, and nothing else is loaded',
  async () => {
    for (const name of ['front', 'category', 'sku', 'spu', 'list', 'choices', 'rich']) {
      const { page: own, bytes } = await open();
      await own.goto(at(name), { waitUntil: 'networkidle' });
      const urls = [...bytes.keys()].map((url) => url.replace(/\?v=.*/, ''));
      assert.equal(urls, [at(name), `${server.url}/pages/style.css`], name);
      const total = [...bytes.values()].reduce((sum, each) => sum + each, 0);
      assert.ok(total > 1000 && total < 30_000, `${name}: ${total} bytes`);
      await end(own);
    }
  },
);

/** In how many lines the text of each element is. */
function linesOf(on: Page, selector: string): Promise<number[]> {
  return on.evaluate(
    `[...document.querySelectorAll('${selector}')].map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    })`,
  );
}

testInBrowser('in a narrow window words of tables and of specifications stay whole', async () => {
  const { page: own } = await open({ width: 360 });
  await own.goto(at('table'), { waitUntil: 'load' });
  const headings = await linesOf(own, 'th');
  assert.equal(
    headings,
    COLUMNS.map(() => 1),
  );
  assert.equal(await linesOf(own, 'dt'), [1]);
  await end(own);
});

testInBrowser('a table that is wider than the window scrolls by the keyboard', async () => {
  const { page: own } = await open({ width: 360 });
  await own.goto(at('table'), { waitUntil: 'load' });
  assert.is(await overflow(own), 0);
  const last = own.getByRole('columnheader').last();
  const edge = async () => (await last.boundingBox())?.x ?? 0;
  assert.ok((await edge()) > 360, 'the last column is out of sight');
  await own.locator('.text .table').focus();
  await until('the last column is in sight', async () => {
    await own.keyboard.press('ArrowRight');
    return (await edge()) < 360;
  });
  await end(own);
});

testInBrowser('a page shows its content and its choices without JavaScript', async () => {
  const { page: plain } = await open({ options: { javaScriptEnabled: false } });
  await plain.goto(at('choices'), { waitUntil: 'load' });
  assert.is(await plain.locator('h1').textContent(), 'With sisters');
  assert.is(await plain.locator('.price').textContent(), '$649.00');
  await plain.getByRole('link', { name: 'Black (unavailable)' }).click();
  assert.ok(await plain.getByText('Off sale', { exact: true }).isVisible());
  assert.is(await plain.locator('.price, .stock, .market').count(), 0);
  await end(plain);
});

testInBrowser('the style sheet of the shop applies in light and dark', async () => {
  for (const dark of [false, true]) {
    const { page: own } = await open({ dark });
    await own.goto(at('sku'), { waitUntil: 'load' });
    const style = (property: string, of: string) =>
      own.evaluate(`getComputedStyle(document.querySelector('${of}')).${property}`);
    assert.is(await style('fontWeight', '.price'), '650');
    const paper = dark ? 'rgb(20, 23, 27)' : 'rgb(255, 255, 255)';
    assert.is(await style('backgroundColor', 'body'), paper);
    await end(own);
  }
});

/**
 * Puts a picture into an element; it runs in the browser.
 *
 * @returns how much wider it is shown than it is, relative to its height: 1 if it is not distorted.
 */
const DISTORTION = `async (parent, className, width, height) => {
  const [canvas, picture] = ['canvas', 'img'].map((name) => document.createElement(name));
  Object.assign(canvas, { width, height });
  Object.assign(picture, { src: canvas.toDataURL(), className });
  document.querySelector(parent).replaceChildren(picture);
  await picture.decode();
  const box = picture.getBoundingClientRect();
  const { objectFit } = getComputedStyle(picture);
  return objectFit === 'contain' ? 1 : (box.width / box.height) * (height / width);
}`;

testInBrowser('high pictures of an operator and wide logos are not distorted', async () => {
  for (const width of [360, 1000]) {
    const { page: own } = await open({ width });
    await own.goto(at('sku'), { waitUntil: 'load' });
    for (const picture of [
      ['figure', '', 48, 96],
      ['.brand', 'logo', 480, 24],
    ]) {
      const distortion = await own.evaluate<number>(
        `(${DISTORTION})(...${JSON.stringify(picture)})`,
      );
      assert.ok(
        Math.abs(distortion - 1) < 0.01,
        `${picture.join(' ')}: ${distortion} at ${width} px`,
      );
    }
    await end(own);
  }
});

/** The contrast ratio of two colours `rgb(r, g, b)` (WCAG 2.2, "contrast ratio"). */
function contrast(...colours: readonly [string, string]): number {
  const [lighter = 0, darker = 0] = colours
    .map((colour) => {
      const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((text) => {
        const part = Number(text) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

testInBrowser('the line below a link in a text can be seen in light and dark', async () => {
  for (const dark of [false, true]) {
    const { page: own } = await open({ dark });
    await own.goto(at('rich'), { waitUntil: 'load' });
    const [line, paper] = await own.evaluate<[string, string]>(
      "[getComputedStyle(document.querySelector('.text a')).textDecorationColor, " +
        'getComputedStyle(document.body).backgroundColor]',
    );
    assert.match(`${line} ${paper}`, /^rgb\(.*\) rgb\(.*\)$/);
    assert.ok(contrast(line, paper) >= 3, `${line} on ${paper}`);
    await end(own);
  }
});

testInBrowser('the Tab key reaches the skip link first, then all links in order', async () => {
  const { page: own } = await open();
  for (const name of ['sku', 'list', 'category', 'choices']) {
    await own.goto(at(name), { waitUntil: 'load' });
    await own.keyboard.press('Tab');
    const skip = own.locator('.skip');
    assert.is(await own.evaluate('document.activeElement.className'), 'skip', name);
    const box = await skip.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.y >= 0, `${name}: the skip link is in sight`);
    const links = await own.locator('a[href]').count();
    for (let index = 1; index < links; index += 1) {
      await own.keyboard.press('Tab');
      const [focused, outlined] = await own.evaluate<[number, boolean]>(
        "[[...document.querySelectorAll('a[href]')].indexOf(document.activeElement), " +
          "getComputedStyle(document.activeElement).outlineStyle !== 'none']",
      );
      assert.is(focused, index, name);
      assert.ok(outlined, `${name}: link ${index} shows that it has the focus`);
    }
    await skip.focus();
    await own.keyboard.press('Enter');
    await own.waitForURL(/#main$/);
  }
  await end(own);
});

/** Finds where words of an element begin on the screen; it runs in the browser. */
const ORDER_OF_WORDS = `(selector, words) => {
  const element = document.querySelector(selector);
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode() !== null) {
    for (const word of words) {
      const first = texts.currentNode.nodeValue.indexOf(word);
      if (first === -1) continue;
      const range = document.createRange();
      range.setStart(texts.currentNode, first);
      range.setEnd(texts.currentNode, first + word.length);
      found.push([word, range.getBoundingClientRect().left]);
    }
  }
  return found.sort(([, a], [, b]) => a - b);
}`;

/** Words of an element in their order on the screen, from left to right, with their places. */
function fromTheLeft(on: Page, selector: string, words: readonly string[]) {
  const call = `(${ORDER_OF_WORDS})(${JSON.stringify(selector)}, ${JSON.stringify(words)})`;
  return on.evaluate<(readonly [word: string, left: number])[]>(call);
}

testInBrowser(
  'names that run from right to left do not mix with the text beside them',
  async () => {
    const { page: own } = await open();
    const orderOf = async (selector: string, words: readonly string[]) =>
      (await fromTheLeft(own, selector, words)).map(([word]) => word);
    await own.goto(at('rtl list'), { waitUntil: 'load' });
    // The first option ends before the second one begins, and the second stays in one piece.
    assert.equal(await orderOf('.options', ['فضي', '128', 'GB']), ['فضي', '128', 'GB']);
    await own.goto(at('rtl'), { waitUntil: 'load' });
    // A name in Arabic is read from the right, also if it ends in Latin letters.
    assert.equal(await orderOf('h1', ['هاتف', 'GB']), ['GB', 'هاتف']);
    assert.equal(await orderOf('.brand', [RTL_END, 'by']), [RTL_END, 'by']);
    assert.equal(await orderOf('.brand', ['by', 'شركة', 'EU']), ['by', 'EU', 'شركة']);
    const [[, name] = ['', Number.NaN]] = await fromTheLeft(own, 'h1', ['GB']);
    const [[, price] = ['', Number.NaN]] = await fromTheLeft(own, '.price', ['$']);
    assert.is(name, price, 'the name begins where the price does');
    await end(own);
  },
);

testInBrowser('English words on a page from right to left are read from the left', async () => {
  const { page: own } = await open({ options: { bypassCSP: true } });
  await own.goto(at('sku'), { waitUntil: 'load' });
  await own.evaluate("document.documentElement.dir = 'rtl'");
  for (const [selector, ...words] of [
    ['.stock', '42', 'in stock'],
    ['.by', 'by', 'Auralune'],
    // The name of the shop, which ends in a quotation mark.
    ['.top a', 'A', 'shop"'],
    ['.bottom', 'A', 'shop"'],
  ] as const) {
    const found = await fromTheLeft(own, selector, words);
    assert.equal(
      found.map(([word]) => word),
      words,
      selector,
    );
  }
  await own.goto(at('empty'), { waitUntil: 'load' });
  await own.evaluate("document.documentElement.dir = 'rtl'");
  const [[last] = []] = await fromTheLeft(own, '.empty', ['Nothing', 'yet.']);
  assert.is(last, 'Nothing', 'the full stop is at the end');
  await end(own);
});

testInBrowser('the choices of a SKU are a region with a name', async () => {
  const { page: own } = await open();
  await own.goto(at('choices'), { waitUntil: 'load' });
  assert.is(await own.getByRole('region', { name: 'Colour' }).count(), 1);
  await end(own);
});

testInBrowser('a printed page leaves out navigation and pictures, and has black text', async () => {
  const { page: own } = await open({ dark: true });
  await own.goto(at('choices'), { waitUntil: 'load' });
  await own.emulateMedia({ media: 'print' });
  for (const gone of ['.skip', '.choice', '.bottom', '.picture']) {
    assert.not.ok(await own.locator(gone).first().isVisible(), gone);
  }
  for (const there of ['.top', 'h1', '.price', 'dl']) {
    assert.ok(await own.locator(there).first().isVisible(), there);
  }
  const ink = await own.evaluate('getComputedStyle(document.body).color');
  assert.is(ink, 'rgb(0, 0, 0)');
  const breaks = await own.evaluate(
    "getComputedStyle(document.querySelector('section')).breakInside",
  );
  assert.is(breaks, 'auto', 'a long list begins below the heading, not on the next sheet');
  await shoot(own, 'print');
  await end(own);
});

testInBrowser('names that contain HTML run no script and create no element', async () => {
  for (const name of ['hostile', 'hostile list']) {
    const { page: own, complaints } = await open();
    await own.goto(at(name), { waitUntil: 'networkidle' });
    assert.match(await own.title(), /^<img src=x onerror="document\.title='run'"><script>/);
    assert.is(
      await own.locator('img, iframe, script:not([type="application/ld+json"])').count(),
      0,
    );
    const handlers = await own.evaluate(
      "[...document.querySelectorAll('*')].filter((each) => [...each.attributes]" +
        ".some(({ name }) => name.startsWith('on') || name === 'style')).length",
    );
    assert.is(handlers, 0);
    assert.equal(complaints, []);
    await end(own);
  }
});

testInBrowser('every file of the sitemap is well-formed XML of its namespace', async () => {
  const { page: own } = await open({ options: { bypassCSP: true } });
  await own.goto(at('front'), { waitUntil: 'load' });
  const files = [...folderOf(server.data)].filter(([name]) => name.endsWith('.xml'));
  assert.is(files.length, 4);
  for (const [name, text] of files) {
    const root = await own.evaluate(
      `(() => {
        const xml = new DOMParser().parseFromString(${JSON.stringify(text)}, 'application/xml');
        return xml.documentElement.localName + ' ' + xml.documentElement.namespaceURI;
      })()`,
    );
    const wanted = name === 'sitemap.xml' ? 'sitemapindex' : 'urlset';
    assert.is(root, `${wanted} http://www.sitemaps.org/schemas/sitemap/0.9`);
  }
  await end(own);
});

test.run();
