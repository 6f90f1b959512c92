/** The API viewer in a browser, if one is installed. */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { available } from '../../support/chromium.ts';
import { tokenFor } from '../../support/client.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { overflow, shoot, testInBrowser, violationsOn } from './browser.ts';
import { end, endAll, open } from './visits.ts';

let server: TestServer;

test.before(async () => {
  if (!available) return;
  server = await startServer({ demo: true });
});

test.after(async () => {
  if (!available) return;
  await endAll();
  await server.stop();
});

/** Waits for the groups of operations, and opens one. */
async function openGroup(page: Page, tag: string): Promise<void> {
  const group = page.locator(`#operations-tag-${tag}`);
  await group.getByRole('button').first().click();
  await page.locator(`[id^="operations-${tag}-"]`).first().waitFor();
}

/** Puts a token into the dialog of the viewer. */
async function authorize(page: Page, token: string): Promise<void> {
  await page.locator('.btn.authorize').first().click();
  await page.locator('.auth-container input').fill(token);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();
}

/** Sends an operation that is open, as the viewer has filled it in. @returns the status. */
async function tryOut(page: Page, tag: string, operation: string): Promise<string> {
  const block = page.locator(`#operations-${tag}-${operation}`);
  await block.locator('.try-out__btn').click();
  await block.locator('.execute').click();
  const status = block.locator('.live-responses-table .response .response-col_status');
  await status.waitFor();
  return (await status.textContent())?.trim() ?? '';
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The components that a part of a description refers to, directly or through others. */
function referredBy(part: unknown, components: Components): Components {
  const found: Record<string, Record<string, unknown>> = {
    securitySchemes: { ...components['securitySchemes'] },
  };
  const follow = (from: unknown) => {
    const text = JSON.stringify(from);
    for (const [, group = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const members = (found[group] ??= {});
      if (name in members) continue;
      members[name] = components[group]?.[name];
      follow(members[name]);
    }
  };
  follow(part);
  return found;
}

/**
 * Removes all other paths from the description: to show all of them takes the browser a while, and
 * one such load is enough. Every load requests the description from the server.
 */
async function shorten(page: Page, ...shown: readonly string[]): Promise<void> {
  await page.route('**/openapi.json', async (route) => {
    const response = await route.fetch();
    const { paths: all, components: parts, ...rest } = await response.json();
    const paths = Object.fromEntries(shown.map((path) => [path, all[path]]));
    await route.fulfill({
      response,
      json: { ...rest, paths, components: referredBy(paths, parts) },
    });
  });
}

/** Groups are closed at first, and have the paths of their collection. */
async function showsOperations(page: Page): Promise<void> {
  await page.locator('.opblock-tag').first().waitFor();
  assert.is(await page.locator('.opblock').count(), 0, 'groups are closed at first');
  await shoot(page, 'docs', false);
  for (const [tag, path] of [
    ['books', '/books/'],
    ['SKUs', '/admin/skus/'],
  ] as const) {
    await openGroup(page, tag);
    const paths = await page
      .locator(`[id^="operations-${tag}-"] .opblock-summary-path`)
      .allTextContents();
    const shown = paths.map((each) => each.replace(/[\u200b\s]/g, ''));
    assert.ok(shown.includes(path), `${path} in ${shown.join(' ')}`);
    assert.ok(
      shown.some((each) => each.startsWith(`${path}{`)),
      `an item of ${path} in ${shown.join(' ')}`,
    );
  }
  assert.is(await page.locator('.opblock-head, .opblock-options').count(), 0);
  assert.is(await page.locator('.operation-filter-input').count(), 1);
}

testInBrowser(
  '/docs/ shows the operations of books and SKUs, fills in valid values, and keeps the token in the tab',
  async () => {
    const { page, complaints, foreign } = await open();
    await page.goto(`${server.url}/docs/`);
    await showsOperations(page);
    await authorize(page, await tokenFor('viewer'));
    await page.goto('about:blank');
    await shorten(page, '/books/', '/admin/skus/');
    // A link to one operation opens it.
    await page.goto(`${server.url}/docs/#/SKUs/listSkuList`);
    assert.match(await tryOut(page, 'SKUs', 'listSkuList'), /^200/);
    await openGroup(page, 'books');
    await page.locator('#operations-books-listBookList .opblock-summary-control').click();
    assert.match(await tryOut(page, 'books', 'listBookList'), /^200/);
    await shoot(page, 'docs-operation', false);
    assert.is(await page.evaluate('localStorage.length'), 0);
    const other = await page.context().newPage();
    await other.goto(`${server.url}/docs/start.js`);
    assert.is(await other.evaluate('sessionStorage.length'), 0, 'another tab has no token');
    assert.equal(foreign, []);
    assert.equal(complaints, []);
    await end(page);
  },
);

testInBrowser('/docs/ loads its files and its description below a base path', async () => {
  const moved = await startServer({ args: ['--base-path', '/api'] });
  const { page, complaints } = await open();
  await shorten(page, '/books/');
  await page.goto(`${moved.url}/api/docs/`);
  await openGroup(page, 'books');
  assert.equal(complaints, []);
  await end(page);
  await moved.stop();
});

testInBrowser('/docs/ has the colours of the system', async () => {
  const { page } = await open({ dark: true });
  await shorten(page, '/books/');
  await page.goto(`${server.url}/docs/`);
  await page.locator('.opblock-tag').first().waitFor();
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  assert.is(await ground(), 'rgb(28, 32, 34)');
  await shoot(page, 'docs-dark', false);
  await page.emulateMedia({ colorScheme: 'light' });
  await until('it is light', async () => (await ground()) === 'rgba(0, 0, 0, 0)');
  await end(page);
});

testInBrowser('the page at / fits a narrow window', async () => {
  const { page } = await open({ width: 320 });
  await page.goto(`${server.url}/`);
  assert.is(await overflow(page), 0);
  assert.equal(await violationsOn(page), []);
  await end(page);
});

test.run();
