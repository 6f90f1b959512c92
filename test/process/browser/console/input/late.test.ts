/** Responses that arrive in another order than their requests were sent (spec 13.5). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make } from '../../../../support/catalog.ts';
import { until } from '../../../../support/until.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, hold, makeAccount, priceIn, show, stage } from '../console.ts';

const scene = stage();

interface HeldResponse {
  /** Resolves when the server has answered. */
  readonly answered: Promise<void>;
  /** Gives the page the response. Resolves when the page has it. */
  readonly release: () => Promise<void>;
}

/** Holds back the next response to a read of a path; later ones pass. */
async function holdResponse(page: Page, path: RegExp): Promise<HeldResponse> {
  const answered = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const given = Promise.withResolvers<void>();
  let isFirst = true;
  await page.route(path, async (route) => {
    if (!isFirst || route.request().method() !== 'GET') {
      await route.fallback();
      return;
    }
    isFirst = false;
    const response = await route.fetch();
    answered.resolve();
    await held.promise;
    // A request that was cancelled takes no response.
    await route.fulfill({ response }).catch(() => null);
    given.resolve();
  });
  return {
    answered: answered.promise,
    async release() {
      held.resolve();
      await given.promise;
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    },
  };
}

testInBrowser('a late response about an SPU does not remove what was added since', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  const option = page.getByLabel('New option of Storage');
  await option.waitFor();
  const { answered, release } = await holdResponse(page, /\/admin\/options\/\?/);
  await option.fill('3 TB');
  await option.press('Enter');
  await answered;
  await option.fill('5 TB');
  await option.press('Enter');
  const last = page.getByRole('button', { name: 'Remove 5 TB' });
  await last.waitFor();
  await release();
  await last.click();
  await hears(page, 'status', '5 TB was deleted.');
});

testInBrowser('a bulk edit shows the name that was chosen while it is read again', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  const brand = await make(server, '/admin/brands/', { name: 'Held' });
  await page.goto(at('/goods'));
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('What to do').selectOption({ label: 'Brand: set' });
  const field = page.getByRole('dialog').getByRole('combobox', { name: 'Brand' });
  await field.fill('Held');
  await page.getByRole('option', { name: 'Held', exact: true }).click();
  const release = await hold(page, ({ pathname }) => pathname === `/admin/brands/${brand.id}/`);
  await page.getByRole('button', { name: 'Show what changes' }).click();
  const changes = page.getByRole('table', { name: 'Changes' });
  await changes.waitFor();
  assert.is(await changes.getByText(`#${brand.id}`).count(), 0);
  assert.ok((await changes.getByText('Held', { exact: true }).count()) > 0);
  release();
});

testInBrowser('a late response about accounts does not show an earlier state', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'first', 'viewer');
  await makeAccount(server, 'second', 'viewer');
  const { page } = await visit('admin');
  await page.goto(at('/accounts'));
  const active = (name: string) => page.getByRole('switch', { name: `${name} is active` });
  await active('first').waitFor();
  const { answered, release } = await holdResponse(page, /\/admin\/users\/\?/);
  await active('first').click();
  await answered;
  const second = page.waitForResponse(/\/admin\/users\/\?/);
  await active('second').click();
  await hears(page, 'status', 'second is saved.');
  await second;
  await page.getByRole('switch', { name: 'second is active', checked: false }).waitFor();
  await release();
  await page.getByRole('switch', { name: 'second is active', checked: false }).waitFor();
});

testInBrowser('a new category has its name before the tree is read again', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const parent = page.getByRole('combobox', { name: 'Parent' });
  await page.goto(at('/categories/new'));
  await parent.fill('Toasters');
  await page.getByRole('treeitem', { name: 'Create “Toasters”…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New category' });
  await dialog.getByRole('combobox', { name: 'Parent' }).fill('Kitchen Appliances');
  await dialog.getByRole('treeitem', { name: 'Kitchen Appliances' }).click();
  const tree = '**/admin/categories/export/?*';
  const release = await hold(page, tree);
  const asked = page.waitForRequest(tree);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await hears(page, 'status', 'Toasters is saved.');
  const request = await asked;
  const path = 'Home and Kitchen › Kitchen Appliances › Toasters';
  assert.is(await parent.inputValue(), path);
  release();
  await (await request.response())?.finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  assert.is(await parent.inputValue(), path);
});

testInBrowser('a category that is newer than a late tree is named', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('viewer');
  const { answered, release } = await holdResponse(page, /\/admin\/categories\/export\//);
  await page.goto(at('/goods'));
  await answered;
  const { id } = await make(server, '/admin/categories/', { name: 'Since then', parent_id: null });
  await show(page, `/skus?category_id=${id}`);
  const category = page.getByRole('combobox', { name: 'Category', exact: true });
  await until('it has its number', async () => (await category.inputValue()) === `#${id}`);
  await release();
  await until('it has its name', async () => (await category.inputValue()) === 'Since then');
});

