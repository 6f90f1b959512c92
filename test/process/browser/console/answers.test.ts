/** Responses that arrive late or not at all, and double clicks (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Route } from 'playwright-core';
import { make, read } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { testInBrowser } from '../browser.ts';
import { prepare } from '../visits.ts';
import { faults, fillPrices, hears, hold, loseResponse, missingSkus, stage } from './console.ts';

const scene = stage();

testInBrowser('input that is typed during a save stays, as an unsaved change', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  await page.getByLabel('Name').fill('Sent');
  const release = await hold(page, '**/admin/brands/2/', 'PATCH');
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save' }).click();
  await sent;
  await page.getByLabel('Logo').fill('typed-meanwhile.png');
  release();
  await hears(page, 'status', 'Sent is saved.');
  assert.is(await page.getByLabel('Logo').inputValue(), 'typed-meanwhile.png');
  await page.getByText('Unsaved changes').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
  const { name, logo } = await read(server, '/admin/brands/2/');
  assert.equal([name, logo], ['Sent', 'typed-meanwhile.png']);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'input that is typed while an item is created is on the screen of the item, unsaved',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const reads: string[] = [];
    page.on('request', (request) => {
      if (/\/brands\/\d+\/$/.test(request.url())) reads.push(request.url());
    });
    await page.goto(at('/brands/new'));
    await page.getByLabel('Name').fill('Created meanwhile');
    const release = await hold(page, '**/admin/brands/', 'POST');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Save' }).click();
    await sent;
    await page.getByLabel('Logo').fill('typed-meanwhile.png');
    release();
    await page.waitForURL(/\/brands\/\d+$/);
    await page.getByRole('heading', { name: 'Created meanwhile' }).waitFor();
    await page.getByText('Unsaved changes').waitFor();
    // The user may go on typing.
    await page.keyboard.type('?1');
    assert.is(await page.getByLabel('Logo').inputValue(), 'typed-meanwhile.png?1');
    assert.equal(reads, [], 'the response says what the item is');
    assert.is(await page.getByText('Your unsaved changes were restored.').count(), 0);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a save that is repeated after a lost response is not a conflict', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/2'));
  await page.getByLabel('Price', { exact: true }).fill('11');
  await page.getByLabel('Storage').selectOption('128 GB');
  await loseResponse(page, '**/admin/skus/2/', 'PATCH');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved.');
  assert.is(await page.getByRole('alertdialog').count(), 0);
  const { price, specs } = await read(server, '/admin/skus/2/');
  assert.is(price, 1100);
  const options = specs.map(({ option_id }: { option_id: number }) => option_id);
  assert.equal(options, [1, 4]);
  assert.equal(faults(visitor, [/412/, /ERR_FAILED/]), []);
});

