/** What is being saved is shown, is announced, moves nothing, and is not cut off (spec 13.4, 13.5). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, hold, makeAccount, stage } from '../console.ts';

const scene = stage();

const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'];

async function saved(page: Page, text: string): Promise<void> {
  await hears(page, 'status', text);
  await page.getByText('Saving…').first().waitFor({ state: 'detached' });
}

/** Where everything in the table is; it runs in the browser. */
const PLACES = `JSON.stringify([...document.querySelectorAll('tr, td, th, td *')].map((each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return [x, y, width, height];
}))`;

testInBrowser('a price and a switch that are being saved are busy, and say so', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const row = page.getByRole('row').nth(1);
  await row.getByRole('button', { name: '$' }).first().click();
  const price = row.getByRole('textbox', { name: 'Price' });
  await price.fill('611');
  const before = await page.evaluate(PLACES);
  const release = await hold(page, '**/admin/skus/1/', ...WRITES);
  await price.press('Enter');
  await hears(page, 'status', 'Saving…');
  assert.is(await price.getAttribute('aria-busy'), 'true');
  assert.is(await page.evaluate(PLACES), before, 'nothing moves');
  await price.press('5');
  await price.press('Escape');
  assert.is(await price.inputValue(), '611');
  release();
  await saved(page, 'Price is now $611.00.');
  assert.is((await read(server, '/admin/skus/1/')).price, 61_100);
  await page.unroute('**/admin/skus/1/');
  const launched = row.getByRole('switch');
  const releaseSwitch = await hold(page, '**/admin/skus/1/', ...WRITES);
  await launched.click();
  await hears(page, 'status', 'Saving…');
  assert.is(await launched.getAttribute('aria-busy'), 'true');
  releaseSwitch();
  await saved(page, 'On sale is now');
  assert.is(await launched.getAttribute('aria-busy'), 'false');
  assert.equal(faults(visitor), []);
});

testInBrowser('a form, an undo and an account that are being saved say so', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'slow', 'viewer');
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/brands/3'));
  await page.getByLabel('Name').fill('Saved slowly');
  const release = await hold(page, '**/admin/brands/3/', ...WRITES);
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Saving…');
  release();
  await saved(page, 'Saved slowly is saved.');
  await page.goto(at('/skus'));
  await page.getByRole('switch').first().click();
  await hears(page, 'status', 'On sale is now');
  const releaseUndo = await hold(page, '**/admin/skus/1/', ...WRITES);
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', 'Saving…');
  releaseUndo();
  await saved(page, 'On sale is now');
  await page.goto(at('/accounts'));
  const releaseAccount = await hold(page, '**/admin/users/slow/', ...WRITES);
  await page.getByRole('switch', { name: 'slow is active' }).click();
  await hears(page, 'status', 'Saving…');
  releaseAccount();
  await saved(page, 'slow is saved.');
  assert.equal(faults(visitor), []);
});

testInBrowser('a form that is saved again while it is being saved keeps both changes', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/4'));
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') writes.push(request.postData() ?? '');
  });
  const release = await hold(page, '**/admin/brands/4/', 'PATCH');
  await page.getByLabel('Name').fill('Saved once');
  for (let count = 0; count < 2; count += 1) await page.keyboard.press('Control+s');
  await page.getByLabel('Name').fill('Saved twice');
  await page.keyboard.press('Control+s');
  release();
  await hears(page, 'status', 'Saved twice is saved.');
  assert.equal(writes, ['{"name":"Saved once"}', '{"name":"Saved twice"}']);
  assert.is((await read(server, '/admin/brands/4/')).name, 'Saved twice');
  assert.is(await page.getByText('Unsaved changes').count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser('a dialog that is being saved says so, and is sent once', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  let sent = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/admin/users/')) sent += 1;
  });
  await page.goto(at('/accounts'));
  await page.getByRole('button', { name: 'New account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('User name').fill('once');
  await dialog.getByLabel('Password').fill('correct horse battery');
  const create = dialog.getByRole('button', { name: 'Create' });
  const before = await create.boundingBox();
  const release = await hold(page, '**/admin/users/', ...WRITES);
  await create.click();
  await dialog.getByRole('status').getByText('Saving…').waitFor();
  assert.equal(await create.boundingBox(), before, 'nothing moves');
  await create.click();
  release();
  await saved(page, 'once is saved.');
  assert.is(sent, 1);
  assert.equal(faults(visitor), []);
});

testInBrowser('a bulk edit that is being read or saved says so in its dialog', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(3).getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to do').selectOption({ label: 'Stock: set' });
  await dialog.getByLabel('Stock').last().fill('733');
  const show = dialog.getByRole('button', { name: 'Show what changes' });
  const unread = await show.boundingBox();
  const answer = await hold(page, '**/admin/skus/3/', 'GET');
  await show.click();
  await dialog.getByRole('status').getByText('Loading…').waitFor();
  assert.equal(await show.boundingBox(), unread, 'nothing moves');
  answer();
  const change = dialog.getByRole('button', { name: 'Change 1 item' });
  const before = await change.boundingBox();
  const release = await hold(page, '**/admin/skus/bulk/', ...WRITES);
  await change.click();
  await dialog.getByRole('status').getByText('Saving…').waitFor();
  assert.equal(await change.boundingBox(), before, 'nothing moves');
  release();
  await saved(page, '1 item was changed.');
});

