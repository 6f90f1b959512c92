/** The console and /docs/ in a browser that forbids storage, as with all cookies blocked, or has no room. */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { testInBrowser } from '../../browser.ts';
import { prepare } from '../../visits.ts';
import { faults, hears, makeAccount, signIn, stage } from '../console.ts';

const scene = stage();

async function forbidStorage(page: Page): Promise<void> {
  await prepare(
    page,
    `
    for (const name of ['sessionStorage', 'localStorage']) {
      Object.defineProperty(window, name, {
        get() { throw new DOMException('access is denied', 'SecurityError'); },
      });
    }`,
  );
}

testInBrowser('an editor signs in and saves; a reload asks for the password again', async () => {
  const { server, at, visit } = scene();
  await makeAccount(server, 'eve', 'editor');
  const visitor = await visit(null);
  const { page } = visitor;
  await forbidStorage(page);
  await page.goto(at('/brands/new'));
  await signIn(page, 'eve');
  await page.getByLabel('Name', { exact: true }).fill('Kept nowhere');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Kept nowhere is saved');
  await page.getByRole('link', { name: 'Brands', exact: true }).first().click();
  await page.getByRole('link', { name: 'Kept nowhere' }).waitFor();
  await page.reload();
  await page.getByLabel('User name').waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('what is typed is saved if there is no room to keep it', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Kept for a while');
  await page.evaluate(`(() => {
    for (let size = 2 ** 24; size >= 8; size /= 2) {
      try {
        sessionStorage.setItem('filler' + size, 'x'.repeat(size - String(size).length));
      } catch {
        // It has less room than that.
      }
    }
  })()`);
  await name.fill('No room for this name, which is longer than the one before');
  const draft = await page.evaluate<string | null>(
    `Object.keys(sessionStorage).find((key) => key.startsWith('catalog.draft.')) ?? null`,
  );
  assert.is(draft, null, 'a reload brings nothing back that is out of date');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await hears(
    page,
    'status',
    'No room for this name, which is longer than the one before is saved',
  );
  assert.equal(faults(visitor), []);
});

testInBrowser('/docs/ is shown', async () => {
  const { server, visit } = scene();
  const visitor = await visit(null);
  const { page } = visitor;
  await forbidStorage(page);
  await page.goto(`${server.url}/docs/`);
  await page.getByText('/books/', { exact: true }).first().waitFor({ state: 'attached' });
  await page
    .getByRole('button', { name: /^Authorize/ })
    .first()
    .waitFor();
  assert.equal(faults(visitor), []);
});

test.run();
