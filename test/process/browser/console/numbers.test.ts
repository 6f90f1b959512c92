/** Numbers and prices as the language of the user writes them (docs/console.md, "Forms"). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../support/catalog.ts';
import { testInBrowser } from '../browser.ts';
import { faults, hears, stage } from './console.ts';

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
    await page.context().close();
  });
}

test.run();
