/** Where the focus is after an action: it is never lost, and never taken from the user. */
import type { Locator } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../support/catalog.ts';
import { testInBrowser } from '../browser.ts';
import { faults, focused, hears, makeAccount, signIn, stage } from './console.ts';

const scene = stage();

testInBrowser('a dialog that closes returns the focus', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  const button = page.getByRole('button', { name: 'Delete' });
  for (const close of ['Escape', 'Enter']) {
    await button.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    // Enter presses the button that changes nothing.
    await page.keyboard.press(close);
    await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
    await focused(page, '.save-bar .danger');
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('a save keeps the focus, and a new screen moves it to its content', async () => {
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
  await focused(page, '.save-bar [type=submit]');
  await page.getByLabel('Name').fill('Focused again');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await hears(page, 'status', 'Focused again is saved.');
  await focused(page, '.save-bar [type=submit]');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  await focused(page, '#content');
  assert.equal(faults(visitor), []);
});

testInBrowser('Ctrl + S saves from any focus, but not while a dialog is open', async () => {
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
  // Browsers obey `autofocus` once, and this is the second field of the page.
  await page.getByRole('button', { name: 'Coral', exact: true }).click();
  await page.keyboard.type('Salmon');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Salmon', exact: true }).waitFor();
  await focused(page, '.chips button.value');
  assert.equal(writes, ['{"value":"Salmon"}']);
  assert.equal(faults(visitor), []);
});

testInBrowser('Enter closes a field whose value is unchanged', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const [path, value] of [
    ['/skus', 'td.editable button.value'],
    ['/goods/1', '.chips button.value'],
  ] as const) {
    await page.goto(at(path));
    // A price is a button only once the currency is known: until then, the stock is the first one.
    await page.getByText('$649.00').first().waitFor();
    const button = page.locator(value).first();
    const text = await button.innerText();
    await button.press('Enter');
    await focused(page, 'input');
    await page.keyboard.press('Enter');
    assert.ok(await button.evaluate((element) => element.matches(':focus')), path);
    assert.is(await button.innerText(), text);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a dialog that creates an item moves the focus to the first invalid field',
  async () => {
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
  },
);

testInBrowser('each step of an import moves the focus to its content', async () => {
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
});

testInBrowser('clearing the filters moves the focus to the first filter', async () => {
  const { at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  for (const [path, first] of [
    ['/skus?q=kettle', '#filter-spu_id'],
    ['/categories?parent_id=1', '#filter-parent_id'],
    ['/brands?q=a', '#search'],
  ] as const) {
    await page.goto(at(path));
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).press('Enter');
    await page.getByRole('button', { name: 'Clear filters' }).waitFor({ state: 'hidden' });
    await focused(page, first);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('removing a specification or an option moves the focus to a neighbour', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const spu = await read(server, '/admin/goods/1/');
  const { id } = await make(server, '/admin/goods/', { ...spu, name: 'With parts' });
  const { id: size } = await make(server, '/admin/specs/', { name: 'Size', spu_id: id });
  await make(server, '/admin/specs/', { name: 'Finish', spu_id: id });
  for (const value of ['Size one', 'Size two', 'Size three']) {
    await make(server, '/admin/options/', { value, spec_id: size });
  }
  await page.goto(at(`/goods/${id}`));
  const button = (name: string) => `[aria-label="Remove ${name}"]`;
  for (const [removed, next] of [
    ['Size one', button('Size two')],
    ['Size three', button('Size two')],
    ['Size two', '.spec-name a'],
    ['Size', button('Finish')],
    ['Finish', '#spu-specs'],
  ] as const) {
    await page.getByRole('button', { name: `Remove ${removed}`, exact: true }).press('Enter');
    await page.locator(button(removed)).waitFor({ state: 'detached' });
    await focused(page, next);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('an action that removes its own button moves the focus to the content', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  const press = async (button: Locator) => {
    await button.press('Enter');
    await focused(page, '#content');
  };
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).getByTitle('Change').last().press('Enter');
  await page.keyboard.type('77');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Stock is now 77.');
  await press(page.getByRole('status').getByRole('button', { name: 'Undo' }));
  await hears(page, 'status', /Stock is now (?!77)/);
  await press(page.getByRole('status').getByRole('button', { name: 'Dismiss' }));
  await page
    .getByRole('checkbox', { name: /^Select Aur/ })
    .first()
    .press('Space');
  await press(page.getByRole('button', { name: 'Select none' }));
  await page.goto(at('/audits?resource=skus'));
  await press(page.getByRole('button', { name: 'Clear filters' }));
  for (const [path, request] of [
    ['/brands', '**/admin/brands/?*'],
    ['/brands/1', '**/admin/brands/1/'],
  ] as const) {
    await page.route(request, (route) => route.abort());
    await page.goto(at(path));
    await page.getByRole('main').getByText('The server does not answer.').waitFor();
    await page.unroute(request);
    await press(page.getByRole('button', { name: 'Try again' }));
  }
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser(
  'a bulk edit keeps the focus in its dialog, and then moves it to the list',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/brands'));
    await page
      .getByRole('checkbox', { name: /^Select / })
      .nth(1)
      .press('Space');
    await page.getByRole('button', { name: 'Edit…' }).press('Enter');
    await page.getByLabel('What to do').selectOption({ label: 'Logo: set' });
    await page.getByLabel('Logo').fill('https://a.example/logo.png');
    const show = page.getByRole('button', { name: 'Show what changes' });
    await page.route('**/admin/brands/*/', (route) => route.abort());
    await show.press('Enter');
    await hears(page, 'alert', 'The server does not answer.');
    await focused(page, 'dialog [type=submit]');
    await page.unroute('**/admin/brands/*/');
    await show.press('Enter');
    await page.getByRole('region', { name: 'Changes' }).waitFor();
    await focused(page, 'dialog');
    await page.getByRole('button', { name: 'Change 1 item' }).press('Enter');
    await hears(page, 'status', '1 item was changed.');
    await focused(page, '#content');
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser(
  'signing in again gives the focus back, another language keeps it, and signing out moves it',
  async () => {
    const { server, at, visit } = scene();
    await makeAccount(server, 'ida', 'editor');
    const { page } = await visit(null);
    await page.goto(at('/brands/4'));
    await signIn(page, 'ida');
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Typed before the end');
    let refused = false;
    await page.route('**/admin/brands/4/', async (route) => {
      if (refused) await route.continue();
      else await route.fulfill({ status: 401, body: '{}' });
      refused = true;
    });
    await name.press('Control+s');
    await page.getByRole('dialog').waitFor();
    await focused(page, '#password');
    await page.keyboard.type('correct horse battery staple');
    await page.keyboard.press('Enter');
    await hears(page, 'status', 'Typed before the end is saved.');
    await focused(page, '#field-name');
    await page.getByRole('button', { name: 'Deutsch' }).press('Enter');
    await page.getByRole('button', { name: 'English' }).waitFor();
    await focused(page, '.languages button');
    await page.getByRole('link', { name: 'Abmelden' }).press('Enter');
    await focused(page, '#username');
  },
);

test.run();
