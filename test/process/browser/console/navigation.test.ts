/** Navigation: addresses, the buttons of the browser, the keyboard (spec 13.4). */
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make } from '../../../support/catalog.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser } from '../browser.ts';
import { prepare, setClock } from '../visits.ts';
import { faults, hears, hold, show, stage } from './console.ts';

const scene = stage();

/** How long a pause in typing is before the list is searched, in milliseconds. */
const TYPING_PAUSE_MS = 200;

testInBrowser('the first link moves the focus past the navigation', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  const name = page.getByLabel('Name');
  await name.fill('Not saved yet');
  await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
  await page.keyboard.press('Tab');
  assert.is(await page.evaluate('document.activeElement.textContent'), '← Back to the list');
  assert.is(await page.getByRole('alertdialog').count(), 0);
  assert.is(await name.inputValue(), 'Not saved yet');
  assert.equal(faults(visitor), []);
});

testInBrowser('the menu closes when another screen is shown, and opens at once again', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { width: 400 });
  const { page } = visitor;
  const menu = page.getByRole('button', { name: 'Menu' });
  const isOpen = async () => (await menu.getAttribute('aria-expanded')) === 'true';
  await page.goto(at('/skus'));
  await menu.click();
  assert.ok(await isOpen());
  await page.getByRole('link', { name: 'Brands', exact: true }).click();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  assert.not.ok(await isOpen());
  // In one task, so that nothing is rendered between the two.
  await page.evaluate(`
    document.querySelector('nav a[href$="/console/specs"]').click();
    document.querySelector('header button.menu').click();`);
  await page.getByRole('table', { name: 'Specifications' }).waitFor();
  assert.ok(await isOpen());
  await page.goBack();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  assert.not.ok(await isOpen());
  await page.goForward();
  await page.getByRole('table', { name: 'Specifications' }).waitFor();
  assert.not.ok(await isOpen());
  assert.equal(faults(visitor), []);
});

testInBrowser('the search field keeps a space at the end of the text during a pause', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  const search = page.getByLabel('Search');
  await search.pressSequentially('phone ');
  await page.waitForURL(at('/skus?q=phone'));
  assert.is(await search.inputValue(), 'phone ');
  await search.pressSequentially('12');
  await page.waitForURL(at('/skus?q=phone+12'));
  assert.is(await search.inputValue(), 'phone 12');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.waitForURL(at('/skus'));
  assert.is(await search.inputValue(), '');
  await search.fill('phone 12');
  await page.waitForURL(at('/skus?q=phone+12'));
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'going back from unsaved changes asks for confirmation, and goes back one step',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus'));
    await page.getByRole('link', { name: 'Brands', exact: true }).click();
    await page.getByRole('table', { name: 'Brands' }).waitFor();
    await page.getByRole('table').getByRole('link').first().click();
    const name = page.getByLabel('Name');
    await name.fill('Not saved yet');
    const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
    const back = async (answer: string) => {
      await page.evaluate('history.back()');
      await question.getByRole('button', { name: answer }).click();
    };
    await back('Stay');
    assert.is(await name.inputValue(), 'Not saved yet');
    await back('Leave');
    await page.getByRole('table', { name: 'Brands' }).waitFor();
    await page.evaluate('history.back()');
    await page.getByRole('table', { name: 'SKUs' }).waitFor();
    await page.evaluate('history.go(2)');
    await name.waitFor();
    assert.is.not(await name.inputValue(), 'Not saved yet');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'the title of the document names the screen, also if there is no such page or item',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    const titled = (title: string) =>
      until(`the title is ${title}`, async () => (await page.title()) === title);
    await page.goto(at('/skus'));
    await titled('SKUs – Catalog');
    await show(page, '/nothing');
    await titled('There is no such page – Catalog');
    await show(page, '/brands/99999');
    await titled('This does not exist – Catalog');
    await page.getByRole('link', { name: 'Sign out' }).click();
    await titled('Sign in – Catalog');
    assert.equal(faults(visitor, [/404/]), []);
  },
);

testInBrowser(
  'the back button restores the scroll position, and a repeated address is one step',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/brands'));
    const skus = page.getByRole('link', { name: 'SKUs', exact: true });
    await skus.click();
    await page.getByRole('table', { name: 'SKUs' }).waitFor();
    await skus.click();
    await page.goBack();
    await page.getByRole('table', { name: 'Brands' }).waitFor();
    await page.goto(at('/skus?per_page=50'));
    const row = page.getByRole('row').nth(30);
    await row.scrollIntoViewIfNeeded();
    assert.ok((await page.evaluate<number>('scrollY')) > 0);
    await row.getByRole('link').first().click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    assert.is(await page.evaluate('scrollY'), 0);
    await page.goBack();
    // The position at the click: rows above may have moved the row since it came into view.
    // The browser may round it to a pixel of the screen.
    const left = 'history.state?.scrolled';
    const isBack = `${left} > 0 && Math.abs(scrollY - ${left}) < 2`;
    await until('the list is where it was', () => page.evaluate<boolean>(isBack));
    assert.equal(faults(visitor), []);
  },
);

