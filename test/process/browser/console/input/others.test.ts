/** What other users create while a screen is shown (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, stage } from '../console.ts';

const scene = stage();

testInBrowser('a category that another user has created meanwhile can be chosen', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.clock.install();
  await page.goto(at('/goods/1'));
  const field = page.getByLabel('Category 3');
  await field.waitFor();
  const { category2_id: parent_id } = await read(server, '/admin/goods/1/');
  await make(server, '/admin/categories/', { name: 'Made meanwhile', parent_id });
  await page.clock.fastForward(60_000);
  await field.click();
  await field.fill('Made meanwhile');
  await page.getByRole('treeitem', { name: 'Made meanwhile', exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved.');
  assert.equal(faults(visitor), []);
  await page.context().close();
});

testInBrowser('a tree of categories that cannot be read again stays in use', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.clock.install();
  await page.goto(at('/goods/1'));
  const field = page.getByLabel('Category 3');
  await field.waitFor();
  await page.route('**/admin/categories/?*', (route) => route.abort());
  await page.clock.fastForward(60_000);
  const lost = page.waitForEvent('requestfailed');
  await field.click();
  await lost;
  await field.fill('Laptops');
  await page.getByRole('treeitem', { name: 'Laptops', exact: true }).click();
  assert.match(await field.inputValue(), /Laptops$/);
  assert.is(await page.getByRole('alert').count(), 0);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  await page.context().close();
});

test.run();
