/** What a screen looks like in narrow and in wide windows, and while it waits (spec 13.4). */
import type { Locator } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { send } from '../../../../support/client.ts';
import { shoot, testInBrowser, violationsOn } from '../../browser.ts';
import { faults, hold, isFocusInSight, makeAccount, priceIn, stage } from '../console.ts';

const scene = stage();

/** The left and the right edge of an element, in pixels. */
async function edges(element: Locator): Promise<readonly [left: number, right: number]> {
  const box = await element.boundingBox();
  assert.ok(box !== null);
  return [box.x, box.x + box.width];
}

/** The lines that the text of an element takes. */
function linesOf(element: Locator): Promise<number> {
  return element.evaluate((shown) => {
    const range = shown.ownerDocument.createRange();
    range.selectNodeContents(shown);
    return range.getClientRects().length;
  });
}

testInBrowser('in a wide window the buttons of an item are beside its form', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { width: 2560 });
  const { page } = visitor;
  const form = page.locator('form.item');
  const preview = page.getByRole('button', { name: 'Preview' });
  await page.goto(at('/skus/1'));
  await form.waitFor();
  assert.is((await edges(preview))[1], (await edges(form))[1]);
  await preview.click();
  const frame = page.locator('iframe');
  await frame.waitFor();
  assert.is((await edges(preview))[1], (await edges(frame))[1], 'the preview is beside the form');
  // The frame of the preview has no address, so its style sheet counts as foreign.
  assert.equal(faults(visitor, [/\/pages\/style\.css/]), []);
});

testInBrowser('on a phone the attribute for a column of a file is in sight', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { width: 360 });
  const { page } = visitor;
  await page.goto(at('/import'));
  const buffer = Buffer.from('id,The manufacturer’s own product number\n1,2\n');
  await page.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Next' }).click();
  const [, right] = await edges(page.getByRole('region', { name: 'Columns of the file' }));
  for (const column of ['id', 'The manufacturer’s own product number']) {
    const choice = page.getByLabel(`Column ${column} in the catalog`);
    assert.ok((await edges(choice))[1] <= right, column);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('on a phone the names of the columns of a file are not broken', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor', { width: 390, options: { locale: 'de-DE' } });
  const { page } = visitor;
  await page.goto(at('/import'));
  const names = ['market_price', 'is_launched', 'Herstellerartikelnummer'];
  const buffer = Buffer.from(`${names.join(',')}\n19900,true,A-4711\n`);
  await page.getByLabel('Datei').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Weiter' }).click();
  const table = page.getByRole('region', { name: 'Spalten der Datei' });
  for (const name of names) {
    const header = table.getByRole('row').getByRole('rowheader', { name });
    assert.is(await linesOf(header), 1, name);
  }
  // The values of the first rows are in sight as well.
  const values = table.getByRole('cell', { name: 'A-4711' });
  assert.ok((await edges(values))[1] <= (await edges(table))[1]);
  await shoot(page, 'import-columns-390');
  assert.equal(await violationsOn(page), []);
  assert.equal(faults(visitor), []);
});

testInBrowser('long names leave room on a phone for what is beside them', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor', { width: 390 });
  const like = await read(server, '/admin/goods/1/');
  const { id: spu } = await make(server, '/admin/goods/', { ...like, name: 'With long names' });
  const long = 'Colour of the case and its lid, inside';
  const { id: spec } = await make(server, '/admin/specs/', { name: long, spu_id: spu });
  for (const value of ['Silver', `${long} and outside of it`])
    await make(server, '/admin/options/', { value, spec_id: spec });
  await page.goto(at(`/goods/${spu}`));
  const option = page.getByRole('button', { name: 'Silver', exact: true });
  const { height = 99 } = (await option.boundingBox()) ?? {};
  assert.ok(height < 40, `the short option is ${height} pixels high`);
  await shoot(page, 'long-names-390');
  await page.getByRole('button', { name: 'Create 2 missing SKUs' }).click();
  const boxes = page.getByRole('group', { name: 'Combinations' }).getByRole('checkbox');
  const [first, second] = [await edges(boxes.first()), await edges(boxes.last())];
  assert.equal(second, first, 'the check boxes are equally wide');
});

testInBrowser('a finger can hit every target (WCAG 2.2, 2.5.8)', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of ['/skus', '/categories', '/skus/1', '/goods/1', '/import', '/audits']) {
      await page.goto(at(path));
      await page.waitForLoadState('networkidle');
      // The bar with the buttons of a form covers a part of what is behind it until then.
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      assert.equal(await violationsOn(page, ['target-size']), [], `${path} at ${width} px`);
    }
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('a phone has no reason to zoom into a field', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin', { width: 390, options: { hasTouch: true } });
  const { page } = visitor;
  const sizes = () =>
    page.evaluate<number[]>(`
      [...document.querySelectorAll('input:not([type=checkbox]), select, textarea, .surface')].map(
        (each) => Number.parseFloat(getComputedStyle(each).fontSize))`);
  for (const path of ['/skus', '/goods/1', '/import', '/audits', '/accounts']) {
    await page.goto(at(path));
    await page.waitForLoadState('networkidle');
    if (path === '/skus') await priceIn(page).click();
    if (path === '/goods/1') await page.getByRole('button', { name: 'HTML' }).first().click();
    if (path === '/accounts') await page.getByRole('button', { name: 'New account' }).click();
    const all = await sizes();
    assert.ok(all.length > 0 && all.every((size) => size >= 16), `${path}: ${all.join(', ')}`);
  }
  assert.equal(faults(visitor), []);
});

