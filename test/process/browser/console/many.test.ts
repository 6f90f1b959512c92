/** Many items at once, files and the audit trail (spec 13.4). */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, makeChain, read } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { testInBrowser } from '../browser.ts';
import { faults, hears, hold, stage } from './console.ts';

const scene = stage();

/** Begins to change all items of a list, or those of its first page. @returns the dialog. */
async function editAll(page: Page, list: string, operation: string): Promise<Locator> {
  await page.goto(list);
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to do').selectOption({ label: operation });
  return dialog;
}

testInBrowser(
  'prices of items selected on several pages rise by a percentage after a preview, and Undo restores them',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const before = await read(server, '/admin/skus/?per_page=100');
    await page.goto(at('/skus'));
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Select all 36' }).click();
    await page.getByText('36 selected').waitFor();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('What to do').selectOption({ label: 'Price: add per cent' });
    await page.getByLabel('Per cent').fill('2.5');
    await page.getByLabel('Rounding').selectOption({ label: 'so that prices end in $0.99' });
    await page.getByRole('button', { name: 'Show what changes' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'Auralune Phone 12, silver, 128 GB' })
      .getByText('$664.99')
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Change 36 items' }).click();
    await hears(page, 'status', '36 items were changed.');
    const prices = async () =>
      (await read(server, '/admin/skus/?per_page=100')).map(
        ({ price }: { price: number }) => price,
      );
    assert.ok((await prices()).every((price: number) => price % 100 === 99));
    await page.getByRole('button', { name: 'Undo' }).click();
    await hears(page, 'status', 'Undone for 36 items.');
    assert.equal(
      await prices(),
      before.map(({ price }: { price: number }) => price),
    );
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('SPUs move to another category together, and back', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const spus = async () => (await read(server, '/admin/goods/?sortby=id')).slice(0, 3);
  const before = await spus();
  await page.goto(at('/goods'));
  for (const row of [1, 2, 3]) await page.getByRole('row').nth(row).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  const what = dialog.getByLabel('What to do');
  await what.selectOption({ label: 'Category 3: set' });
  // It decides the levels above it.
  assert.not.match((await what.textContent()) ?? '', /Category [12]/);
  await dialog.getByRole('combobox', { name: 'Category 3' }).fill('Kettles');
  await page.getByRole('treeitem', { name: 'Kettles' }).click();
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  const apply = dialog.getByRole('button', { name: /^Change \d items$/ });
  const label = (await apply.textContent()) ?? '';
  await apply.click();
  await hears(page, 'status', 'items were changed.');
  const { category1_id: first, category2_id: second } = await read(
    server,
    '/admin/goods/?q=Gooseneck',
  ).then(([kettle]) => kettle);
  for (const spu of await spus()) {
    assert.equal([spu.category1_id, spu.category2_id], [first, second]);
  }
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', `Undone for ${label.replace('Change ', '')}.`);
  assert.equal(await spus(), before);
  assert.equal(faults(visitor), []);
});

testInBrowser('a bulk edit of one page reads the page, not each of its rows', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const dialog = await editAll(page, at('/skus'), 'Stock: set');
  await dialog.getByLabel('Stock', { exact: true }).fill('5901');
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET') reads.push(new URL(request.url()).pathname);
  });
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByText('20 items would change:').waitFor();
  assert.equal(reads, ['/admin/skus/']);
  assert.equal(faults(visitor), []);
});

testInBrowser('a bulk edit that is refused names the item', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const before = await read(server, '/admin/skus/?q=Kettle');
  const dialog = await editAll(page, at('/skus?q=Kettle'), 'SPU: set');
  await dialog.getByRole('combobox', { name: 'SPU' }).fill('Auralune Phone 12');
  await page.getByRole('option', { name: 'Auralune Phone 12' }).first().click();
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByRole('button', { name: /^Change \d+ items$/ }).click();
  const alert = dialog.getByRole('alert');
  await alert.waitFor();
  // The specifications of these SKUs are those of another SPU.
  const { name } = before[0];
  assert.match((await alert.textContent()) ?? '', new RegExp(`^${name}: spec_id of .* SPU 1$`));
  assert.equal(await read(server, '/admin/skus/?q=Kettle'), before);
  assert.equal(faults(visitor, [/422|409/]), []);
});

testInBrowser('a list whose rows are still loading has nothing to select', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const release = await hold(page, '**/admin/skus/?*');
  await page.goto(at('/skus'));
  const all = page.getByLabel('Select all on this page');
  await all.waitFor();
  assert.ok(await all.isDisabled());
  release();
  await page.getByText('1–20 of 36').waitFor();
  await all.check();
  await page.getByText('20 selected').waitFor();
});

