/** The steps of an import, and what it reports (spec 13.4). */
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { temporaryDirectory } from '../../../../support/directory.ts';
import { shoot, testInBrowser, violationsOn } from '../../browser.ts';
import { faults, hears, hold, stage } from '../console.ts';

const scene = stage();

const HEADER =
  'id,name,spu_id,caption,category_id,price USD,cost_price USD,market_price USD,stock,is_launched';

async function choose(page: Page, lines: readonly string[]): Promise<void> {
  await page.goto(scene().at('/import'));
  const file = { name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) };
  await page.getByLabel('File').setInputFiles(file);
}

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

testInBrowser(
  'a check names what rows refer to, and links no item that does not exist',
  async () => {
    const { visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const { category_id: category } = await read(scene().server, '/admin/skus/1/');
    const rows = Array.from({ length: 1500 }, (_, at) => `,New ${at},1,,${category},1,1,1,0,true`);
    await choose(page, [HEADER, `1,Renamed by a file,1,,${category},649,502,699,18,true`, ...rows]);
    await click(page, 'Next');
    await click(page, 'Check');
    await page.getByText('Nothing is written yet').waitFor();
    await page.getByText('1,501', { exact: true }).first().waitFor();
    const table = page.getByRole('table', { name: 'Changed rows' });
    const made = table.getByRole('row').filter({ hasText: 'New 0' });
    await made.getByText('Electronics › Phones › Smartphones').waitFor();
    await made.getByText('Auralune Phone 12').waitFor();
    await page.getByText('and 1,301 more').waitFor();
    // Two hundred rows are above it.
    const apply = await page.getByRole('button', { name: /^Apply/ }).boundingBox();
    assert.ok(apply !== null && apply.y + apply.height <= 800, 'the button is in sight');
    assert.is(await made.getByRole('link').count(), 0);
    assert.is(await table.getByRole('link', { name: 'Renamed by a file' }).count(), 1);
    await shoot(page, 'import-check', false);
    assert.equal(await violationsOn(page), []);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('columns show the beginning of a very long name or cell', async () => {
  const { visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const long = 'x'.repeat(1_000_000);
  await choose(page, [`name,${long}`, `${long},1`]);
  await click(page, 'Next');
  await page.getByText('1 of 2 columns is recognised.').waitFor();
  const shown = `${'x'.repeat(200)}…`;
  const table = page.getByRole('table', { name: 'Columns of the file' });
  await table.getByRole('rowheader', { name: shown, exact: true }).waitFor();
  await table.getByRole('cell', { name: shown, exact: true }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('a check names what it would create itself', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  const numbers = '1,1,1,0,true';
  await choose(page, [
    'name,spu,caption,category,price USD,cost_price USD,market_price USD,stock,is_launched,specs',
    `One,Auralune Phone 12,,Shoes > Boots > Warm,${numbers},Smell=Leather; Colour=Mauve`,
    `Two,Auralune Phone 12,,Shoes > Boots > Warm,${numbers},Colour=Silver`,
    `Three,Auralune Phone 12,,Shoes > Boots > Cold,${numbers},Colour=Mauve; Smell=Wax`,
  ]);
  for (const name of ['Categories', 'Specifications', 'Options']) {
    await page.getByRole('checkbox', { name }).check();
  }
  await click(page, 'Next');
  await click(page, 'Check');
  const table = page.getByRole('table', { name: 'Changed rows' });
  for (const [name, category, specs] of [
    ['One', 'Warm', 'Smell=Leather; Colour=Mauve'],
    ['Two', 'Warm', 'Colour=Silver'],
    ['Three', 'Cold', 'Colour=Mauve; Smell=Wax'],
  ] as const) {
    const row = table.getByRole('row').filter({ hasText: `Name ${name}` });
    await row.getByText(specs, { exact: true }).waitFor();
    await row.getByText(category, { exact: true }).waitFor();
    await row.getByText('Auralune Phone 12').waitFor();
  }
});

testInBrowser('a check names an item that the file has by its id or code', async () => {
  const { server, visit } = scene();
  const moved = await make(server, '/admin/categories/', { name: 'Moved', parent_id: 1 });
  const { page } = await visit('editor');
  await choose(page, ['id,stock', '1,7', '2,8']);
  await click(page, 'Next');
  await click(page, 'Check');
  const table = page.getByRole('table', { name: 'Changed rows' });
  const row = table.getByRole('row').filter({ hasText: '#2' });
  await row.getByRole('link', { name: 'Auralune Phone 12, silver, 256 GB' }).waitFor();
  await choose(page, ['id,parent', `${moved.id},Home and Kitchen`]);
  await page.getByLabel('Into').selectOption('categories');
  await click(page, 'Next');
  await click(page, 'Check');
  await table.getByRole('link', { name: 'Electronics › Moved', exact: true }).waitFor();
});

testInBrowser(
  'rows without ids are found by their codes, or it is said how to find them',
  async () => {
    const { server, visit } = scene();
    const { page } = await visit('editor');
    const body = { code: 'BY-CODE' };
    assert.is((await send(server, 'PATCH', '/admin/skus/5/', { body })).status, 200);
    await choose(page, ['code,stock', 'BY-CODE,4242']);
    await click(page, 'Next');
    await click(page, 'Check');
    await click(page, 'Apply 1 change');
    await page.getByRole('heading', { name: 'Imported' }).waitFor();
    assert.is((await read(server, '/admin/skus/5/')).stock, 4242);
    const hint = page.getByText('No column is the ID, so each row creates an item.');
    await choose(page, ['name,stock', 'Auralune Phone 12,4242']);
    await click(page, 'Next');
    await click(page, 'Check');
    await hint.waitFor();
    await shoot(page, 'import-all-new', false);
    assert.equal(await violationsOn(page), []);
    await choose(page, ['id,stock', '5,many']);
    await click(page, 'Next');
    await click(page, 'Check');
    await page.getByText('The file has errors').waitFor();
    assert.is(await hint.count(), 0);
  },
);

testInBrowser('a file without a header is imported from its first row', async () => {
  const { server, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await choose(page, ['Headless one,H', 'Headless two,H', ',H']);
  await page.getByLabel('Into').selectOption('brands');
  await click(page, 'Next');
  const headless = page.getByLabel('The first row has values, not the names of the columns');
  await headless.check();
  await page.getByRole('cell', { name: 'Headless one · Headless two' }).waitFor();
  assert.is(await page.getByRole('cell', { name: 'H · H · H' }).count(), 1);
  await page.getByLabel('Column 1 in the catalog').selectOption('name');
  await page.getByLabel('Column 2 in the catalog').selectOption('first_letter');
  await click(page, 'Check');
  const errors = page.getByRole('table', { name: 'Errors' });
  await errors.getByRole('row', { name: /^3 Name must not be empty/ }).waitFor();
  await click(page, 'Back');
  assert.ok(await headless.isChecked());
  await click(page, 'Back');
  const buffer = Buffer.from('Headless one,H\nHeadless two,H\n');
  const file = { name: 'rows.csv', mimeType: 'text/csv', buffer };
  await page.getByLabel('File').setInputFiles(file);
  await click(page, 'Next');
  await click(page, 'Check');
  const changes = page.getByRole('table', { name: 'Changed rows' });
  await changes.getByRole('row', { name: /^1 Headless one/ }).waitFor();
  await click(page, 'Apply 2 changes');
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  const found: { name: string }[] = await read(server, '/admin/brands/?q=Headless&sortby=name');
  assert.equal(
    found.map(({ name }) => name),
    ['Headless one', 'Headless two'],
  );
  assert.equal(faults(visitor), []);
});

testInBrowser('what is written of a file without a header is said by its own rows', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  await page.route('**/admin/imports/*/', async (route) => {
    const response = await route.fetch();
    const messages = [
      'the rows before row 252 are written, the others are not: row 9 is taken',
      'the rows before row 252 are written; it is not known whether rows 252 to 501 are written, and no later row is: why',
      'it is not known whether row 2 is written, and no later row is: why',
    ];
    const errors = messages.map((message) => ({ row: 252, column: null, message }));
    await route.fulfill({ json: { ...(await response.json()), state: 'failed', errors } });
  });
  await choose(page, ['Failed one,F', 'Failed two,F']);
  await page.getByLabel('Into').selectOption('brands');
  await click(page, 'Next');
  await page.getByLabel('The first row has values, not the names of the columns').check();
  await page.getByLabel('Column 1 in the catalog').selectOption('name');
  await page.getByLabel('Column 2 in the catalog').selectOption('first_letter');
  await click(page, 'Check');
  const errors = page.getByRole('table', { name: 'Errors' });
  await errors.waitFor();
  assert.equal(await errors.locator('.problem').allInnerTexts(), [
    'the rows before row 251 are written, the others are not: row 9 is taken',
    'the rows before row 251 are written; it is not known whether rows 251 to 500 are written, and no later row is: why',
    'it is not known whether row 1 is written, and no later row is: why',
  ]);
});

testInBrowser('blank lines before the header are skipped, and a blank file says why', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  await choose(page, ['', ';;', 'Nr;Name;What', '1;;x']);
  await page.getByLabel('Into').selectOption('brands');
  await click(page, 'Next');
  await page.getByText('1 of 3 columns is recognised.').waitFor();
  await page.getByLabel('Column Nr in the catalog').selectOption('id');
  await click(page, 'Check');
  await page.getByRole('row', { name: /^4 Name must not be empty/ }).waitFor();
  await choose(page, ['', ';;', '']);
  await click(page, 'Next');
  await page.getByText('Choose a file that is not empty.').waitFor();
});

testInBrowser('a check says in German what is wrong with a file, by its own columns', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { options: { locale: 'de-DE' } });
  await page.goto(at('/import'));
  const buffer = Buffer.from('Nr;Bezeichnung\n1;\n');
  await page.getByLabel('Datei').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await click(page, 'Weiter');
  await page.getByLabel('Spalte Nr im Katalog').selectOption('id');
  await page.getByLabel('Spalte Bezeichnung im Katalog').selectOption('name');
  await click(page, 'Prüfen');
  await page.getByText('darf nicht leer sein oder nur aus Leerraum bestehen').waitFor();
  await page.getByRole('cell', { name: 'Bezeichnung', exact: true }).waitFor();
});

testInBrowser('a check with many errors says how many it does not show', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  const rows = Array.from({ length: 300 }, (_, at) => `,Wrong ${at},1,,7,cheap,1,1,0`);
  await choose(page, [HEADER, ...rows]);
  await click(page, 'Next');
  const release = await hold(page, '**/admin/imports/*/');
  await click(page, 'Check');
  // The result is announced in the region of the progress: a new region often is not.
  const region = await page.getByRole('main').getByRole('status').elementHandle();
  release();
  await page.getByRole('heading', { name: '300 errors' }).waitFor();
  assert.is(await region?.textContent(), 'The file has errors; nothing was written');
  // Each row lacks a cell. That its price is wrong is found once it has the cell.
  await page.getByText('More may be found once these are corrected.').waitFor();
  await page.getByText('and 100 more').waitFor();
});

testInBrowser('going back keeps the file and every choice', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  await choose(page, ['id,name,What it costs', '1,A brand,5']);
  await page.getByLabel('Into').selectOption('brands');
  await page.getByLabel('Find existing items by').selectOption('name');
  await page.getByRole('checkbox', { name: 'Categories' }).check();
  await click(page, 'Next');
  await page.getByLabel('Column name in the catalog').selectOption('');
  await click(page, 'Back');
  const file = page.getByLabel('File');
  assert.match(await file.inputValue(), /rows\.csv$/);
  assert.is(await page.getByLabel('Into').inputValue(), 'brands');
  assert.is(await page.getByLabel('Find existing items by').inputValue(), 'name');
  assert.is(await page.getByRole('checkbox', { name: 'Categories' }).isChecked(), true);
  assert.is(await page.getByRole('checkbox', { name: 'Brands' }).isChecked(), false);
  await click(page, 'Next');
  assert.is(await page.getByLabel('Column name in the catalog').inputValue(), '');
});

testInBrowser('a file that was changed since it was chosen has to be chosen again', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const file = join(temporaryDirectory(), 'brands.csv');
  // The second file is sent with other names of its columns, which takes its text from memory.
  for (const header of ['id,name', 'ID,Name']) {
    writeFileSync(file, `${header}\n1,\n`);
    // Browsers compare the times of changes in seconds.
    utimesSync(file, 1, 1);
    await page.goto(at('/import'));
    await page.getByLabel('Into').selectOption('brands');
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('button', { name: 'Back' }).click();
    writeFileSync(file, `${header}\n1,A name for the empty one\n`);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await hears(page, 'alert', 'Choose the file again: it has changed');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing is written yet' }).waitFor();
  }
});

