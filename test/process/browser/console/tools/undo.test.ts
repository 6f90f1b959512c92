/** Offers to undo that fail: nothing is lost with them, and nobody is blamed (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Page, Route } from 'playwright-core';
import { make, read } from '../../../../support/catalog.ts';
import { send, tokenFor } from '../../../../support/client.ts';
import { until } from '../../../../support/until.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, hold, loseResponse, priceIn, show, stage } from '../console.ts';

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
});

testInBrowser('Undo is offered again if what the item refers to is not back yet', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: parent_id } = await make(server, '/admin/categories/', { name: 'Undo above' });
  await make(server, '/admin/categories/', { name: 'Undo below', parent_id });
  await page.goto(at('/categories'));
  for (const name of ['Undo below', 'Undo above']) {
    await show(page, `/categories?q=${name}`);
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await hears(page, 'status', `${name} was deleted.`);
  }
  const undoOf = (name: string) =>
    page.locator('.notice', { hasText: name }).getByRole('button', { name: 'Undo', exact: true });
  await undoOf('Undo below').click();
  await hears(page, 'alert', 'does not exist');
  await undoOf('Undo above').click();
  await hears(page, 'status', 'Undone.');
  await undoOf('Undo below').click();
  await until(
    'both are back',
    async () => (await read(server, '/admin/categories/?q=Undo')).length === 2,
  );
  assert.equal(faults(visitor, [/422/]), []);
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
});

testInBrowser(
  'deleted categories can be restored although the server has not answered after them',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const names = ['Gone a', 'Gone b', 'Gone c'];
    for (const name of names) await make(server, '/admin/categories/', { name });
    const left = async () => (await read(server, '/admin/categories/?q=Gone')).length;
    const fall = (route: Route) => route.abort();
    const reads = /\/admin\/categories\/(?:export\/)?\?/;
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const begin = async () => {
      await page.goto(at('/categories?q=Gone'));
      await page.getByLabel('Select all on this page').check();
      await press('Delete…');
      // The list and the tree of categories are read again after a deletion.
      await page.route(reads, fall);
    };
    const end = () => page.unroute(reads, fall);
    await begin();
    await press('Delete 3 items');
    await hears(page, 'status', '3 items were deleted.');
    assert.is(await left(), 0);
    await end();
    await press('Undo');
    await hears(page, 'status', 'Undone for 3 items.');
    await begin();
    let deletions = 0;
    await page.route('**/admin/categories/*/', (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      deletions += 1;
      return deletions === 1 ? route.continue() : route.abort();
    });
    await press('Delete 3 items');
    await hears(page, 'alert', 'It is not known whether this item was deleted.');
    await hears(page, 'alert', '1 item was deleted before that.');
    assert.is(await left(), 2);
    await end();
    await press('Restore 2 items');
    await hears(page, 'status', 'Undone for 2 items.');
    assert.is(await left(), 3);
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser('a category is deleted although the server has not answered after it', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  const { id } = await make(server, '/admin/categories/', { name: 'Lone category' });
  await page.goto(at(`/categories/${id}`));
  await page.getByLabel('Name').waitFor();
  const fall = (route: Route) => route.abort();
  await page.route('**/admin/categories/export/?*', fall);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await hears(page, 'status', 'Lone category was deleted.');
  await page.getByRole('heading', { name: 'Categories' }).waitFor();
  await page.goto(at('/audits?resource=categories'));
  const entry = page.getByRole('button', { name: /^Undo/ }).first();
  await entry.click();
  await hears(page, 'status', 'Undone.');
  assert.is((await read(server, '/admin/categories/?q=Lone')).length, 1);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
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
});

testInBrowser('an entry whose undo has lost its response is undone by the next one', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  const dialog = page.getByRole('alertdialog');
  const { id } = await make(server, '/admin/brands/', { name: 'Before' });
  const rename = async (name: string) => {
    const token = await tokenFor('editor');
    await send(server, 'PATCH', `/admin/brands/${id}/`, { body: { name }, token });
  };
  const name = async () => (await read(server, `/admin/brands/${id}/`)).name;
  await rename('After');
  await page.goto(at(`/audits?resource=brands&resource_id=${id}`));
  const undo = page.getByRole('button', { name: 'Undo: After' });
  await loseResponse(page, '**/admin/audits/*/reversal/', 'POST');
  await undo.click();
  await hears(page, 'alert', 'The server does not answer.');
  assert.is(await name(), 'Before');
  await undo.click();
  await hears(page, 'status', 'Undone.');
  assert.is(await dialog.count(), 0);
  // If another user has changed the row after that, it has changed since.
  await rename('Another');
  await page.reload();
  const last = page.getByRole('button', { name: 'Undo: Another' });
  await page.unrouteAll();
  await loseResponse(page, '**/admin/audits/*/reversal/', 'POST');
  await last.click();
  await hears(page, 'alert', 'The server does not answer.');
  await rename('Changed since');
  await last.click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.is(await name(), 'Changed since');
  assert.equal(faults(visitor, [/ERR_FAILED/, /409/]), []);
});