testInBrowser('what is unselected while all items are read stays unselected', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const bar = page.getByRole('group', { name: 'Selected items' });
  const boxes = page.getByRole('checkbox', { name: /^Select / });
  const isAll = ({ searchParams }: URL) => searchParams.get('per_page') === '1000';
  for (const unselect of [
    () => boxes.nth(2).uncheck(),
    () => bar.getByRole('button', { name: 'Select none' }).click(),
  ]) {
    for (const row of [1, 2]) await boxes.nth(row).check();
    const release = await hold(page, isAll);
    const all = page.waitForResponse((response) => isAll(new URL(response.url())));
    await bar.getByRole('button', { name: 'Select all 36' }).click();
    await unselect();
    release();
    await (await all).finished();
    await boxes.nth(1).check();
    await bar.getByText('1 selected').waitFor();
    await page.unroute(isAll);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'while the next page is loading, a selection applies to the rows that are shown',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus'));
    await page.getByText('1–20 of 36').waitFor();
    const isSecond = (url: URL) =>
      url.pathname === '/admin/skus/' && url.searchParams.get('page') === '2';
    const release = await hold(page, isSecond);
    const asked = page.waitForRequest((request) => isSecond(new URL(request.url())));
    await page.getByRole('link', { name: 'Next' }).click();
    await asked;
    await page.getByText('1–20 of 36').waitFor();
    await page.getByLabel('Select all on this page').check();
    release();
    await page.getByText('21–36 of 36').waitFor();
    assert.not(await page.getByLabel('Select all on this page').isChecked());
    await page.getByText('20 selected').waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByText('1–20 of 36').waitFor();
    assert.ok(await page.getByLabel('Select all on this page').isChecked());
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'a bulk edit is refused if another user has changed an item since the preview',
  async () => {
    const { server, at, visit } = scene();
    const [first, second] = [await visit('editor'), await visit('editor')];
    const { page } = first;
    const dialog = await editAll(page, at('/skus?q=kettle'), 'Stock: set');
    await dialog.getByLabel('Stock', { exact: true }).fill('7');
    await dialog.getByRole('button', { name: 'Show what changes' }).click();
    await page.getByRole('table', { name: 'Changes' }).waitFor();
    // The other user changes one of them in the list.
    await second.page.goto(at('/skus?q=kettle'));
    await second.page.getByRole('row').nth(1).getByRole('button', { name: '36' }).click();
    await second.page.getByRole('textbox', { name: 'Stock' }).fill('35');
    await second.page.keyboard.press('Enter');
    await hears(second.page, 'status', 'Stock is now 35');
    await dialog.getByRole('button', { name: /^Change 3 items/ }).click();
    await hears(page, 'alert', '1 of the items changed meanwhile. Your changes were not saved.');
    assert.is((await read(server, '/admin/skus/14/')).stock, 22);
    assert.is((await read(server, '/admin/skus/13/')).stock, 35);
  },
);

testInBrowser('a bulk edit is not undone if another user has changed an item since', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const dialog = await editAll(page, at('/skus?q=kettle'), 'Stock: set');
  await dialog.getByLabel('Stock', { exact: true }).fill('70');
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByRole('button', { name: /^Change 3 items/ }).click();
  await hears(page, 'status', '3 items were changed.');
  const { status } = await send(server, 'PATCH', '/admin/skus/14/', { body: { stock: 69 } });
  assert.is(status, 200);
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'alert', '1 of the items changed since then. Nothing was undone.');
  assert.is((await read(server, '/admin/skus/14/')).stock, 69);
  assert.is((await read(server, '/admin/skus/13/')).stock, 70);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a deletion of items stops at the first refusal, and the deleted items can be restored',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    // Auralune is referred to. It is between two brands that are not.
    for (const name of ['Zz last', 'Aa first']) await make(server, '/admin/brands/', { name });
    await page.goto(at('/brands?sortby=name'));
    for (const name of ['Aa first', 'Auralune', 'Zz last']) {
      await page.getByLabel(`Select ${name}`).check();
    }
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByText('If one is refused, the deletion stops there').waitFor();
    await page.getByRole('button', { name: 'Delete 3 items' }).click();
    await hears(page, 'alert', 'Auralune: brand');
    await hears(page, 'alert', '1 item was deleted before that. The other items were not deleted.');
    assert.equal(
      (await read(server, '/admin/brands/?q=Zz')).map((brand: { name: string }) => brand.name),
      ['Zz last'],
    );
    await page.getByRole('button', { name: 'Restore 1 item' }).click();
    await hears(page, 'status', 'Undone.');
    assert.is((await read(server, '/admin/brands/?q=Aa')).length, 1);
    await page.getByLabel('Select Aa first').waitFor();
    // What is restored cannot be undone once more.
    assert.is(await page.getByRole('button', { name: 'Undo' }).count(), 0);
    await page.getByRole('button', { name: 'Select none' }).click();
    for (const name of ['Aa first', 'Auralune']) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete 2 items' }).click();
    await page.getByRole('button', { name: 'Do not restore' }).click();
    await hears(page, 'status', '1 item was deleted.');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByLabel('Select Aa first').waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete 1 item' }).click();
    // Nothing was deleted, so there is nothing to restore.
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    assert.equal(faults(visitor, [/409/]), []);
  },
);

