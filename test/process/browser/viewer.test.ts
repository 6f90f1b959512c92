/** The API viewer in a browser, if one is installed. */
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { available, launch } from '../../support/chromium.ts';
import { tokenFor } from '../../support/client.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { open, shoot, testInBrowser } from './browser.ts';

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
    await page.locator('.opblock').first().waitFor({ state: 'visible', timeout: 60_000 });
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
    await page.locator('.opblock-post .opblock-body').waitFor({ timeout: 60_000 });
    await shoot(page, 'docs-operation', false);
    assert.equal(foreign, []);
    assert.equal(complaints, []);
    await page.context().close();
  },
);

/** Puts a token into the dialog of the viewer. */
async function authorize(page: Page, token: string): Promise<void> {
  await page.locator('.btn.authorize').first().click();
  await page.locator('.auth-container input').fill(token);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();
}

/** Opens an operation, and sends it as the viewer has filled it in. @returns the status. */
async function tryOut(page: Page, tag: string, operation: string): Promise<string> {
  await page.goto('about:blank');
  await page.goto(`${server.url}/docs/#/${tag}/${operation}`);
  const block = page.locator(`#operations-${tag}-${operation}`);
  await block.locator('.try-out__btn').click({ timeout: 60_000 });
  await block.locator('.execute').click();
  const status = block.locator('.live-responses-table .response .response-col_status');
  await status.waitFor({ timeout: 60_000 });
  return (await status.textContent())?.trim() ?? '';
}

testInBrowser('what the viewer fills in is right, and it keeps the token of the tab', async () => {
  const { page, complaints } = await open(browser);
  await page.goto(`${server.url}/docs/`);
  await page.locator('.opblock').first().waitFor({ state: 'visible', timeout: 60_000 });
  await authorize(page, await tokenFor('viewer'));
  for (const [tag, operation] of [
    ['books', 'listBookList'],
    ['SKUs', 'listSkuList'],
  ] as const) {
    const status = await tryOut(page, tag, operation);
    assert.match(status, /^200/, `${operation}: ${status}`);
  }
  assert.is(await page.evaluate('localStorage.length'), 0);
  assert.is(await page.locator('.opblock-head, .opblock-options').count(), 0);
  assert.is(await page.locator('.operation-filter-input').count(), 1);
  const other = await browser.newContext();
  const fresh = await other.newPage();
  await fresh.goto(`${server.url}/docs/`);
  await fresh.locator('.opblock').first().waitFor({ state: 'visible', timeout: 60_000 });
  assert.is(await fresh.evaluate('sessionStorage.length'), 0, 'another tab has no token');
  await other.close();
  assert.equal(complaints, []);
  await page.context().close();
});

testInBrowser('/docs/ finds its files and its description under a base path', async () => {
  const moved = await startServer({ args: ['--base-path', '/api'] });
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${moved.url}/api/docs/`);
  await page.locator('.opblock').first().waitFor({ state: 'visible', timeout: 60_000 });
  assert.equal(complaints, []);
  await context.close();
  await moved.stop();
});

test.run();