testInBrowser(
  'an item is created once if the request is repeated after a lost response',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/brands/new'));
    await page.getByLabel('Name').fill('Answer lost');
    await loseResponse(page, '**/admin/brands/', 'POST');
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'alert', 'The server does not answer.');
    await page.getByRole('button', { name: 'Save' }).click();
    await hears(page, 'status', 'is saved.');
    assert.is((await read(server, '/admin/brands/?q=lost')).length, 1);
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser(
  'an option is created once after a lost response, and again after it was removed',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/goods/2'));
    const field = page.getByLabel(/^New option of/).first();
    const add = page.getByRole('button', { name: 'Add', exact: true }).first();
    const chips = page.getByRole('button', { name: 'Lost and found', exact: true });
    await field.fill('Lost and found');
    await loseResponse(page, '**/admin/options/', 'POST');
    await add.click();
    await hears(page, 'alert', 'The server does not answer.');
    await add.click();
    await chips.waitFor();
    assert.is((await read(server, '/admin/options/?q=found')).length, 1);
    await page.getByRole('button', { name: 'Remove Lost and found' }).click();
    await chips.waitFor({ state: 'hidden' });
    await field.fill('Lost and found');
    await add.click();
    await chips.waitFor();
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser(
  'a bulk edit and its undo that are repeated after a lost response are not changes of others',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const stocks = async () =>
      (await read(server, '/admin/skus/?spu_id=5')).map(({ stock }: { stock: number }) => stock);
    const before = await stocks();
    await page.goto(at('/skus?spu_id=5'));
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What to do').selectOption({ label: 'Stock: set' });
    await dialog.getByLabel('Stock', { exact: true }).fill('4712');
    await dialog.getByRole('button', { name: 'Show what changes' }).click();
    const apply = dialog.getByRole('button', { name: `Change ${before.length} items` });
    await apply.waitFor();
    await loseResponse(page, '**/admin/skus/bulk/', 'PATCH');
    await apply.click();
    await dialog.getByRole('alert').filter({ hasText: 'The server does not answer.' }).waitFor();
    await apply.click();
    await hears(page, 'status', `${before.length} items were changed.`);
    assert.equal(
      await stocks(),
      before.map(() => 4712),
    );
    await page.unroute('**/admin/skus/bulk/');
    await loseResponse(page, '**/admin/skus/bulk/', 'PATCH');
    const undo = page.getByRole('button', { name: 'Undo', exact: true });
    await undo.click();
    await hears(page, 'alert', 'The server does not answer.');
    await undo.click();
    await hears(page, 'status', `Undone for ${before.length} items.`);
    assert.equal(await stocks(), before);
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser(
  'a value in a list that is sent again after a lost response is not a change of others',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus?q=kettle'));
    const row = page.getByRole('row').nth(1);
    await row.getByTitle('Change').last().click();
    const field = page.getByRole('textbox', { name: 'Stock', exact: true });
    await field.fill('4713');
    await loseResponse(page, '**/admin/skus/*/', 'PATCH');
    await field.press('Enter');
    await hears(page, 'alert', 'The server does not answer.');
    await field.press('Enter');
    await hears(page, 'status', 'Stock is now 4,713.');
    await field.waitFor({ state: 'hidden' });
    assert.is(await row.getByTitle('Change').last().innerText(), '4,713');
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

for (const [title, status] of [
  ['a deletion whose response is lost is restored with those before it', null],
  ['a deletion whose response a proxy has lost is restored with those before it', 504],
] as const) {
  testInBrowser(title, async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const word = `Unanswered-${status}`;
    const names = async () =>
      (await read(server, `/admin/brands/?q=${word}`)).map(({ name }: { name: string }) => name);
    const all = [`${word} 1`, `${word} 2`, `${word} 3`];
    const ids: number[] = [];
    for (const name of all) ids.push((await make(server, '/admin/brands/', { name })).id);
    await page.goto(at(`/brands?q=${word}`));
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await loseResponse(page, `**/admin/brands/${ids[1]}/`, 'DELETE', status);
    await page.getByRole('button', { name: 'Delete 3 items' }).click();
    await hears(page, 'alert', 'It is not known whether this item was deleted.');
    await hears(page, 'alert', '1 item was deleted before that.');
    assert.equal(await names(), [`${word} 3`]);
    await page.getByRole('button', { name: 'Restore 2 items' }).click();
    await hears(page, 'status', 'Undone for 2 items.');
    assert.equal((await names()).sort(), all);
    assert.equal(faults(visitor, [/ERR_FAILED|504/]), []);
  });
}

testInBrowser('a conflict shows only fields whose values differ', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus/4'));
  await page.getByLabel('Price', { exact: true }).fill('11');
  await page.getByLabel('Stock').fill('5');
  const body = { price: 1100, stock: 6 };
  assert.is((await send(server, 'PATCH', '/admin/skus/4/', { body })).status, 200);
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'This item has been changed meanwhile' });
  await dialog.getByRole('row').nth(1).waitFor();
  assert.equal(await dialog.getByRole('rowheader').allTextContents(), ['Stock both changed']);
});

testInBrowser('a double click creates an option once', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/2'));
  const field = page.getByLabel(/^New option of/).first();
  await field.fill('Made by two clicks');
  const release = await hold(page, '**/admin/options/', 'POST');
  await page.getByRole('button', { name: 'Add', exact: true }).first().dblclick();
  release();
  await page.getByRole('button', { name: 'Made by two clicks', exact: true }).waitFor();
  assert.is((await read(server, '/admin/options/?q=clicks')).length, 1);
  assert.equal(faults(visitor), []);
});

testInBrowser('a double click moves the SKUs of an SPU once', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  const { category2_id: parent } = await read(server, '/admin/goods/3/');
  const target = await make(server, '/admin/categories/', { name: 'Elsewhere', parent_id: parent });
  await page.goto(at('/goods/3'));
  await page.getByRole('combobox', { name: 'Category 3' }).fill(target.name);
  await page.getByRole('treeitem', { name: target.name, exact: true }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/admin/skus/bulk/')) sent.push(request.method());
  });
  await page.getByRole('button', { name: /^Move \d SKUs$/ }).dblclick();
  await hears(page, 'status', 'SKUs are now in');
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', 'Undone for');
  assert.equal(sent, ['PATCH', 'PATCH']);
});

testInBrowser('a double click creates the missing SKUs of an SPU once', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  const { missing, count } = await missingSkus(page);
  const skus = async () => (await read(server, '/admin/skus/?spu_id=1&per_page=100')).length;
  const before = await skus();
  await missing.click();
  const release = await hold(page, '**/admin/skus/bulk/', 'POST');
  const dialog = page.getByRole('dialog');
  await fillPrices(dialog);
  await dialog.getByRole('button', { name: 'Create' }).dblclick();
  release();
  await hears(page, 'status', 'created.');
  await missing.waitFor({ state: 'hidden' });
  assert.is(await skus(), before + count);
  assert.equal(faults(visitor), []);
});

