/** Requests that are refused because there are too many (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Page } from 'playwright-core';
import { make, read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { setClock } from '../../visits.ts';
import { faults, hears, stage } from '../console.ts';

const scene = stage();

const WAITING = 'There are too many requests. Waiting…';

/** As nginx answers, which says nothing in a form that a program reads. */
const OF_A_PROXY = {
  status: 429,
  contentType: 'text/html',
  body: '<h1>429 Too Many Requests</h1>',
};

/**
 * Refuses requests of a method as a proxy does.
 *
 * @param times how many. @param headers of the refusals.
 * @returns how many were refused, and how many were let through.
 */
async function refuse(
  page: Page,
  path: string,
  method: string,
  times: number,
  headers: Readonly<Record<string, string>>,
): Promise<{ refused: number; passed: number }> {
  const counts = { refused: 0, passed: 0 };
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.continue();
    if (counts.refused === times) {
      counts.passed += 1;
      return route.continue();
    }
    counts.refused += 1;
    await route.fulfill({ ...OF_A_PROXY, headers });
  });
  return counts;
}

testInBrowser('a list and a save are sent again if there were too many requests', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const now = { 'retry-after': '0' };
  const reads = await refuse(page, '**/admin/brands/?*', 'GET', 2, now);
  const writes = await refuse(page, '**/admin/brands/1/', 'PATCH', 2, now);
  const posts = await refuse(page, '**/admin/brands/', 'POST', 2, now);
  await page.goto(at('/brands'));
  await page.getByRole('row').nth(1).getByRole('link').click();
  await page.getByLabel('Name').fill('Saved at the third attempt');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Saved at the third attempt is saved.');
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Created at the third attempt');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Created at the third attempt is saved.');
  assert.equal(
    [reads.refused, writes, posts],
    [2, { refused: 2, passed: 1 }, { refused: 2, passed: 1 }],
  );
  assert.is((await read(server, '/admin/brands/?q=third+attempt')).length, 2);
  assert.equal(faults(visitor, [/429/]), []);
});

for (const [locale, save, waiting] of [
  ['en-US', 'Save', WAITING],
  ['de-DE', 'Speichern', 'Zu viele Anfragen auf einmal. Es wird gewartet …'],
] as const) {
  testInBrowser(`the console says that it waits: ${locale}`, async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    await setClock(page);
    await page.goto(at('/brands/2'));
    await page.getByLabel('Name', { exact: true }).fill(`Saved after a wait in ${locale}`);
    // A proxy that does not say how long is given a second.
    const counts = await refuse(page, '**/admin/brands/2/', 'PATCH', 1, {});
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('button', { name: save }).click();
    await hears(page, 'status', waiting);
    assert.equal(counts, { refused: 1, passed: 0 });
    await page.clock.resume();
    await page.getByText(waiting).waitFor({ state: 'hidden' });
    await hears(page, 'status', `Saved after a wait in ${locale}`);
    assert.equal(counts, { refused: 1, passed: 1 });
    assert.equal(faults(visitor, [/429/]), []);
  });
}

testInBrowser('a dialog says that it waits, as the message of the page is behind it', async () => {
  const { server, at, visit } = scene();
  const names = ['Waits A', 'Waits B'];
  for (const name of names) await make(server, '/admin/brands/', { name });
  const visitor = await visit('editor', { width: 320 });
  const { page } = visitor;
  await setClock(page);
  await page.goto(at('/brands?q=waits'));
  const dialog = page.locator('dialog');
  const waiting = dialog.getByRole('status').filter({ hasText: WAITING });
  const press = (name: string | RegExp) => dialog.getByRole('button', { name }).click();
  /** A proxy that does not say how long is given a second, for which the clock stands still. */
  const wait = async (path: string, method: string, act: () => Promise<void>) => {
    await refuse(page, path, method, 1, {});
    await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 60_000);
    await act();
    await waiting.waitFor();
    // The whole sentence can be read.
    const hidden = await waiting.evaluate((it) => it.scrollWidth - it.clientWidth);
    assert.is(hidden, 0);
    await page.clock.resume();
    await waiting.waitFor({ state: 'detached' });
    await page.unroute(path);
  };
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('What to do').selectOption({ label: 'First letter: set' });
  await page.getByLabel('First letter').fill('W');
  await wait('**/admin/brands/*/', 'GET', () => press('Show what changes'));
  await wait('**/admin/brands/bulk/', 'PATCH', () => press('Change 2 items'));
  await hears(page, 'status', '2 items were changed.');
  await page.getByLabel('Select all on this page').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await wait('**/admin/brands/*/', 'DELETE', () => press('Delete 2 items'));
  await hears(page, 'status', '2 items were deleted.');
  assert.equal(faults(visitor, [/429/]), []);
});

for (const [locale, save, text] of [
  ['en-US', 'Save', 'There are too many requests. Nothing that you have typed is lost'],
  ['de-DE', 'Speichern', 'Zu viele Anfragen auf einmal. Ihre Eingaben gehen nicht verloren'],
] as const) {
  testInBrowser(`a long wait is left to the user: ${locale}`, async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor', { options: { locale } });
    const { page } = visitor;
    await page.goto(at('/brands/3'));
    const name = page.getByLabel('Name', { exact: true });
    await name.fill(`Saved later in ${locale}`);
    const counts = await refuse(page, '**/admin/brands/3/', 'PATCH', 1, { 'retry-after': '60' });
    await page.getByRole('button', { name: save }).click();
    await hears(page, 'alert', text);
    assert.is(await name.inputValue(), `Saved later in ${locale}`);
    await page.getByRole('button', { name: save }).click();
    await hears(page, 'status', `Saved later in ${locale}`);
    // The message ends with what it was about.
    assert.is(await page.locator('.notice.alert').count(), 0);
    assert.equal(counts, { refused: 1, passed: 1 });
    assert.equal(faults(visitor, [/429/]), []);
  });
}

test.run();
