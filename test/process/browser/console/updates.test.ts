/** A console that is still open after the server was updated (spec 13.6: files are loaded late). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { testInBrowser } from '../browser.ts';
import { faults, hears, stage } from './console.ts';

const scene = stage();

const UPDATED = 'The console has been updated on the server.';

/** Answers as a server with another version: the file is gone, and the page names others. */
async function update(page: Page, file: string): Promise<() => Promise<void>> {
  const script = `**/console/${file}-*.js`;
  await page.route(script, (route) => route.fulfill({ status: 404, body: 'Not Found' }));
  await page.route('**/console/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script src="/console/console-0.js">' }),
  );
  return async () => {
    await page.unroute(script);
    await page.unroute('**/console/');
  };
}

testInBrowser('a screen whose file is gone reports the update and offers to reload', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const undo = await update(page, 'more-screens');
  await page.goto(at('/brands'));
  await page.getByRole('link', { name: 'New' }).click();
  await page.getByRole('main').getByRole('alert').filter({ hasText: UPDATED }).waitFor();
  assert.is(await page.getByText('The server does not answer.').count(), 0);
  await undo();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByLabel('Name').waitFor();
  assert.is(page.url(), at('/brands/new'));
  assert.equal(faults(visitor, [/404/]), []);
});

testInBrowser('an action whose file is gone reports the update and offers to reload', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands'));
  const undo = await update(page, 'de');
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await hears(page, 'alert', UPDATED);
  await undo();
  await page.getByRole('button', { name: 'Reload' }).click();
  // The choice is kept for the next visit.
  await page.getByRole('table', { name: 'Marken' }).waitFor();
  assert.equal(faults(visitor, [/404/]), []);
});

testInBrowser('a file that cannot be loaded is loaded again when the server answers', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const status of [null, 503]) {
    for (const path of ['**/console/more-screens-*.js', '**/console/']) {
      await page.route(path, (route) =>
        status === null ? route.abort() : route.fulfill({ status, body: 'Unavailable' }),
      );
    }
    await page.goto(at('/brands'));
    await page.getByRole('link', { name: 'New' }).click();
    await page.getByRole('main').getByText('The server does not answer.').waitFor();
    assert.is(await page.getByRole('button', { name: 'Reload' }).count(), 0);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('Name').waitFor();
  }
  assert.equal(faults(visitor, [/ERR_FAILED/, /503/]), []);
});

testInBrowser('an update of the server does not discard unsaved input', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const undo = await update(page, 'rich-text');
  await page.goto(at('/goods/2'));
  const name = page.getByLabel('Name');
  await name.fill('Typed before the update');
  await page.getByRole('alert').filter({ hasText: UPDATED }).first().waitFor();
  await undo();
  const reload = page.getByRole('button', { name: 'Reload' }).first();
  const asked = page.waitForEvent('dialog');
  const clicked = reload.click();
  await (await asked).dismiss();
  await clicked;
  assert.is(await name.inputValue(), 'Typed before the update');
  page.once('dialog', (dialog) => void dialog.accept());
  await reload.click();
  await page.getByText('Your unsaved changes were restored.').waitFor();
  assert.is(await name.inputValue(), 'Typed before the update');
  await page.getByRole('textbox', { name: 'Packaging' }).waitFor();
  assert.equal(faults(visitor, [/404/]), []);
});

test.run();