testInBrowser('a file of a German spreadsheet is read, and the check says how', async () => {
  const { server, visit } = scene();
  const visitor = await visit('editor', { options: { locale: 'de-DE' } });
  const { page } = visitor;
  await page.goto(scene().at('/import'));
  const text = 'sep=;\r\nID;Preis;Im Verkauf\r\n9;1.199,50;FALSCH\r\n';
  const buffer = Buffer.from(text, 'latin1');
  await page.getByLabel('Datei').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await click(page, 'Weiter');
  await page.getByText('3 von 3 Spalten sind erkannt.').waitFor();
  await click(page, 'Prüfen');
  await page.getByText('1.199,50 wurde als 1199.50 gelesen').waitFor();
  await page.getByRole('row').filter({ hasText: '1.199,50 $' }).waitFor();
  assert.is((await read(server, '/admin/skus/9/')).price, 122_900, 'nothing is written yet');
  await click(page, '1 Änderung ausführen');
  await page.getByRole('heading', { name: 'Importiert' }).waitFor();
  const { price, is_launched } = await read(server, '/admin/skus/9/');
  assert.equal([price, is_launched], [119_950, false]);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a row that does not have the cells of the header is named before the check',
  async () => {
    const { visit } = scene();
    const { page } = await visit('editor');
    await choose(page, ['SKU,Name', 'X-1,Shirt', 'X-2,Shirt, red']);
    await click(page, 'Next');
    await page.getByLabel('Column SKU in the catalog').selectOption('code');
    await click(page, 'Check');
    await hears(page, 'alert', 'Row 3 has 3 cells, but the first row has 2.');
    await choose(page, ['SKU,Name', 'X-1,"Shirt']);
    await click(page, 'Next');
    await page.getByLabel('Column SKU in the catalog').selectOption('code');
    await click(page, 'Check');
    await hears(page, 'alert', 'In row 2, a quoted cell does not end with its quotes.');
  },
);

testInBrowser(
  'an import whose response is lost and that is started again is written once',
  async () => {
    const { server, visit } = scene();
    const { page } = await visit('editor');
    await choose(page, ['name', 'Written once']);
    await page.getByLabel('Into').selectOption('brands');
    await click(page, 'Next');
    await click(page, 'Check');
    await page.getByText('Nothing is written yet').waitFor();
    let lost = false;
    await page.route('**/admin/brands/imports/**', async (route) => {
      if (lost) return route.continue();
      lost = true;
      await route.fetch();
      await route.abort();
    });
    await click(page, 'Apply 1 change');
    await page.getByRole('alert').first().waitFor();
    await click(page, 'Apply 1 change');
    await page.getByRole('heading', { name: 'Imported' }).waitFor();
    const found = await read(server, '/admin/brands/?q=Written');
    assert.is(found.length, 1);
  },
);

testInBrowser('a check of a file that would change nothing says so', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  await choose(page, ['id,name', '2,Quillmere']);
  await page.getByLabel('Into').selectOption('brands');
  await click(page, 'Next');
  await click(page, 'Check');
  await page.getByRole('heading', { name: 'The file would change nothing' }).waitFor();
});