testInBrowser('a reload while a price is being saved asks first', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus'));
  const row = page.getByRole('row').nth(2);
  await row.getByRole('button', { name: '$' }).first().click();
  const release = await hold(page, '**/admin/skus/2/', ...WRITES);
  await page.keyboard.type('722');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Saving…');
  const asked = page.waitForEvent('dialog');
  const reloading = page.evaluate('location.reload()');
  const question = await asked;
  assert.is(question.type(), 'beforeunload');
  await question.dismiss();
  await reloading;
  release();
  await saved(page, 'Price is now $722.00.');
  assert.is((await read(server, '/admin/skus/2/')).price, 72_200);
  await page.reload();
  await row.getByText('$722.00').waitFor();
});

testInBrowser('a dialog that was opened during a save or a deletion stays', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const parent = page.getByRole('combobox', { name: 'Parent' });
  const dialog = page.getByRole('dialog', { name: 'New category' });
  const createParent = async (typed: string, release: () => void, done: string) => {
    await hears(page, 'status', 'Saving…');
    await parent.fill(typed);
    await page.getByRole('treeitem', { name: `Create “${typed}”…` }).click();
    await dialog.getByLabel('Name').fill(`${typed} as well`);
    release();
    await hears(page, 'status', done);
    // A navigation would follow at once.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    assert.is(await dialog.getByLabel('Name').inputValue(), `${typed} as well`);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await hears(page, 'status', `${typed} as well is saved.`);
  };
  await page.goto(at('/categories/new'));
  await page.getByLabel('Name', { exact: true }).fill('Created slowly');
  const created = await hold(page, '**/admin/categories/', ...WRITES);
  await press('Save');
  await createParent('Meanwhile', created, 'Created slowly is saved.');
  await page.waitForURL(/\/categories\/\d+$/);
  await page.getByRole('heading', { name: 'Created slowly' }).waitFor();
  await page.getByText('Unsaved changes').waitFor();
  assert.is(await parent.inputValue(), 'Meanwhile as well');
  // The user has gone on in the same form, as it seems: nothing was lost and restored.
  assert.is(await page.getByText('Your unsaved changes were restored.').count(), 0);
  page.once('dialog', (question) => question.accept());
  await page.reload();
  await page.getByText('Your unsaved changes were restored.').waitFor();
  assert.is(await parent.inputValue(), 'Meanwhile as well');
  await page.getByRole('button', { name: 'Discard changes' }).first().click();
  const deleted = await hold(page, '**/admin/categories/*/', ...WRITES);
  await press('Delete');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await createParent('Later', deleted, 'Created slowly was deleted.');
  await page.getByRole('table', { name: 'Categories' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('a bulk edit that fails after its dialog was left says so', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await send(server, 'PATCH', '/admin/skus/12/', { body: { is_launched: false } });
  await page.goto(at('/books'));
  await page.getByRole('link', { name: 'SKUs', exact: true }).click();
  await page.getByRole('row').nth(12).getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog');
  // The first choice, "Put on sale", so that nothing is typed and nothing is asked.
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  const left = Promise.withResolvers<void>();
  const isBulk = (url: URL) => url.pathname === '/admin/skus/bulk/';
  await page.route(isBulk, async (route) => {
    await left.promise;
    await route.abort();
  });
  await dialog.getByRole('button', { name: 'Change 1 item' }).click();
  await dialog.getByText('Saving…').waitFor();
  await page.goBack();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  left.resolve();
  await hears(page, 'alert', 'The server does not answer.');
  assert.is((await read(server, '/admin/skus/12/')).is_launched, false);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a form that is refused after it was left says so', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const said of ['This item has been changed meanwhile', 'is refused by the test']) {
    await page.goto(at('/brands/5'));
    await page.getByLabel('Name').fill('Not saved');
    const left = Promise.withResolvers<void>();
    await page.route('**/admin/brands/5/', async (route) => {
      if (route.request().method() === 'PATCH') await left.promise;
      if (!said.startsWith('is') || route.request().method() !== 'PATCH') await route.continue();
      else await route.fulfill({ status: 422, json: { error: said } });
    });
    await page.keyboard.press('Control+s');
    await page.getByText('Saving…').waitFor();
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('table', { name: 'Books' }).waitFor();
    const theirs = { body: { name: `Theirs, before "${said}"` } };
    assert.is((await send(server, 'PATCH', '/admin/brands/5/', theirs)).status, 200);
    left.resolve();
    await hears(page, 'alert', said);
    await page.unroute('**/admin/brands/5/');
  }
  assert.equal(faults(visitor, [/412/, /422/]), []);
});

test.run();
