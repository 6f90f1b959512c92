/** What is said of values that are not valid, and where the focus goes (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../../../support/until.ts';
import { testInBrowser, violationsOn } from '../../browser.ts';
import { focused, hears, stage } from '../console.ts';

const scene = stage();

testInBrowser('a date that does not exist is said to be one, and is not saved', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/books/1'));
  const date = page.getByLabel('Publication date');
  await date.waitFor();
  const wrong = page.getByText('must be a date that exists, written YYYY-MM-DD');
  await date.focus();
  await page.keyboard.type('02312026');
  await page.keyboard.press('Control+s');
  await hears(page, 'alert', 'Some values are not right yet. Nothing was saved.');
  await wrong.waitFor();
  assert.is(await page.getByText('is required').count(), 0);
  await date.fill('2026-02-28');
  await wrong.waitFor({ state: 'hidden' });
  await page.goto(at('/books/new'));
  await date.focus();
  await page.keyboard.type('02312026');
  await page.keyboard.press('Control+s');
  await wrong.waitFor();
});

testInBrowser('missing SKUs are created only with the prices that were typed', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  await page.getByLabel('New option of Storage').fill('4 TB');
  await page.getByLabel('New option of Storage').press('Enter');
  await page.getByRole('button', { name: /Create \d missing SKUs/ }).click();
  const dialog = page.getByRole('dialog');
  await focused(page, '#missing-price');
  await page.keyboard.type('12');
  const price = dialog.getByRole('textbox', { name: 'Price', exact: true, description: 'USD' });
  assert.is(await price.inputValue(), '12');
  await dialog.getByLabel('Cost price').fill('12.345');
  await page.keyboard.press('Enter');
  const problem = dialog.getByText('must be a price, such as 1,234.50', { exact: true });
  await problem.first().waitFor();
  await focused(page, '#missing-cost_price');
  const marked = dialog.locator('[aria-invalid=true]');
  assert.is(await marked.count(), 2);
  assert.equal(await violationsOn(page), []);
  for (const left of [1, 0]) {
    await marked.first().fill('12.34');
    await page.keyboard.press('Enter');
    await until(`${left} are marked`, async () => (await marked.count()) === left);
  }
  await hears(page, 'status', 'SKUs were created.');
});

testInBrowser('a bulk edit moves the focus to the value that is not valid', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  await page
    .getByRole('checkbox', { name: /^Select / })
    .nth(1)
    .check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const operation = page.getByLabel('What to do');
  for (const [chosen, field, problem] of [
    ['Price: add per cent', '#bulk-percent', 'Type a number such as 5 or −2.5, not below −100.'],
    ['Price: set', '#bulk-value', 'must be a price, such as 1,234.50'],
  ] as const) {
    await operation.selectOption({ label: chosen });
    await page.locator(field).fill('abc');
    await page.getByRole('button', { name: 'Show what changes' }).press('Enter');
    await focused(page, field);
    await page.getByText(problem, { exact: true }).waitFor();
  }
});

testInBrowser('an import of a workbook says to save it as CSV', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/import'));
  const buffer = Buffer.from('PK\x03\x04');
  await page.getByLabel('File').setInputFiles({ name: 'Prices.XLSX', mimeType: '', buffer });
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('This is a workbook. Save it as CSV').waitFor();
  await focused(page, '#import-file');
  const file = { name: 'prices.csv', mimeType: '', buffer: Buffer.from('id,name\n1,A\n') };
  await page.getByLabel('File').setInputFiles(file);
  await page.getByText('CSV, NDJSON or JSON').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('2 of 2 columns are recognised.').waitFor();
});

testInBrowser('an import without a file moves the focus to the field of the file', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/import'));
  await page.getByRole('button', { name: 'Next' }).press('Enter');
  await focused(page, '#import-file');
  await page.getByText('Choose a file that is not empty.').waitFor();
});

test.run();
