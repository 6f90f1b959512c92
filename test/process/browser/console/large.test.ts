/**
 * Many SKUs: a list needs as many requests and rows as with a hundred SKUs (spec 13.4). A few more
 * SKUs than one request may change are enough for this.
 *
 *     CONSOLE_SKUS=100000 bun test/process/browser/console/large.test.ts
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { available } from '../../../support/chromium.ts';
import { tokenFor } from '../../../support/client.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { ROOT } from '../../../support/paths.ts';
import { startServer, type TestServer } from '../../../support/server.ts';
import { testInBrowser } from '../browser.ts';
import { endAll, open, prepare, type Visit } from '../visits.ts';
import { faults, hears } from './console.ts';

const SKUS = Number(process.env['CONSOLE_SKUS'] || 12_000);

/** The number as the console shows it. */
const MANY = SKUS.toLocaleString('en');

let server: TestServer;
let visit: Visit;

test.before(async () => {
  if (!available) return;
  const data = join(temporaryDirectory(), 'data');
  const args = [join(ROOT, 'bench', 'fill.ts'), data, String(SKUS)];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.is(status, 0, stderr);
  server = await startServer({ data });
  visit = await open();
  const token = JSON.stringify(await tokenFor('editor'));
  await prepare(visit.page, `sessionStorage.setItem('catalog.session', ${token})`);
  await visit.page.goto(`${server.url}/console/skus`);
});

test.after(async () => {
  if (!available) return;
  await endAll();
  // Its pages are still being written, and no test reads them.
  await server.kill();
});

/** The requests to the API that an action sends, with their queries. */
async function requestsOf(page: Page, run: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const note = (request: { method(): string; url(): string }) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/admin/')) seen.push(`${request.method()} ${pathname}${search}`);
  };
  page.on('request', note);
  await run();
  page.off('request', note);
  return seen;
}

const rows = () => visit.page.getByRole('row').count();

testInBrowser(
  'sorting, paging and searching a list take one request of twenty rows each',
  async () => {
    const { page } = visit;
    await page.getByText(`1–20 of ${MANY}`).waitFor();
    assert.is(await rows(), 21);
    const sorted = await requestsOf(page, async () => {
      await page.getByRole('columnheader', { name: 'Price' }).getByRole('button').click();
      await page.waitForURL(/sortby=price/);
      await page.getByText(`1–20 of ${MANY}`).waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByText(`21–40 of ${MANY}`).waitFor();
    });
    assert.equal(sorted, [
      'GET /admin/skus/?sortby=price&page=1&per_page=20',
      'GET /admin/skus/?sortby=price&page=2&per_page=20',
    ]);
    assert.is(await rows(), 21);
    // Few names contain this number.
    const last = String(SKUS - 1);
    const searched = await requestsOf(page, async () => {
      await page.getByLabel('Search').fill(last);
      await page.waitForURL(`**q=${last}**`);
      await page.getByText(/^1–\d+ of \d{1,2}$/).waitFor();
    });
    assert.equal(searched, [`GET /admin/skus/?q=${last}&sortby=price&page=1&per_page=20`]);
  },
);

testInBrowser('a bulk edit of two pages reads these pages, not the collection', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Rows').selectOption('100');
  await page.getByText(`1–100 of ${MANY}`).waitFor();
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByText(`101–200 of ${MANY}`).waitFor();
  await page.getByLabel('Select all on this page').check();
  await page.getByText('200 selected').waitFor();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('What to do').selectOption({ label: 'Stock: set' });
  await page.getByLabel('Stock').last().fill('12345');
  const preview = await requestsOf(page, async () => {
    await page.getByRole('button', { name: 'Show what changes' }).click();
    await page.getByText('200 items would change:').waitFor();
  });
  assert.equal(preview, [
    'GET /admin/skus/?sortby=price&page=1&per_page=100',
    'GET /admin/skus/?sortby=price&page=2&per_page=100',
  ]);
  const written = await requestsOf(page, async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Change 200 items' }).click();
    await hears(page, 'status', '200 items were changed.');
  });
  assert.is(written.filter((each) => each.startsWith('PATCH')).length, 1);
  assert.ok(written.length <= 5, written.join('\n'));
});

testInBrowser(
  'selecting all 10,000 items that one request may change takes ten requests',
  async () => {
    const { page } = visit;
    // The last page is not among the first 10,000 items.
    await page.goto(`${server.url}/console/skus?page=${Math.ceil(SKUS / 100)}&per_page=100`);
    await page.getByText(`–${MANY} of ${MANY}`).waitFor();
    await page.getByLabel('Select all on this page').check();
    const selected = await requestsOf(page, async () => {
      await page.getByRole('button', { name: `Select the first 10,000 of ${MANY}` }).click();
      await page.getByText(/10,\d{3} selected/).waitFor();
    });
    assert.is(selected.length, 10, selected.join('\n'));
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('What to do').selectOption({ label: 'Stock: set' });
    await page.getByLabel('Stock').last().fill('54321');
    await page.getByRole('button', { name: 'Show what changes' }).click();
    await hears(page, 'alert', /^At most 10,000 items can be changed at once, but 10,\d{3} would/);
    assert.equal(faults(visit), []);
  },
);

test.run();
