/** What is shown and kept after another user has changed the same item (spec 13.5). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { testInBrowser } from '../../browser.ts';
import { hears, stage } from '../console.ts';

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
  return page.getByRole('alertdialog', { name: 'Another user has changed this item' });
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
    await page.context().close();
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
  await page.context().close();
});

test.run();
