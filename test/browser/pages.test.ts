/** Detail pages and the API viewer in a browser, where there is one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, make, pageWith, skuFields } from '../support/catalog.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startServer, type TestServer } from '../support/server.ts';

const CHROMIUM = process.env['CHROMIUM'] || '/usr/bin/chromium';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const available = existsSync(CHROMIUM);
const why = available ? '' : ` (skipped: there is no browser at ${CHROMIUM})`;

/** Where screenshots go; null where nobody asked for them. */
const SCREENSHOTS = process.env['SCREENSHOTS'] || null;

function testInBrowser(name: string, run: () => Promise<void>): void {
  if (available) test(name, run);
  else test.skip(`${name}${why}`, run);
}

let browser: Browser;
let server: TestServer;

test.before(async () => {
  if (!available) return;
  server = await startServer({ demo: true });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS, headless: true });
});

test.after(async () => {
  if (!available) return;
  await browser.close();
  await server.stop();
});

interface Visit {
  readonly page: Page;
  /** Console errors, uncaught exceptions and violations of the policy. */
  readonly complaints: string[];
  /** What was asked of other hosts. */
  readonly foreign: string[];
  readonly requests: string[];
}

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Until when to wait; `networkidle` where what the page complains of is judged. */
  readonly until?: 'load' | 'networkidle';
}

async function visit(
  path: string,
  { width = 1000, height = 800, dark = false, until = 'networkidle' }: Look = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    requests.push(url);
    if (!url.startsWith(`${server.url}/`) && !/^(?:data|blob):/.test(url)) foreign.push(url);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${server.url}${path}`, { waitUntil: until });
  return { page, complaints, foreign, requests };
}

async function shoot(page: Page, name: string, fullPage = true): Promise<void> {
  if (SCREENSHOTS === null) return;
  const directory = SCREENSHOTS === '1' ? temporaryDirectory() : SCREENSHOTS;
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage });
}

/** How many pixels the document is wider than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}

testInBrowser(
  "a SKU's page shows title and price in its own style, without a complaint",
  async () => {
    await pageWith(server, 1, 'Auralune');
    const { page, complaints, foreign } = await visit('/pages/skus/1.html');
    const title = page.locator('h1');
    const price = page.locator('.price');
    assert.ok(await title.isVisible());
    assert.match((await title.textContent()) ?? '', 'Auralune Phone 12');
    assert.is(await page.title(), await title.textContent());
    assert.ok(await price.isVisible());
    assert.is(await price.textContent(), '649.00');
    // Without its style sheet the weight would be 400, and main as wide as the window.
    assert.is(
      await page.evaluate("getComputedStyle(document.querySelector('.price')).fontWeight"),
      '650',
    );
    const box = await page.locator('main').boundingBox();
    assert.ok(box !== null && box.width < 800, `${box?.width}`);
    assert.equal(complaints, []);
    assert.equal(foreign, []);
    await shoot(page, 'sku');
    await page.context().close();
  },
);

testInBrowser('a page follows a dark colour scheme', async () => {
  await pageWith(server, 1, 'Auralune');
  const { page, complaints } = await visit('/pages/skus/1.html', { dark: true });
  const colour = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  assert.is(colour, 'rgb(22, 25, 29)');
  assert.equal(complaints, []);
  await shoot(page, 'sku-dark');
  await page.context().close();
});

for (const width of [320, 480, 1280]) {
  testInBrowser(`no page of the demo catalog scrolls sideways at ${width} px`, async () => {
    for (const id of [1, 5, 10, 20, 30]) {
      await pageWith(server, id, '</html>');
      const { page } = await visit(`/pages/skus/${id}.html`, { width, until: 'load' });
      assert.ok((await overflow(page)) <= 0, `SKU ${id}: ${await overflow(page)} px too wide`);
      if (id === 1) await shoot(page, `sku-${width}`);
      await page.context().close();
    }
  });
}

testInBrowser('a page with the longest words does not scroll sideways at 320 px', async () => {
  const word = 'W'.repeat(255);
  const of = await createCatalog(server, 'W'.repeat(240));
  const option = await make(server, '/admin/options/', { value: word, spec_id: of.silver.spec_id });
  const spec = await make(server, '/admin/specs/', { name: word, spu_id: of.spu });
  const other = await make(server, '/admin/options/', { value: word, spec_id: spec.id });
  const { id } = await make(server, '/admin/skus/', {
    ...skuFields(of, { name: word, caption: word, price: Number.MAX_SAFE_INTEGER }),
    specs: [
      { spec_id: of.silver.spec_id, option_id: option.id },
      { spec_id: spec.id, option_id: other.id },
    ],
  });
  await pageWith(server, id, word);
  const { page } = await visit(`/pages/skus/${id}.html`, { width: 320, until: 'load' });
  await shoot(page, 'sku-longest-320');
  const tooWide = await overflow(page);
  await page.context().close();
  assert.ok(tooWide <= 0, `${tooWide} px too wide`);
});

testInBrowser('hostile names run no script', async () => {
  const of = await createCatalog(server, 'Hostile');
  const name = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
  const { id } = await make(server, '/admin/skus/', skuFields(of, { name }));
  await pageWith(server, id, 'onerror');
  const { page, complaints, requests } = await visit(`/pages/skus/${id}.html`);
  assert.is(await page.title(), name);
  assert.is(await page.locator('h1').textContent(), name);
  assert.is(await page.locator('img, script').count(), 0);
  assert.equal(complaints, []);
  assert.equal(
    requests.filter((url) => !/\.html$|favicon/.test(url)),
    [],
  );
  await page.context().close();
});

testInBrowser('a page off sale says so and shows no price', async () => {
  const of = await createCatalog(server, 'Off');
  const { id } = await make(server, '/admin/skus/', skuFields(of, { is_launched: false }));
  await pageWith(server, id, 'Off sale');
  const { page } = await visit(`/pages/skus/${id}.html`);
  assert.ok(await page.getByText('Off sale').isVisible());
  assert.is(await page.locator('.price, .stock, .market').count(), 0);
  await shoot(page, 'sku-off-sale');
  await page.context().close();
});

testInBrowser(
  '/docs/ shows the operations of books and SKUs, asks no other host, complains of nothing',
  async () => {
    const { page, complaints, foreign } = await visit('/docs/');
    await page.locator('.opblock').first().waitFor({ state: 'visible', timeout: 20_000 });
    const paths = await page.locator('.opblock-summary-path').allTextContents();
    const shown = paths.map((path) => path.replace(/[\u200b\s]/g, ''));
    const wanted = ['/books/', '/admin/skus/'];
    for (const path of wanted) {
      assert.ok(
        shown.some((each) => each.endsWith(path)),
        `${path} in ${shown.join(' ')}`,
      );
      assert.ok(
        shown.some((each) => each.includes(`${path}{`)),
        `an item of ${path} in ${shown.join(' ')}`,
      );
    }
    await shoot(page, 'docs', false);
    const operation = page.locator('.opblock-post').first();
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.opblock-body').waitFor({ state: 'visible', timeout: 20_000 });
    await shoot(page, 'docs-operation', false);
    assert.equal(foreign, []);
    assert.equal(complaints, []);
    await page.context().close();
  },
);

testInBrowser('/docs/ finds its files and its description under a base path', async () => {
  const moved = await startServer({ args: ['--base-path', '/api'] });
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${moved.url}/api/docs/`);
  await page.locator('.opblock').first().waitFor({ state: 'visible', timeout: 20_000 });
  assert.equal(complaints, []);
  await context.close();
  await moved.stop();
});

test.run();
