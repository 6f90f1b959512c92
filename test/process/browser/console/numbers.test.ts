/** Numbers and prices as the language of the user writes them (docs/console.md, "Forms"). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../support/catalog.ts';
import { testInBrowser } from '../browser.ts';
import { faults, hears, show, stage } from './console.ts';

const scene = stage();

for (const [sku, locale, names, grouped, foreign] of [
  [5, 'en-GB', ['Stock', 'Price', 'Save', 'is saved.'], '1,234', '1.234'],
  [6, 'de-DE', ['Bestand', 'Preis', 'Speichern', 'ist gespeichert.'], '1.234', '1,234'],
] as const) {
  testInBrowser(`${grouped} is 1234 for a visitor with the language ${locale}`, async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    const [stock, price, save, saved] = names;
    await page.goto(at(`/skus/${sku}`));
    await page.getByLabel(stock).fill(foreign);
    await page.getByLabel(price, { exact: true }).fill(foreign);
    await page.getByRole('button', { name: save }).click();
    for (const id of ['field-stock', 'field-price']) {
      const problem = page.locator(`[id="${id}-problem"]`);
      assert.match((await problem.textContent()) ?? '', grouped);
    }
    await page.getByLabel(stock).fill(grouped);
    await page.getByLabel(price, { exact: true }).fill(grouped);
    await page.getByRole('button', { name: save }).click();
    await hears(page, 'status', saved);
    const written = await read(server, `/admin/skus/${sku}/`);
    assert.equal([written.stock, written.price], [1234, 123_400]);
    assert.equal(faults(visitor), []);
  });
}

testInBrowser('a price with three decimals is the same in another language', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.route('**/admin/summary/', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), currency: 'KWD' } });
  });
  const { price } = await read(server, '/admin/skus/7/');
  await page.goto(at('/skus/7'));
  await page.getByLabel('Cost price').fill('12.345');
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.getByLabel('Untertitel').fill('Nur der Untertitel');
  const text = (price / 1000).toFixed(3).replace('.', ',');
  assert.is(await page.getByLabel('Preis', { exact: true }).inputValue(), text);
  assert.is(await page.getByLabel('Einkaufspreis').inputValue(), '12,345');
  await page.getByRole('button', { name: 'Speichern' }).click();
  await hears(page, 'status', 'ist gespeichert.');
  const written = await read(server, '/admin/skus/7/');
  assert.equal([written.price, written.cost_price], [price, 12_345]);
  assert.equal(faults(visitor), []);
});

testInBrowser('a draft with three decimals is the same price in another language', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.route('**/admin/summary/', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), currency: 'KWD' } });
  });
  await page.goto(at('/skus/5'));
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.getByLabel('Einkaufspreis').fill('98,765');
  // As another tab of the same browser does.
  await page.evaluate(`localStorage.setItem('catalog.language', 'en')`);
  page.once('dialog', (question) => question.accept());
  await page.reload();
  await hears(page, 'status', 'Your unsaved changes were restored.');
  assert.is(await page.getByLabel('Cost price').inputValue(), '98.765');
  assert.equal(faults(visitor), []);
});

testInBrowser('a price is typed only once the currency is known', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const known = Promise.withResolvers<void>();
  await page.route('**/admin/summary/', async (route) => {
    const response = await route.fetch();
    await known.promise;
    await route.fulfill({ response, json: { ...(await response.json()), currency: 'JPY' } });
  });
  await page.goto(at('/skus'));
  const row = page.getByRole('row').nth(8);
  await row.getByTitle('Change').last().waitFor();
  assert.is(await row.getByTitle('Change').count(), 1, 'only the stock');
  await page.getByRole('button', { name: 'Price and stock' }).click();
  assert.is(await page.getByLabel('Price from').isEditable(), false);
  assert.ok(await page.getByLabel('Stock from').isEditable());
  const listed = page.waitForResponse(/\/admin\/skus\/\?.*spu_id=1/);
  await show(page, '/goods/1');
  await page.getByRole('heading', { level: 1, name: 'Auralune Phone 12' }).waitFor();
  await (await listed).finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  assert.is(await page.getByRole('table', { name: 'SKUs by their options' }).count(), 0);
  await show(page, '/skus');
  await row.getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Loading').first().waitFor();
  assert.is(await dialog.getByRole('combobox').count(), 0);
  known.resolve();
  await dialog.getByLabel('What to do').selectOption('Price: set');
  await dialog.getByLabel('Price', { exact: true }).fill('1234');
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByText('¥1,234').waitFor();
  assert.equal(faults(visitor), []);
});

test.run();
