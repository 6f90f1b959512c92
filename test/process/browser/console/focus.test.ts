/** Where the focus is after an action: never lost, and never taken from what somebody does. */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../support/catalog.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser } from '../browser.ts';
import { faults, hears, stage } from './console.ts';

const scene = stage();

/** Waits until the element that matches has the focus. */
async function focused(page: Page, selector: string): Promise<void> {
  await until(`the focus is on ${selector}`, () =>
    page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`),
  );
}

testInBrowser('a dialog that is closed gives the focus back', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  const button = page.getByRole('button', { name: 'Delete' });
  for (const close of ['Escape', 'Enter']) {
    await button.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    // The first button is the one that closes it.
    await page.keyboard.press(close);
    await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
    await focused(page, '.save-bar .danger');
  }
  assert.equal(faults(visitor), []);
  await page.context().close();
});

testInBrowser('saving keeps the focus, and another screen begins at its content', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands'));
  await page.getByRole('link', { name: 'New' }).press('Enter');
  await page.getByLabel('Name').waitFor();
  await focused(page, '#content');
  await page.keyboard.press('Tab');
  assert.is(await page.evaluate('document.activeElement.textContent'), '← Back to the list');
  await page.getByLabel('Name').fill('Focused');
  await page.getByLabel('First letter').fill('F');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await hears(page, 'status', 'Focused is saved.');
  await page.getByRole('button', { name: 'Delete' }).waitFor();
  await focused(page, '#content');
  await page.getByLabel('Name').fill('Focused again');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await hears(page, 'status', 'Focused again is saved.');
  await focused(page, '.save-bar [type=submit]');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  await focused(page, '#content');
  assert.equal(faults(visitor), []);
  await page.context().close();
});

testInBrowser('Ctrl + S saves wherever the focus is, but not below a dialog', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/3'));
  await page.getByLabel('Name').fill('Saved by a key');
  await page.getByRole('heading', { level: 1 }).click();
  await focused(page, 'body, #content');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').waitFor();
  await page.keyboard.press('Control+s');
  await page.keyboard.press('Escape');
  await page.getByText('Unsaved changes').waitFor();
  await page.getByRole('link', { name: 'Catalog' }).first().focus();
  await page.keyboard.press('Control+s');
  await hears(page, 'status', 'Saved by a key is saved.');
  assert.is((await read(server, '/admin/brands/3/')).name, 'Saved by a key');
  assert.equal(faults(visitor), []);
  await page.context().close();
});

testInBrowser('an option is renamed in place, and Escape leaves it as it is', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') writes.push(request.postData() ?? '');
  });
  await page.goto(at('/goods/1'));
  await page.getByRole('button', { name: 'Silver', exact: true }).click();
  await page.keyboard.type('Typed by mistake');
  await page.keyboard.press('Escape');
  await focused(page, '.chips button.value');
  await page.getByRole('button', { name: 'Silver', exact: true }).waitFor();
  // Browsers heed `autofocus` once, and this is the second field of the page.
  await page.getByRole('button', { name: 'Coral', exact: true }).click();
  await page.keyboard.type('Salmon');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Salmon', exact: true }).waitFor();
  await focused(page, '.chips button.value');
  assert.equal(writes, ['{"value":"Salmon"}']);
  assert.equal(faults(visitor), []);
  await page.context().close();
});

testInBrowser('a dialog that creates an item leads to the first field that is wrong', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/new'));
  await page.getByRole('combobox', { name: 'SPU' }).pressSequentially('Quite new');
  await page.getByRole('option', { name: 'Create “Quite new”…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New SPU' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await focused(page, '#create-brand_id');
  assert.equal(faults(visitor), []);
  await page.context().close();
});

testInBrowser('each step of an import begins at its content', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/import'));
  const buffer = Buffer.from('id,name\n1,A name from a file\n');
  await page.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  for (const [action, next] of [
    ['Next', 'Check'],
    ['Check', 'Download report'],
  ] as const) {
    await page.getByRole('button', { name: action, exact: true }).press('Enter');
    await page.getByRole('button', { name: next, exact: true }).waitFor();
    await focused(page, '#content');
  }
  assert.equal(faults(visitor), []);
  await page.context().close();
});

test.run();