testInBrowser(
  'an import maps columns, checks the file, applies the changes and makes a report',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/import'));
    await page.getByLabel('Find existing items by').selectOption({ label: 'Code' });
    const text = 'Code;Cost price;Stock;Remark\r\nORV-1020;21.75;77;"a;b"\r\n';
    const file = { name: 'prices.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('3 of 4 columns are recognised.').waitFor();
    await page.getByLabel('Column Cost price in the catalog').selectOption('cost_price USD');
    await page.getByRole('button', { name: 'Check' }).click();
    await hears(page, 'status', 'Nothing is written yet');
    await page.getByRole('table', { name: 'Changed rows' }).getByText('$21.75').waitFor();
    assert.is.not((await read(server, '/admin/skus/20/')).stock, 77);
    await page.getByRole('button', { name: 'Apply 1 change' }).click();
    await hears(page, 'status', 'Imported');
    const { stock, cost_price: cost } = await read(server, '/admin/skus/20/');
    assert.equal([stock, cost], [77, 2175]);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download report' }).click();
    assert.match(readFileSync(await (await download).path(), 'utf8'), /2,stock,20,update,96,77/);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'the audit trail shows the values before and after, and undoes an entry',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    const { name } = await read(server, '/admin/brands/4/');
    await page.goto(at('/brands/4'));
    await page.getByLabel('Name').fill('Renamed by mistake');
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'status', 'is saved');
    await page.getByRole('link', { name: 'Audit trail' }).click();
    const entry = page.getByRole('listitem').filter({ hasText: 'Renamed by mistake' }).first();
    await entry.getByRole('cell', { name }).waitFor();
    await entry.getByRole('button', { name: 'Undo' }).click();
    await hears(page, 'status', 'Undone.');
    assert.is((await read(server, '/admin/brands/4/')).name, name);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'categories that other users add while the console is open are shown by name',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    await page.goto(at('/goods'));
    await page.getByText('Electronics ›').first().waitFor();
    const chain = await makeChain(server, 'Added');
    const [category1_id, category2_id, category3_id] = chain;
    const spu = { name: 'Late arrival', brand_id: 1, category1_id, category2_id, category3_id };
    await make(server, '/admin/goods/', spu);
    await page.getByLabel('Search').fill('late');
    await page.getByText('Added 1 › Added 2 › Added 3').waitFor();
    const rename = { body: { name: 'Renamed' } };
    const [first] = chain;
    assert.is((await send(server, 'PATCH', `/admin/categories/${first}/`, rename)).status, 200);
    await page.goto(at('/audits'));
    await page.getByRole('button', { name: 'Undo: Renamed', exact: true }).click();
    await hears(page, 'status', 'Undone.');
    await make(server, '/admin/categories/', { name: 'Below', parent_id: first });
    await page.getByRole('link', { name: 'Categories', exact: true }).click();
    await page.getByLabel('Search').fill('below');
    await page.getByRole('cell', { name: 'Added 1', exact: true }).waitFor();
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a double click undoes an entry of the audit trail once', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'As it was' });
  await send(server, 'PATCH', `/admin/brands/${id}/`, { body: { name: 'Clicked twice' } });
  await page.goto(at(`/audits?resource=brands&resource_id=${id}`));
  const undo = page.getByRole('button', { name: 'Undo: Clicked twice', exact: true });
  const release = await hold(page, '**/reversal/');
  await undo.dblclick();
  release();
  await hears(page, 'status', 'Undone.');
  await page.getByRole('listitem').nth(2).waitFor();
  assert.is(await page.getByRole('alertdialog').count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser('text for one reference of a bulk edit is not text for another', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const dialog = await editAll(page, at('/goods'), 'Brand: set');
  const field = dialog.getByRole('combobox').last();
  await field.fill('Kitchen');
  await dialog.getByLabel('What to do').selectOption({ label: 'Category 3: set' });
  assert.is(await field.inputValue(), '');
});

test.run();