/** Goes back to a form that was scrolled, and holds its last part until the function is called. */
async function backToForm(page: Page, at: (path: string) => string): Promise<() => void> {
  await prepare(
    page,
    `
    const { scrollTo } = globalThis;
    globalThis.scrollTo = (x, y) => {
      scrollTo(x, y);
      globalThis.begun ||= y > 0;
    }`,
  );
  await page.goto(at('/goods/1'));
  const sku = page.getByRole('link', { name: /^Auralune Phone 12, coral/ });
  await sku.scrollIntoViewIfNeeded();
  await sku.click();
  await page.getByRole('heading', { level: 1, name: /coral/ }).waitFor();
  const release = await hold(page, '**/admin/skus/?*');
  await page.goBack();
  await until('it begins to scroll', () => page.evaluate<boolean>('globalThis.begun === true'));
  return release;
}

testInBrowser(
  'the back button restores the position in a form whose parts come later',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await setClock(page);
    const release = await backToForm(page, at);
    // The network is as slow as that.
    await page.clock.runFor(60_000);
    release();
    const left = 'history.state?.scrolled';
    const isBack = `${left} > 0 && Math.abs(scrollY - ${left}) < 2`;
    await until('the form is where it was', () => page.evaluate<boolean>(isBack));
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a form that a scroll bar has moved stays where it is', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const release = await backToForm(page, at);
  await page.evaluate(`new Promise((done) => {
    addEventListener('scroll', done, { once: true });
    scrollTo(0, 10);
  })`);
  release();
  await page.getByRole('link', { name: /^Auralune Phone 12, coral/ }).waitFor();
  // What observes sizes has run before the second frame.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
  assert.is(await page.evaluate('scrollY'), 10);
});

testInBrowser('an invalid price filter stays as it was typed, with a message', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?is_launched=true'));
  await page.getByRole('button', { name: 'Price and stock' }).click();
  const from = page.getByLabel('Price from');
  await from.fill('abc');
  await from.press('Enter');
  await hears(page, 'alert', 'must be a price, such as 1,234.50');
  assert.is(await from.inputValue(), 'abc');
  assert.is(await from.getAttribute('aria-describedby'), 'filter-price_min-problem');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.waitForURL(at('/skus'));
  assert.is(await from.inputValue(), '');
  assert.is(await from.getAttribute('aria-invalid'), 'false');
  await from.fill('.99');
  await from.press('Enter');
  await page.waitForURL(at('/skus?price_min=99'));
  assert.is(await from.inputValue(), '0.99');
  assert.equal(faults(visitor), []);
});

testInBrowser('the way back from an item leads to the list as it was left', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const name of ['Left & found 1', 'Left & found 2']) {
    await make(server, '/admin/brands/', { name, first_letter: 'L' });
  }
  const list = at('/brands?q=left+%26&sortby=name&order=desc');
  await page.goto(list);
  await page.getByRole('link', { name: 'Left & found 2' }).click();
  await page.getByRole('button', { name: 'Save' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await page.getByRole('link', { name: 'Left & found 2' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('link', { name: 'Left & found 1' }).waitFor();
  assert.is(page.url(), list);
  await page.getByRole('link', { name: 'SPUs', exact: true }).click();
  await page.getByRole('table', { name: 'SPUs' }).waitFor();
  assert.is(page.url(), at('/goods'));
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'a search that is typed just before its list is left does not lead back',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus'));
    // The pause after the last key ends when this test says so.
    await page.evaluate(`
    globalThis.pauses = new Map();
    const { setTimeout: wait, clearTimeout: stop } = globalThis;
    globalThis.setTimeout = (run, ms) => {
      if (ms !== ${TYPING_PAUSE_MS}) return wait(run, ms);
      pauses.set(-pauses.size - 1, run);
      return -pauses.size;
    };
    globalThis.clearTimeout = (timer) => void (pauses.delete(timer) || stop(timer));`);
    await page.getByRole('searchbox').fill('phone');
    await page.waitForFunction('pauses.size === 1');
    await page.evaluate(`(async () => {
    globalThis.requestAnimationFrame = globalThis.setTimeout = () => 0;
    document.querySelector('nav a[href$="/brands"]').click();
    while (!location.pathname.endsWith('/brands')) await null;
    for (let turn = 0; turn < 100; turn += 1) await null;
    for (const run of pauses.values()) run();
  })()`);
    assert.is(page.url(), at('/brands'));
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('a list that is left before a frame is where the way back leads', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus'));
  await page.getByRole('link', { name: 'Next' }).waitFor();
  // What is rendered is rendered in a microtask, which comes before the next frame.
  const left = await page.evaluate<boolean>(`(async () => {
    let isFramed = false;
    requestAnimationFrame(() => { isFramed = true; });
    document.querySelector('.paging a').click();
    while (!location.search.includes('page=2')) await null;
    for (let turn = 0; turn < 100; turn += 1) await null;
    document.querySelector('tbody th a').click();
    return !isFramed;
  })()`);
  assert.ok(left, 'no frame was drawn');
  await page.getByRole('link', { name: 'Back to the list' }).click();
  await page.waitForURL(at('/skus?page=2'));
  assert.equal(faults(visitor), []);
});

test.run();
