/** The console over plain HTTP from another machine, where browsers keep some functions back. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, stage } from '../console.ts';

const scene = stage();

const ADDRESS = 'http://catalog.example';

testInBrowser('items are created and imported over plain HTTP', async () => {
  const { server, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.route(`${ADDRESS}/**`, async (route) => {
    const url = route.request().url().replace(ADDRESS, server.url);
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto(`${ADDRESS}/console/brands/new`);
  assert.is(await page.evaluate('isSecureContext'), false);
  await page.getByLabel('Name', { exact: true }).fill('Created over HTTP');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Created over HTTP is saved');
  await page.goto(`${ADDRESS}/console/import`);
  await page.getByLabel('Into').selectOption({ label: 'Brands' });
  const buffer = Buffer.from('name,first_letter,logo\nImported over HTTP,I,\n');
  const file = { name: 'brands.csv', mimeType: 'text/csv', buffer };
  await page.getByLabel('File').setInputFiles(file);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByRole('button', { name: 'Apply 1 change' }).click();
  await hears(page, 'status', '1 item was imported');
  assert.equal(faults(visitor), []);
  await page.unrouteAll({ behavior: 'wait' });
});

test.run();
