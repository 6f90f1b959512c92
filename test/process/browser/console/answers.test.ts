/** Answers that come late or not at all, and what is done twice meanwhile (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Page } from 'playwright-core';
import { read } from '../../../support/catalog.ts';
import { testInBrowser } from '../browser.ts';
import { faults, hears, stage } from './console.ts';

const scene = stage();

/** Holds the requests of a method back until the function that is returned is called. */
async function hold(page: Page, path: string, method: string): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().method() === method) await held.promise;
    await route.continue();
  });
  return held.resolve;
}

testInBrowser('what is typed while a save is under way stays, and is unsaved', async () => {
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
  await page.context().close();
});

testInBrowser('what is typed while a new item is created is put back on its screen', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Created meanwhile');
  const release = await hold(page, '**/admin/brands/', 'POST');
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Save' }).click();
  await sent;
  await page.getByLabel('Logo').fill('typed-meanwhile.png');
  release();
  await page.waitForURL(/\/brands\/\d+$/);
  await page.getByText('Changes that you had not saved were put back.').waitFor();
  assert.is(await page.getByLabel('Logo').inputValue(), 'typed-meanwhile.png');
  assert.equal(faults(visitor), []);
  await page.context().close();
});

test.run();
