/** What is shown and kept after another user has changed the same item (spec 13.5). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send, tokenFor } from '../../../../support/client.ts';
import { until } from '../../../../support/until.ts';
import { overflow, shoot, testInBrowser, violationsOn } from '../../browser.ts';
import { type Look } from '../../visits.ts';
import { faults, hears, hold, stage } from '../console.ts';

const scene = stage();

const packaging = (page: Page) => page.getByRole('textbox', { name: 'Packaging' });

/** Changes the packaging of an SPU, which another user changes too, and tries to save. */
async function collide(page: Page, id: number, theirs: string) {
  const { server, at } = scene();
  await page.goto(at(`/goods/${id}`));
  await packaging(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' Mine.');
  const body = { desc_pack: theirs };
  assert.is((await send(server, 'PATCH', `/admin/goods/${id}/`, { body })).status, 200);
  await page.keyboard.press('Control+s');
  return page.getByRole('alertdialog', { name: 'This item has been changed meanwhile' });
}

testInBrowser(
  'the description of another user that is kept is shown, and edited further',
  async () => {
    const { server, visit } = scene();
    const { page } = await visit('editor');
    const dialog = await collide(page, 2, '<p>Theirs.</p>');
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();
    await dialog.getByRole('button', { name: 'Edit further' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.is(await packaging(page).textContent(), 'Theirs.');
    await packaging(page).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' And more.');
    await page.keyboard.press('Control+s');
    await hears(page, 'status', 'is saved');
    assert.is((await read(server, '/admin/goods/2/')).desc_pack, '<p>Theirs. And more.</p>');
  },
);

testInBrowser('after the version of another user is saved, it is shown', async () => {
  const { server, visit } = scene();
  const { page } = await visit('editor');
  const dialog = await collide(page, 3, '<p>Theirs.</p>');
  await dialog.getByRole('button', { name: 'Keep theirs' }).click();
  await dialog.getByRole('button', { name: 'Save the chosen version' }).click();
  await hears(page, 'status', 'is saved');
  assert.is((await read(server, '/admin/goods/3/')).desc_pack, '<p>Theirs.</p>');
  assert.is(await packaging(page).textContent(), 'Theirs.');
});

testInBrowser(
  'the last writer is named unless specifications have changed, whose writer is not known',
  async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('editor');
    const entries: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/audits/')) entries.push(request.url());
    });
    const dialog = page.getByRole('alertdialog');
    const save = dialog.getByRole('button', { name: 'Save the chosen version' });
    for (const [stock, write, asked] of [
      ['31', () => send(server, 'PATCH', '/admin/skus/6/', { body: { price: 1 } }), 1],
      ['32', () => send(server, 'DELETE', '/admin/skus/6/specs/11/'), 0],
    ] as const) {
      entries.length = 0;
      await page.goto(at('/skus/6'));
      await page.getByLabel('Stock').fill(stock);
      assert.ok((await write()).status < 300);
      await page.getByRole('button', { name: 'Save' }).click();
      await save.waitFor();
      if (asked === 1) await dialog.getByText(/^Last changed by /).waitFor();
      await save.click();
      await hears(page, 'status', 'is saved');
      assert.is(entries.length, asked, stock);
    }
  },
);

testInBrowser('a user who has changed the item in another tab is told so', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/skus/7'));
  await page.getByLabel('Stock').fill('33');
  const token = await tokenFor('editor', { sub: 'editor-of-the-test' });
  const { status } = await send(server, 'PATCH', '/admin/skus/7/', { body: { price: 1 }, token });
  assert.is(status, 200);
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'This item has been changed meanwhile' });
  await dialog.getByText('You have changed it last, in another window or tab').waitFor();
  await shoot(page, 'conflict-own', false);
});

const LONG = 'The same sentence in both versions. '.repeat(40);

for (const look of [
  { width: 1280 },
  { width: 1280, dark: true },
  { width: 320 },
  { width: 320, dark: true },
] satisfies Look[]) {
  testInBrowser(
    `versions that differ late in a long text are told apart: ${JSON.stringify(look)}`,
    async () => {
      const { server, visit } = scene();
      const { page } = await visit('editor', look);
      const before = `<p>${LONG}</p>`;
      await send(server, 'PATCH', '/admin/goods/4/', { body: { desc_pack: before } });
      const dialog = await collide(page, 4, `<p>${LONG}Theirs.</p>`);
      for (const side of ['Yours', 'Theirs']) {
        const cell = dialog.getByRole('cell', { name: side }).first();
        const mark = cell.locator('mark');
        assert.match((await mark.textContent()) ?? '', side === 'Yours' ? /^Mine/ : /^Theirs/);
        await cell.getByRole('radio').scrollIntoViewIfNeeded();
        // It is scrolled to after the frame in which it appears.
        const isInSight = `(() => {
          const element = document.querySelectorAll('dialog mark')[${side === 'Yours' ? 0 : 1}];
          const box = element.parentElement.getBoundingClientRect();
          const { top, bottom, left, right } = element.getBoundingClientRect();
          return top >= box.top && bottom <= box.bottom && left >= 0 && right <= innerWidth;
        })()`;
        await until(`the difference is in sight: ${side}`, () => page.evaluate<boolean>(isInSight));
      }
      assert.is(await overflow(page), 0);
      await shoot(page, `conflict-${look.width}${'dark' in look ? '-dark' : ''}`, false);
      assert.equal(await violationsOn(page), []);
    },
  );
}