testInBrowser('a user who has left the trail is not asked whether to overwrite a row', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Left alone' });
  for (const name of ['Renamed', 'Renamed again']) {
    await send(server, 'PATCH', `/admin/brands/${id}/`, { body: { name } });
  }
  await page.goto(at(`/audits?resource=brands&resource_id=${id}`));
  const release = await hold(page, '**/admin/audits/*/reversal/');
  await page.getByRole('button', { name: 'Undo: Renamed', exact: true }).click();
  await page.getByText('Saving…').waitFor();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  release();
  await hears(page, 'alert', /changed since/);
  assert.is(await page.getByRole('alertdialog').count(), 0);
  assert.equal(faults(visitor, [/409/]), []);
});

testInBrowser('Undo is offered for each of two items that have the same name', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  for (let count = 0; count < 2; count += 1) await make(server, '/admin/brands/', { name: 'Twin' });
  await page.goto(at('/brands?q=Twin'));
  for (let count = 1; count <= 2; count += 1) {
    await page.getByRole('link', { name: 'Twin' }).first().click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('table', { name: 'Brands' }).waitFor();
    await until('it is offered', async () => (await undo.count()) === count);
  }
  for (let count = 1; count <= 2; count += 1) {
    await undo.first().click();
    await until(
      'it is back',
      async () => (await read(server, '/admin/brands/?q=Twin')).length === count,
    );
  }
  await undo.waitFor({ state: 'detached' });
  assert.equal(faults(visitor), []);
});

testInBrowser('Undo brings back what the screen of the item shows', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  const name = page.locator('#field-name');
  const { id } = await make(server, '/admin/brands/', { name: 'Back again' });
  await page.goto(at('/brands?q=Back'));
  await page.getByRole('link', { name: 'Back again' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'This was deleted' }).waitFor();
  await undo.click();
  await name.waitFor();
  assert.is(await name.inputValue(), 'Back again');
  // A value that was changed in a list is shown in the form that was opened since.
  await show(page, '/skus?q=Coral');
  await priceIn(page).click();
  await page.keyboard.type('4711');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Price is now $4,711.00.');
  await page.getByRole('rowheader').first().getByRole('link').click();
  const price = page.getByLabel('Price', { exact: true });
  await price.waitFor();
  const before = await price.inputValue();
  await undo.click();
  await until('the form shows it', async () => (await price.inputValue()) !== before);
  await page.getByLabel('Caption').fill('Typed after an undo');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved.');
  assert.is((await read(server, `/admin/brands/${id}/`)).name, 'Back again');
  assert.equal(faults(visitor, [/410/]), []);
});

testInBrowser('Undo reads what the screen of an SPU shows once', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const spec = await make(server, '/admin/specs/', { name: 'Shape', spu_id: 7 });
  await make(server, '/admin/options/', { value: 'Round', spec_id: spec.id });
  await page.goto(at('/goods/7'));
  const remove = page.getByRole('button', { name: 'Remove Round' });
  await remove.click();
  await remove.waitFor({ state: 'detached' });
  await hears(page, 'status', 'Round was deleted.');
  let reads = 0;
  page.on('request', (request) => {
    if (request.url().includes('/goods/7/specs/')) reads += 1;
  });
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await remove.waitFor();
  assert.is(reads, 1);
  assert.equal(faults(visitor), []);
});

testInBrowser('Undo stays where it is until it is done, and is done once', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?q=mixer'));
  const launched = page.getByRole('switch').first();
  const before = await read(server, '/admin/skus/?q=mixer');
  await launched.click();
  await hears(page, 'status', 'On sale is now');
  let sent = 0;
  page.on('request', (request) => {
    if (request.method() === 'PATCH') sent += 1;
  });
  const release = await hold(page, '**/admin/skus/*/');
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  await undo.dblclick();
  const pressed = undo.and(page.locator('[aria-disabled=true]'));
  assert.is(await pressed.count(), 1);
  release();
  await until('it is back', async () => {
    const now = await read(server, '/admin/skus/?q=mixer');
    return now[0].is_launched === before[0].is_launched;
  });
  // The change back can be undone itself.
  await until(
    'it is done',
    async () => (await undo.count()) === 1 && (await pressed.count()) === 0,
  );
  assert.is(sent, 1);
  assert.equal(faults(visitor), []);
});

for (const [locale, undo, prices, said] of [
  ['en-US', 'Undo', ['87', '88'], /^.* has been changed meanwhile: Price is now \$88\.00\./],
  [
    'de-DE',
    'Rückgängig',
    ['90', '91'],
    /^.* wurde inzwischen geändert: Preis ist jetzt 91,00.\$\./,
  ],
] as const) {
  const title = `an undo that a later change of one's own prevents blames no other user, ${locale}`;
  testInBrowser(title, async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    await page.goto(at('/skus?q=kettle'));
    const price = page.getByRole('row').nth(1).getByRole('button', { name: /\$/ });
    for (const value of prices) {
      await price.click();
      await page.keyboard.type(value);
      await page.keyboard.press('Enter');
      await hears(page, 'status', value);
    }
    const messages = page.getByRole('region', { name: '(F8)' });
    await messages.getByRole('button', { name: undo, exact: true }).nth(1).click();
    await hears(page, 'alert', said);
    assert.equal(faults(visitor), []);
  });
}

test.run();
