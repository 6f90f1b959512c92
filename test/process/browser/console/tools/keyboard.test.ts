/** Work without a pointer: where the focus begins in a dialog, and where it goes on (spec 13.4). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../../../support/client.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, focused, hears, isFocusInSight, stage } from '../console.ts';

const scene = stage();

testInBrowser('a dialog begins at its first field, also if it comes later', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/accounts'));
  await page.getByRole('button', { name: 'New account' }).press('Enter');
  await focused(page, '#account-name');
  await page.keyboard.press('Escape');
  await page.goto(at('/brands'));
  await page.getByLabel('Select Auralune').press('Space');
  await page.getByRole('button', { name: 'Edit…' }).press('Enter');
  await focused(page, '#bulk-operation');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Delete…' }).press('Enter');
  await focused(page, 'footer button:first-of-type');
  await page.goto(at('/goods/new'));
  await page.getByLabel('Brand').fill('Typed in the form');
  await page.getByRole('option', { name: 'Create' }).click();
  await focused(page, '#create-name');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Typed in the form is saved.');
  await focused(page, '#field-brand_id');
  assert.equal(faults(visitor), []);
});

testInBrowser('the focus is among what can be done when everything is selected', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  // It is disabled until the rows are there, and a key pressed before that does nothing.
  await page
    .getByRole('checkbox', { name: 'Select all on this page', disabled: false })
    .press('Space');
  const all = page.getByRole('button', { name: 'Select all 36' });
  await all.press('Enter');
  await all.waitFor({ state: 'hidden' });
  await focused(page, '.selection button');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Change 36 items' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('in a narrow window the bar of a selection does not cover the focus', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 400 });
  await page.goto(at('/skus'));
  const box = (row: number) => page.getByRole('row').nth(row).getByRole('checkbox').first();
  await box(1).press('Space');
  await box(20).focus();
  // Those above the window are scrolled to its top.
  for (let row = 19; row > 2; row -= 1) {
    await box(row).focus();
    assert.ok(await isFocusInSight(page), `row ${row}`);
  }
});

testInBrowser('in a narrow window a table scrolls to the whole of what has the focus', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { width: 320 });
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('row').nth(1).waitFor();
  await page.getByRole('table').getByRole('checkbox').first().focus();
  const hidden = `(() => {
    const { left, right } = document.activeElement.getBoundingClientRect();
    const table = document.activeElement.closest('.table').getBoundingClientRect();
    return Math.max(table.left - left, right - table.right, 0);
  })()`;
  // The buttons of the header, and all of the first row.
  for (let stop = 1; stop <= 14; stop += 1) {
    await page.keyboard.press('Tab');
    assert.ok((await page.evaluate<number>(hidden)) < 1, `stop ${stop}`);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('a frame that comes late does not take the focus from the user', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  for (const [path, field, next] of [
    ['/skus', (each: Page) => each.getByRole('row').nth(1).getByTitle('Change').last(), '#search'],
    [
      '/goods/2',
      (each: Page) => each.locator('.chips button.value').first(),
      '[aria-label="New specification"]',
    ],
  ] as const) {
    await page.goto(at(path));
    await field(page).click();
    await page.evaluate(`
      globalThis.frames = [];
      globalThis.requestAnimationFrame = (run) => frames.push(run);`);
    await page.keyboard.press('Escape');
    await page.locator(next).focus();
    await page.evaluate('for (const run of frames) run()');
    assert.ok(await page.locator(next).evaluate((element) => element.matches(':focus')), path);
  }
});

testInBrowser(
  'Escape closes the menu of a narrow window, and its button has the focus',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('viewer', { width: 360 });
    const { page } = visitor;
    await page.goto(at('/skus'));
    const menu = page.getByRole('button', { name: 'Menu' });
    for (const within of [menu, page.getByRole('link', { name: 'Brands', exact: true })]) {
      await menu.press('Enter');
      await within.press('Escape');
      assert.is(await menu.getAttribute('aria-expanded'), 'false');
      await focused(page, 'button.menu');
    }
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'Alt and Page Down turn the page wherever the focus is, but below no dialog',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/brands'));
    await page.getByRole('link', { name: 'SKUs', exact: true }).press('Enter');
    await page.getByText('1–20 of 36').waitFor();
    await focused(page, '#content');
    await page.keyboard.press('Alt+PageDown');
    await page.getByText('21–36 of 36').waitFor();
    await page.keyboard.press('Alt+PageDown');
    await page.getByRole('button', { name: 'Columns' }).press('Alt+PageUp');
    await page.getByText('1–20 of 36').waitFor();
    await page.getByLabel('Select all on this page').check();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('dialog').getByLabel('What to do').press('Alt+PageDown');
    assert.not.match(page.url(), /page=2/);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a question has no header and footer of a page', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/1'));
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: 'Cancel' }).waitFor();
  for (const role of ['banner', 'contentinfo'] as const) {
    assert.is(await question.getByRole(role).count(), 0, role);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('Tab moves past a description that is a list, and leaves it as it is', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const body = { desc_detail: '<ul><li>First</li><li>Second</li></ul>' };
  await send(server, 'PATCH', '/admin/goods/2/', { body });
  await page.goto(at('/goods/2'));
  const description = page.getByRole('textbox', { name: 'Product detail' });
  // From here the editor is entered at its beginning.
  await page.getByRole('button', { name: 'HTML' }).first().focus();
  await page.keyboard.press('Tab');
  await focused(page, '#field-desc_detail');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Tab');
  await focused(page, 'button[aria-label="Bold"]');
  await page.keyboard.press('Shift+Tab');
  await focused(page, '#field-desc_detail');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+Tab');
  await focused(page, 'button[aria-pressed]');
  assert.equal(await description.getByRole('listitem').allInnerTexts(), ['First', 'Second']);
  assert.is(await page.getByText('Unsaved changes').count(), 0);
  assert.equal(faults(visitor), []);
});

test.run();