testInBrowser('a double click creates the item of a reference once', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/3'));
  await page.getByLabel('Brand', { exact: true }).fill('Twofold');
  await page.getByRole('option', { name: 'Create' }).click();
  const release = await hold(page, '**/admin/brands/', 'POST');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create' }).dblclick();
  release();
  await dialog.waitFor({ state: 'hidden' });
  assert.is((await read(server, '/admin/brands/?q=Twofold')).length, 1);
  assert.equal(faults(visitor), []);
});

testInBrowser('a failure in a dialog is reported in the dialog', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  const heard = dialog.getByRole('alert').filter({ hasText: 'The server does not answer.' });
  await page.goto(at('/goods/4'));
  await page.getByLabel('Brand', { exact: true }).fill('Out of reach');
  await page.route('**/admin/brands/', (route) => route.abort());
  await page.getByRole('option', { name: 'Create' }).click();
  // The schema of its form could not be read.
  await heard.waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.unroute('**/admin/brands/');
  await page.getByLabel('Brand', { exact: true }).fill('Out of reach');
  await page.getByRole('option', { name: 'Create' }).click();
  await dialog.getByRole('button', { name: 'Create' }).waitFor();
  await page.route('**/admin/brands/', (route) => route.abort());
  await dialog.getByRole('button', { name: 'Create' }).click();
  await heard.waitFor();
  assert.is(await dialog.getByLabel('Name').inputValue(), 'Out of reach');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page
    .getByLabel(/^New option of/)
    .first()
    .fill('Out of reach too');
  await page.getByRole('button', { name: 'Add', exact: true }).first().click();
  await page.getByRole('button', { name: 'Out of reach too', exact: true }).waitFor();
  // A pointer could miss the button, which moves while messages come and go.
  await page.getByRole('button', { name: /^Create \d+ missing/ }).press('Enter');
  await page.route('**/admin/skus/bulk/', (route) => route.abort());
  await fillPrices(dialog);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await heard.waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a response to a write that breaks off is said until the next write', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await prepare(
    page,
    `
    const real = fetch;
    let isBroken = false;
    globalThis.fetch = async (address, init) => {
      const response = await real(address, init);
      if (init?.method !== 'PATCH' || isBroken) return response;
      isBroken = true;
      const pull = (body) => body.error(new TypeError('network error'));
      return new Response(new ReadableStream({ pull }), response);
    };`,
  );
  await page.goto(at('/skus'));
  await page.getByRole('switch').first().click();
  await hears(page, 'alert', 'The server does not answer.');
  const list = page.waitForResponse(/\/admin\/skus\/\?.*q=kettle/);
  await page.getByRole('searchbox').fill('kettle');
  await list;
  await page.getByText('Kettle').first().waitFor();
  assert.is(await page.getByText('The server does not answer.').count(), 1);
  await page.getByRole('switch').first().click();
  await page.getByText('The server does not answer.').waitFor({ state: 'hidden' });
});

testInBrowser('a value that is typed into a list stays until it is valid and saved', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?q=kettle'));
  const row = page.getByRole('row').nth(1);
  await row.getByRole('button', { name: '$', exact: false }).click();
  const field = page.getByRole('textbox', { name: 'Price', exact: true });
  await field.fill('12,5x');
  await field.press('Tab');
  await hears(page, 'alert', 'must be a price, such as 1,234.50');
  assert.is(await field.inputValue(), '12,5x');
  await page.route('**/admin/skus/*/', (route) => route.abort());
  await field.fill('12.5');
  await field.press('Enter');
  await hears(page, 'alert', 'The server does not answer.');
  assert.is(await field.inputValue(), '12.5');
  await page.unroute('**/admin/skus/*/');
  await field.press('Enter');
  await hears(page, 'status', 'Price is now $12.50.');
  await field.waitFor({ state: 'hidden' });
  const [first] = await read(server, '/admin/skus/?q=kettle');
  assert.is(first.price, 1250);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

for (const [what, spoil, message, logged] of [
  ['a lost response', (route: Route) => route.abort(), 'The server does not answer.', /ERR_FAILED/],
  [
    'a 503',
    (route: Route) => route.fulfill({ status: 503, json: { error: 'try again later' } }),
    'try again later',
    /503/,
  ],
] as const) {
  testInBrowser(`the progress of an import is requested again after ${what}`, async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/import'));
    await page.getByLabel('Into').selectOption('brands');
    const buffer = Buffer.from(`name\nFollowed after ${what}\n`);
    await page.getByLabel('File').setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Apply 1 change' }).waitFor();
    // The message ends with the next answer, so there is none until it was heard.
    await page.route('**/admin/imports/*/', spoil);
    await page.getByRole('button', { name: 'Apply 1 change' }).click();
    await hears(page, 'alert', message);
    await page.unroute('**/admin/imports/*/');
    await hears(page, 'status', '1 item was imported.');
    assert.is((await read(server, `/admin/brands/?q=${what.replaceAll(' ', '+')}`)).length, 1);
    assert.equal(faults(visitor, [logged]), []);
  });
}

test.run();