testInBrowser('what was chosen has its name before the name is read', async () => {
  const { at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await page.goto(at('/goods?brand_id=1'));
  await until('the first name is shown', async () => (await brand.inputValue()) === 'Auralune');
  await brand.fill('Brüsh');
  const item = /\/admin\/brands\/\d+\/$/;
  const release = await hold(page, ({ pathname }) => item.test(pathname));
  const asked = page.waitForRequest(item);
  await page.getByRole('option', { name: 'Brüsholt' }).click();
  await asked;
  assert.is(await brand.inputValue(), 'Brüsholt');
  release();
  assert.equal(faults(visitor), []);
});

testInBrowser('a new brand has its name before the name is read', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await page.goto(at('/goods/new'));
  await brand.fill('Named at once');
  await page.getByRole('option', { name: 'Create “Named at once”…' }).click();
  const item = /\/admin\/brands\/\d+\/$/;
  const release = await hold(page, ({ pathname }) => item.test(pathname));
  const asked = page.waitForRequest(item);
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await asked;
  assert.is(await brand.inputValue(), 'Named at once');
  release();
  assert.equal(faults(visitor), []);
});

testInBrowser('a brand that is created after its dialog was cancelled is not chosen', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/2'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  await brand.fill('Cancelled brand');
  await page.getByRole('option', { name: /Cancelled brand/ }).click();
  const release = await hold(page, '**/admin/brands/', 'POST');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('First letter').fill('C');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Saving…').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await brand.fill('Lumivane');
  await page.getByRole('option', { name: 'Lumivane', exact: true }).click();
  release();
  await hears(page, 'status', 'Cancelled brand is saved.');
  assert.is(await brand.inputValue(), 'Lumivane');
  assert.equal(faults(visitor), []);
});

testInBrowser('a late new option of a SKU leaves what was chosen meanwhile', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/1'));
  const choices = page.getByRole('group', { name: 'Specifications' }).locator('select');
  await choices.nth(1).waitFor();
  const before = await choices.nth(1).inputValue();
  await page.getByRole('button', { name: 'Add another…' }).first().click();
  const release = await hold(page, '**/admin/options/', 'POST');
  await page.keyboard.type('Late option');
  await page.keyboard.press('Enter');
  await choices.nth(1).selectOption({ index: 2 });
  const chosen = await choices.nth(1).inputValue();
  assert.is.not(chosen, before);
  release();
  await page.getByRole('option', { name: 'Late option' }).waitFor({ state: 'attached' });
  assert.is(await choices.nth(0).locator('option:checked').textContent(), 'Late option');
  assert.is(await choices.nth(1).inputValue(), chosen);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'an account that is saved after its dialog was cancelled closes no other',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    const send = async (name: string) => {
      await page.getByRole('button', { name: 'New account' }).click();
      await dialog.getByLabel('User name').fill(name);
      await dialog.getByLabel('Password').fill('correct horse battery');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByText('Saving…').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    };
    await page.goto(at('/accounts'));
    for (const [name, role, text] of [
      ['cancelled', 'status', 'cancelled is saved.'],
      ['cancelled', 'alert', 'is the name of another user'],
    ] as const) {
      const release = await hold(page, '**/admin/users/', 'POST');
      await send(name);
      await page.getByRole('button', { name: 'New account' }).click();
      await dialog.getByLabel('User name').fill('next');
      release();
      await page
        .locator(`.notices ${role === 'alert' ? '.alert' : '.status'}`)
        .getByText(text)
        .waitFor();
      assert.is(await dialog.getByLabel('User name').inputValue(), 'next');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.unrouteAll();
    }
    assert.equal(faults(visitor, [/422/]), []);
  },
);

testInBrowser('a deletion that ends after its dialog was cancelled closes no other', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const name of ['Late a', 'Late b', 'Late c']) await make(server, '/admin/brands/', { name });
  await page.goto(at('/brands?q=Late'));
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const release = await hold(page, '**/admin/brands/*/', 'DELETE');
  const sent = page.waitForRequest((request) => request.method() === 'DELETE');
  await page.getByRole('button', { name: 'Delete 3 items' }).click();
  await sent;
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const what = page.getByRole('dialog').getByLabel('What to do');
  await what.selectOption({ label: 'Logo: set' });
  release();
  await page.locator('.notices').getByText('1 item was deleted.').waitFor();
  assert.is(await what.locator('option:checked').textContent(), 'Logo: set');
  assert.equal(faults(visitor), []);
});

testInBrowser('a form shows what a list was still saving when it was opened', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const price = page.getByLabel('Price', { exact: true });
  const launched = page.getByLabel('On sale');
  const item = page.getByRole('rowheader').first().getByRole('link');
  const write = async (change: () => Promise<void>, leave: () => Promise<unknown>) => {
    const release = await hold(page, '**/admin/skus/*/', 'PATCH');
    await change();
    await leave();
    await price.waitFor();
    release();
  };
  await page.goto(at('/skus?q=Coral'));
  await item.waitFor();
  const typed = async () => {
    await priceIn(page).click();
    await page.keyboard.type('4711');
  };
  await write(typed, () => item.click());
  await until('the price is shown', async () => (await price.inputValue()) === '4711.00');
  const wasLaunched = await launched.isChecked();
  await show(page, '/skus?q=Coral');
  await write(
    () => page.getByRole('switch').first().click(),
    () => item.click(),
  );
  await until('it is shown', async () => (await launched.isChecked()) !== wasLaunched);
  // What is typed is saved by Back, too, and no other user has changed the item.
  await show(page, '/skus?q=Coral');
  await typed();
  await page.keyboard.type('1');
  await write(
    async () => {},
    () => page.goBack(),
  );
  await until('the price is shown', async () => (await price.inputValue()) === '47111.00');
  await page.getByLabel('Caption').fill('Typed after a price');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'is saved.');
  assert.equal(faults(visitor), []);
});

test.run();
