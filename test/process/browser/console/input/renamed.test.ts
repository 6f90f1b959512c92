/** An option is renamed where it is shown (spec 13.5). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, hold, stage } from '../console.ts';

const scene = stage();

/** An SPU with one option, which is being renamed on the page. */
async function renaming(page: Page, value: string, to: string): Promise<string> {
  const { server, at } = scene();
  const { id: spec } = await make(server, '/admin/specs/', { name: `Spec ${value}`, spu_id: 5 });
  const { id } = await make(server, '/admin/options/', { value, spec_id: spec });
  await page.goto(at('/goods/5'));
  await page.getByRole('button', { name: value, exact: true }).click();
  await page.getByLabel('Value', { exact: true }).fill(to);
  return `/admin/options/${id}/`;
}

testInBrowser(
  'the name of an option that could not be saved stays, and is sent again',
  async () => {
    const { server, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const option = await renaming(page, 'Cherry', 'Cherry red');
    const field = page.getByLabel('Value', { exact: true });
    const isWrite = (url: URL) => url.pathname.endsWith(option);
    await page.route(isWrite, (route) => route.abort());
    await field.press('Enter');
    await hears(page, 'alert', 'The server does not answer. Nothing that you have typed is lost');
    assert.is(await field.inputValue(), 'Cherry red');
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
    await page.unroute(isWrite);
    await field.press('Enter');
    await hears(page, 'status', 'Cherry: Value is now Cherry red.');
    await page.getByRole('button', { name: 'Cherry red', exact: true }).waitFor();
    assert.is((await read(server, option)).value, 'Cherry red');
    assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  },
);

testInBrowser('a name of an option that is being saved takes no other text', async () => {
  const { server, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const option = await renaming(page, 'Pear', 'Pear green');
  const field = page.getByLabel('Value', { exact: true });
  const isWrite = (url: URL) => url.pathname.endsWith(option);
  const release = await hold(page, isWrite);
  await field.press('Enter');
  await page.keyboard.type(' and not sent');
  await page.keyboard.press('Escape');
  assert.is(await field.inputValue(), 'Pear green');
  assert.is(await field.getAttribute('aria-busy'), 'true');
  release();
  await page.getByRole('button', { name: 'Pear green', exact: true }).waitFor();
  assert.is((await read(server, option)).value, 'Pear green');
  assert.equal(faults(visitor), []);
});

testInBrowser('an option has its new name before the list is read again', async () => {
  const { server, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const option = await renaming(page, 'Olive', 'Olive green');
  const field = page.getByLabel('Value', { exact: true });
  const release = await hold(page, '**/admin/options/?*');
  await field.press('Enter');
  await hears(page, 'status', 'Olive: Value is now Olive green.');
  await field.waitFor({ state: 'hidden' });
  const name = page.locator('.chips button.value:focus');
  assert.is(await name.innerText(), 'Olive green');
  // A second change is not taken for one of another user.
  await name.press('Enter');
  await field.fill('Olive black');
  await field.press('Enter');
  await hears(page, 'status', 'Olive green: Value is now Olive black.');
  release();
  await page.getByRole('button', { name: 'Remove Olive black' }).waitFor();
  assert.is((await read(server, option)).value, 'Olive black');
  assert.equal(faults(visitor), []);
});

testInBrowser('a new name of another user for an option is not overwritten unseen', async () => {
  const { server, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const option = await renaming(page, 'Plum', 'Mine');
  assert.is((await send(server, 'PATCH', option, { body: { value: 'Theirs' } })).status, 200);
  await page.getByLabel('Value', { exact: true }).press('Enter');
  const changed =
    'Plum has been changed meanwhile: Value is now Theirs. Your change was not saved.';
  await hears(page, 'alert', changed);
  assert.is((await read(server, option)).value, 'Theirs');
  assert.is(await page.getByLabel('Value', { exact: true }).inputValue(), 'Mine');
  // Now that the user has seen it, it may be overwritten.
  await page.getByRole('button', { name: 'Remove Theirs' }).waitFor();
  await page.getByLabel('Value', { exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Mine', exact: true }).waitFor();
  assert.is((await read(server, option)).value, 'Mine');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Theirs', exact: true }).waitFor();
  assert.is((await read(server, option)).value, 'Theirs');
  assert.equal(faults(visitor), []);
});

testInBrowser('an option that is only looked at is left as it is', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') writes.push(request.postData() ?? '');
  });
  const field = page.getByLabel('Value', { exact: true });
  const { id: spec_id } = await make(server, '/admin/specs/', { name: 'Looked at', spu_id: 5 });
  for (const value of [' Plum ', 'Plum\nand fig']) {
    await make(server, '/admin/options/', { value, spec_id });
    await page.goto(at('/goods/5'));
    await page.getByRole('button', { name: value.trim(), exact: true }).click();
    await field.press('Enter');
    await field.waitFor({ state: 'hidden' });
    assert.equal(writes, []);
  }
  // White space at the ends can be removed.
  await page.getByRole('button', { name: 'Plum', exact: true }).click();
  await field.fill('Plum');
  await field.press('Enter');
  await field.waitFor({ state: 'hidden' });
  assert.equal(writes, [JSON.stringify({ value: 'Plum' })]);
  assert.equal(faults(visitor), []);
});

test.run();
