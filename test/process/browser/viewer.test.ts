/** The API viewer in a browser, if one is installed. */
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { available, launch, open, shoot, testInBrowser } from './browser.ts';

let browser: Browser;
let server: TestServer;

test.before(async () => {
  if (!available) return;
  server = await startServer({ demo: true });
  browser = await launch();
});

test.after(async () => {
  if (!available) return;
  await browser.close();
  await server.stop();
});

testInBrowser(
  '/docs/ shows the operations of books and SKUs, asks no other host, complains of nothing',
  async () => {
    const { page, complaints, foreign } = await open(browser);
    await page.goto(`${server.url}/docs/`, { waitUntil: 'networkidle' });
    await page.locator('.opblock').first().waitFor({ state: 'visible', timeout: 20_000 });
    // The viewer renders what is in sight alone.
    const shown = new Set<string>();
    await until('the SKUs are in sight', async () => {
      for (const path of await page.locator('.opblock-summary-path').allTextContents()) {
        shown.add(path.replace(/[\u200b\s]/g, ''));
      }
      await page.mouse.wheel(0, 400);
      return [...shown].some((path) => path.includes('/admin/skus/{'));
    });
    const wanted = ['/books/', '/admin/skus/'];
    for (const path of wanted) {
      assert.ok(
        [...shown].some((each) => each.endsWith(path)),
        `${path} in ${[...shown].join(' ')}`,
      );
      assert.ok(
        [...shown].some((each) => each.includes(`${path}{`)),
        `an item of ${path} in ${[...shown].join(' ')}`,
      );
    }
    await shoot(page, 'docs', false);
    // A link to one operation opens it.
    await page.goto('about:blank');
    await page.goto(`${server.url}/docs/#/books/createBook`);
    await page.locator('.opblock-post .opblock-body').waitFor({ timeout: 20_000 });
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