testInBrowser(
  'the options of a SKU that another user has moved are chosen with its SPU',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const { id: _, ...copied } = await read(server, '/admin/skus/1/');
    for (const side of ['theirs', 'mine']) {
      const { id } = await make(server, '/admin/skus/', { ...copied, code: null });
      await page.goto(at(`/skus/${id}`));
      await page.getByLabel('Storage').selectOption({ index: 1 });
      await page.getByLabel('Caption').fill(`Keeps ${side}`);
      const body = { spu_id: 2, specs: [] };
      const patched = await send(server, 'PATCH', `/admin/skus/${id}/`, {
        body,
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      assert.is(patched.status, 200);
      // The chosen version is sent before these are read.
      const release = await hold(page, '**/admin/goods/*/specs/**');
      await page.keyboard.press('Control+s');
      const dialog = page.getByRole('alertdialog', {
        name: 'This item has been changed meanwhile',
      });
      await dialog.waitFor();
      const specs = dialog.getByRole('row', { name: /^Specifications/ });
      const kept = (name: string) => specs.getByLabel(name).isChecked();
      assert.is(await kept('Theirs'), true);
      if (side === 'mine') await specs.getByLabel('Yours').check();
      await dialog.getByRole('button', { name: 'Save the chosen version' }).click();
      await hears(page, 'status', 'is saved.');
      release();
      const now = await read(server, `/admin/skus/${id}/`);
      assert.is(now.caption, `Keeps ${side}`);
      assert.equal([now.goods_id, now.specs.length], side === 'mine' ? [1, 2] : [2, 0]);
      await page.unroute('**/admin/goods/*/specs/**');
      await send(server, 'DELETE', `/admin/skus/${id}/`);
    }
    assert.equal(faults(visitor, [/412/]), []);
  },
);

testInBrowser('SKUs do not follow their SPU if another user has moved one of them', async () => {
  const { server, visit, at } = scene();
  const { page } = await visit('editor');
  const { category2_id: parent } = await read(server, '/admin/goods/1/');
  const made = async (name: string) => {
    const { id } = await make(server, '/admin/categories/', { name, parent_id: parent });
    return id as number;
  };
  const [target, theirs] = [await made('Folding phones'), await made('Outdoor phones')];
  const moveAway = async (id: number) => {
    const body = { category_id: theirs };
    assert.is((await send(server, 'PATCH', `/admin/skus/${id}/`, { body })).status, 200);
  };
  const categoryOf = async (id: number) => (await read(server, `/admin/skus/${id}/`)).category_id;
  const former = await categoryOf(1);
  await page.goto(at('/goods/1'));
  await page.getByRole('combobox', { name: 'Category 3' }).fill('folding');
  await page.getByRole('treeitem', { name: 'Folding phones' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  const offer = page.getByRole('button', { name: /^Move \d+ SKUs$/ });
  await offer.waitFor();
  await moveAway(2);
  await offer.click();
  await hears(page, 'alert', '1 of the SKUs changed since then. Nothing was moved.');
  assert.equal([await categoryOf(1), await categoryOf(2)], [former, theirs]);
  // The screen has read the SKUs again, and offers to move those that are left.
  await page.getByRole('button', { name: 'Move 4 SKUs' }).click();
  await hears(page, 'status', '4 SKUs are now in');
  assert.equal([await categoryOf(1), await categoryOf(2)], [target, theirs]);
  await moveAway(3);
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'alert', '1 of the items changed since then. Nothing was undone.');
  assert.equal([await categoryOf(1), await categoryOf(3)], [target, theirs]);
});

testInBrowser(
  'a value is not overwritten that a list has read while another was typed',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const before = (await read(server, '/admin/skus/9/')).stock;
    await page.goto(at('/skus'));
    const row = page.getByRole('row').nth(9);
    const cell = page.getByRole('textbox', { name: 'Stock', exact: true });
    await row.getByTitle('Change').last().click();
    await cell.fill('9001');
    await cell.press('Enter');
    await hears(page, 'status', 'Stock is now 9,001.');
    const release = await hold(page, '**/admin/skus/9/');
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByTitle('Change').last().click();
    await cell.fill('9002');
    const list = page.waitForResponse('**/admin/skus/?*');
    release();
    await list;
    await hears(page, 'status', `Stock is now ${before}.`);
    await cell.press('Enter');
    await hears(page, 'alert', `Stock is now ${before}. Your change was not saved.`);
    assert.is((await read(server, '/admin/skus/9/')).stock, before);
    // Now that the user has seen it, it may be overwritten.
    await cell.press('Enter');
    await hears(page, 'status', 'Stock is now 9,002.');
    assert.is((await read(server, '/admin/skus/9/')).stock, 9002);
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'an option is not renamed over a name that was read while another was typed',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const spec = await make(server, '/admin/specs/', { name: 'Taste', spu_id: 6 });
    const { id } = await make(server, '/admin/options/', { value: 'Sweet', spec_id: spec.id });
    await page.goto(at('/goods/6'));
    await page.getByRole('button', { name: 'Sweet', exact: true }).click();
    const field = page.getByLabel('Value', { exact: true });
    await field.fill('Mine');
    const theirs = { body: { value: 'Theirs' } };
    assert.is((await send(server, 'PATCH', `/admin/options/${id}/`, theirs)).status, 200);
    // What else is written reads the options again.
    await page.evaluate(`(() => {
    const added = document.querySelector('[aria-label="New option of Taste"]');
    added.value = 'Sour';
    added.dispatchEvent(new InputEvent('input', { bubbles: true }));
    added.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  })()`);
    await page.getByRole('button', { name: 'Remove Theirs' }).waitFor();
    await field.press('Enter');
    await hears(page, 'alert', 'Value is now Theirs. Your change was not saved.');
    assert.is((await read(server, `/admin/options/${id}/`)).value, 'Theirs');
    assert.is(await field.inputValue(), 'Mine');
    assert.equal(faults(visitor), []);
  },
);

test.run();
