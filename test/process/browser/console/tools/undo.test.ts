/** Offers to undo that fail because of the server: nothing is lost with them (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Page, Route } from 'playwright-core';
import { make, read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, stage } from '../console.ts';

const scene = stage();

/** Lets some reversals through, and spoils the others. @returns a function that ends it. */
async function spoilReversals(
  page: Page,
  but: number,
  spoil: (route: Route) => Promise<void>,
): Promise<() => Promise<void>> {
  const path = '**/admin/audits/*/reversal/';
  let left = but;
  await page.route(path, (route) => {
    left -= 1;
    return left >= 0 ? route.continue() : spoil(route);
  });
  return () => page.unroute(path);
}

const fail = (route: Route) => route.fulfill({ status: 500, json: { error: 'a fault' } });

testInBrowser('Undo of a deletion is offered again after a fault of the server', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const name of ['Undo a', 'Undo b', 'Undo c']) await make(server, '/admin/brands/', { name });
  await page.goto(at('/brands?q=Undo'));
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete 3 items' }).click();
  await hears(page, 'status', '3 items were deleted.');
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  const end = await spoilReversals(page, 1, fail);
  await undo.click();
  await hears(page, 'alert', 'Something went wrong on the server.');
  // The last one that was deleted is back, and the list shows it.
  await page.getByLabel('Select Undo c').waitFor();
  await end();
  await undo.click();
  await hears(page, 'status', 'Undone for 3 items.');
  assert.is((await read(server, '/admin/brands/?q=Undo')).length, 3);
  assert.is(await page.locator('.notice.alert').count(), 0);
  assert.equal(faults(visitor, [/500/]), []);
  await page.context().close();
});

testInBrowser('Restore is offered again if the server does not answer', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await make(server, '/admin/brands/', { name: 'Aa restored' });
  await page.goto(at('/brands?q=a&sortby=name'));
  // Auralune is referred to.
  for (const name of ['Aa restored', 'Auralune']) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete 2 items' }).click();
  const end = await spoilReversals(page, 0, (route) => route.abort());
  await page.getByRole('button', { name: 'Restore 1 item' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await end();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await hears(page, 'status', 'Undone.');
  assert.is((await read(server, '/admin/brands/?q=restored')).length, 1);
  assert.equal(faults(visitor, [/409/, /ERR_FAILED/]), []);
  await page.context().close();
});

testInBrowser('Undo of a bulk edit is offered again if the disk has refused it', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?q=kettle'));
  await page.getByRole('row').nth(1).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to do').selectOption({ label: 'Stock: set' });
  await dialog.getByLabel('Stock', { exact: true }).fill('4711');
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByRole('button', { name: 'Change 1 item' }).click();
  await hears(page, 'status', '1 item was changed.');
  // So the API answers for SKUs (spec 3.9).
  const error = 'database error: the disk refused the write (ENOSPC: full); nothing was changed';
  await page.route('**/admin/skus/bulk/', (route) =>
    route.fulfill({ status: 422, json: { error } }),
  );
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  await undo.click();
  await hears(page, 'alert', '(the disk refused the write (ENOSPC: full); nothing was changed)');
  await page.unroute('**/admin/skus/bulk/');
  await undo.click();
  await hears(page, 'status', 'Undone.');
  assert.is((await read(server, '/admin/skus/?stock_min=4711&stock_max=4711')).length, 0);
  assert.is(await page.locator('.notice.alert').count(), 0);
  assert.equal(faults(visitor, [/422/]), []);
  await page.context().close();
});

test.run();