testInBrowser('what waits for the server shows it', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  for (const [path, request] of [
    ['/audits', '**/admin/audits/?*'],
    ['/accounts', '**/admin/users/?*'],
  ] as const) {
    const release = await hold(page, request);
    await page.goto(at(path));
    const loading = page.getByRole('main').getByText('Loading…');
    await loading.waitFor();
    release();
    await loading.waitFor({ state: 'detached' });
  }
  await page.goto(at('/categories/2'));
  const press = page.getByRole('main').getByRole('button', { name: 'Delete' });
  await press.waitFor();
  const release = await hold(page, ({ pathname }) => /^\/admin\/\w+\/$/.test(pathname));
  await press.click();
  assert.is(await press.getAttribute('aria-disabled'), 'true');
  release();
  await page.getByRole('alertdialog').waitFor();
  assert.is(await press.getAttribute('aria-disabled'), 'false');
  assert.equal(faults(visitor), []);
});

testInBrowser('what is below a description stays where it is when its editor comes', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const release = await hold(page, '**/console/rich-text-*.js');
  await page.goto(at('/goods/new'));
  const height = async () => (await page.locator('.long-text').first().boundingBox())?.height ?? 0;
  const before = await height();
  release();
  await page.getByRole('textbox', { name: 'Packaging' }).waitFor();
  const after = await height();
  assert.ok(Math.abs(after - before) < 5, `${before} and ${after} pixels`);
  assert.equal(faults(visitor), []);
});

testInBrowser('a screen that has nothing to show says so', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  await page.goto(at('/accounts'));
  await page.getByText('There is nothing here yet.').waitFor();
  await page.goto(at('/audits?subject=nobody'));
  await page.getByText('No entries.').waitFor();
  assert.is(await page.getByText('0 entries').count(), 0);
  assert.equal(faults(visitor), []);
});

for (const dark of [false, true]) {
  const title = `in a narrow window names stay beside what is scrolled to${dark ? ', dark' : ''}`;
  testInBrowser(title, async () => {
    const { server, at, visit } = scene();
    const { page } = await visit('admin', { width: 390, dark });
    if (!dark) await makeAccount(server, 'mia-of-the-narrow-window', 'viewer');
    for (const path of ['/skus', '/accounts']) {
      await page.goto(at(path));
      const name = page.getByRole('row').nth(1).getByRole('rowheader');
      await name.waitFor();
      await page.locator('.table').evaluate((table) => table.scrollTo({ left: 9999 }));
      const { x: left = 0 } = (await page.locator('.table').boundingBox()) ?? {};
      for (const cell of [name, page.getByRole('columnheader', { name: /^(?:User n|N)ame/ })]) {
        const { x = -1, width = 999 } = (await cell.boundingBox()) ?? {};
        assert.ok(x >= left && width <= 160, `${path}: ${width} pixels from ${x}`);
      }
      const others = page.getByRole('row').nth(1).locator('td').locator('button, input, select');
      for (const other of (await others.all()).reverse()) {
        await other.focus();
        assert.ok(await isFocusInSight(page), await other.evaluate((each) => each.outerHTML));
      }
      await page.locator('.table').evaluate((table) => table.scrollTo({ left: 9999 }));
      await shoot(page, `narrow-names${path.replace('/', '-')}-${dark ? 'dark' : 'light'}`, false);
      assert.equal(await violationsOn(page), []);
    }
  });
}

/** The edges of an element in the window, in pixels. */
async function edgesOf(element: Locator): Promise<{ left: number; right: number }> {
  const { x = Number.NaN, width = Number.NaN } = (await element.boundingBox()) ?? {};
  return { left: x, right: x + width };
}

testInBrowser('in a narrow window a link fits beside the names, behind a line', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor', { width: 384 });
  await page.goto(at('/skus?q=headphones'));
  const row = page.getByRole('row').nth(1);
  const link = row.getByRole('link', { name: 'Quillmere Hush Over-Ear Headphones', exact: true });
  await link.focus();
  const [own, name, table] = [
    await edgesOf(link),
    await edgesOf(row.getByRole('rowheader')),
    await edgesOf(page.getByRole('region', { name: 'SKUs' })),
  ];
  // Its outline is seen on both sides.
  assert.ok(own.left > name.right + 2, JSON.stringify({ own, name }));
  assert.ok(own.right < table.right - 2, JSON.stringify({ own, table }));
  const line = await page.evaluate<string>(
    "getComputedStyle(document.querySelector('tbody th'), '::after').borderRightStyle",
  );
  assert.is(line, 'solid');
  await shoot(page, 'narrow-link', false);
});

testInBrowser('in a narrow window prices and times are neither broken nor cut off', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('admin', { width: 390 });
  const body = { price: 70_000, caption: 'Short' };
  assert.is((await send(server, 'PATCH', '/admin/skus/5/', { body })).status, 200);
  await page.goto(at('/audits?resource=skus&resource_id=5'));
  assert.is(await linesOf(page.getByRole('cell', { name: '$700.00' })), 1);
  await makeAccount(server, 'since-when', 'viewer');
  await page.goto(at('/accounts'));
  const since = page.getByRole('row', { name: 'since-when' }).locator('td.soft');
  assert.ok(await since.evaluate((cell) => cell.scrollWidth <= cell.clientWidth));
  assert.is(await linesOf(since), 1);
});

test.run();