testInBrowser('a check that fails does not say that rows are written', async () => {
  const { visit } = scene();
  const { page } = await visit('editor');
  await page.route('**/admin/brands/imports/**', async (route) => {
    const response = await route.fetch();
    const message = 'no row is written: the import was stopped';
    const errors = [{ row: null, column: null, message }];
    const json = { ...(await response.json()), state: 'failed', error_count: 1, errors };
    await route.fulfill({ response, json });
  });
  await choose(page, ['name', 'Not written']);
  await page.getByLabel('Into').selectOption('brands');
  await click(page, 'Next');
  await click(page, 'Check');
  const name = 'The import has stopped; the last error says which rows are written';
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.getByText('no row is written').waitFor();
});

for (const [locale, next, choice, texts] of [
  [
    'en-US',
    'Next',
    'Column price in the catalog',
    ['Price in the smallest unit (price)', 'Price (price USD)'],
  ],
  [
    'de-DE',
    'Weiter',
    'Spalte price im Katalog',
    ['Preis in der kleinsten Einheit (price)', 'Preis (price USD)'],
  ],
] as const) {
  testInBrowser(`the columns of a price say their units, ${locale}`, async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    await page.goto(at('/import'));
    const buffer = Buffer.from('id,price\n1,649\n');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: next, exact: true }).click();
    const column = page.getByLabel(choice);
    assert.is(await column.locator('option:checked').textContent(), texts[0]);
    await column.selectOption({ label: texts[1] });
    assert.is(await column.inputValue(), 'price USD');
    assert.equal(faults(visitor), []);
  });
}

test.run();
