/** Actions of a user while the server has not answered yet, or does not answer (spec 13.5). */
import type { Page, Request } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../support/catalog.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser } from '../browser.ts';
import { faults, hears, hold, priceIn, stage } from './console.ts';

const scene = stage();

/** Collects the bodies of PATCH requests. */
function writesOf(page: Page): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') writes.push(request.postData() ?? '');
  });
  return writes;
}

testInBrowser('a late response does not end the editing of the next row', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const writes = writesOf(page);
  await page.goto(at('/skus'));
  const release = await hold(page, '**/admin/skus/1/');
  const price = (row: number) => priceIn(page.getByRole('row').nth(row));
  await price(1).click();
  await page.keyboard.type('601');
  await page.keyboard.press('Enter');
  await price(2).click();
  await page.keyboard.type('7');
  release();
  await hears(page, 'status', 'Price is now $601.00.');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  await page.keyboard.type('02');
  await page.keyboard.press('Enter');
  await hears(page, 'status', 'Price is now $702.00.');
  assert.equal(writes, ['{"price":60100}', '{"price":70200}']);
  assert.is((await read(server, '/admin/skus/2/')).price, 70_200);
  assert.equal(faults(visitor), []);
});

testInBrowser('numbers are typed into one row after the other while they are saved', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?spu_id=2'));
  const stock = page.getByRole('row').nth(1).getByTitle('Change').last();
  const release = await hold(page, '**/admin/skus/*/');
  await stock.focus();
  for (const typed of ['8101', '8102', '8103']) {
    await page.keyboard.press('Enter');
    await page.keyboard.type(typed);
    await page.keyboard.press('Enter');
    await page.locator('input[aria-busy=true]').last().waitFor();
    await page.keyboard.press('ArrowDown');
  }
  release();
  for (const now of ['8,101', '8,102', '8,103']) {
    await hears(page, 'status', `Stock is now ${now}.`);
  }
  const skus: { stock: number }[] = await read(server, '/admin/skus/?spu_id=2');
  assert.equal(
    skus.slice(0, 3).map((sku) => sku.stock),
    [8101, 8102, 8103],
  );
  assert.equal(faults(visitor), []);
});

testInBrowser('a second click on a switch that is being written is ignored', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const writes = writesOf(page);
  await page.goto(at('/skus'));
  const launched = page.getByRole('switch').nth(2);
  await launched.waitFor();
  const before = await launched.isChecked();
  const release = await hold(page, '**/admin/skus/3/');
  await launched.click();
  await launched.click();
  assert.is(await launched.isChecked(), !before);
  release();
  await hears(page, 'status', `On sale is now ${before ? 'No' : 'Yes'}.`);
  assert.is(await page.getByRole('alert').count(), 0);
  assert.is(await launched.isChecked(), !before);
  assert.equal(writes, [`{"is_launched":${!before}}`]);
  assert.is((await read(server, '/admin/skus/3/')).is_launched, !before);
  assert.equal(faults(visitor), []);
});

testInBrowser('Enter in a combobox whose choices are loading does not send the form', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const writes = writesOf(page);
  await page.goto(at('/skus/4'));
  await page.getByLabel('Caption').fill('Not to be saved yet');
  const release = await hold(page, '**/admin/goods/?*');
  const spu = page.getByRole('combobox', { name: 'SPU' });
  await spu.press('ArrowDown');
  await spu.pressSequentially('Tarn', { delay: 20 });
  // The pause in typing begins a new search, and discards the choices for the earlier text.
  await page.waitForTimeout(100);
  await spu.press('Enter');
  release();
  await page
    .getByRole('option', { name: /^Tarnhollow/ })
    .first()
    .waitFor();
  await page.getByText('Unsaved changes').waitFor();
  assert.equal(writes, []);
  const marked = page.locator('[role=option].marked');
  const last = page.getByRole('listbox').getByRole('option').last();
  await spu.press('Escape');
  await spu.press('ArrowDown');
  await last.waitFor();
  assert.is(await marked.count(), 0);
  await spu.press('ArrowUp');
  assert.is(await marked.innerText(), await last.innerText());
  assert.equal(faults(visitor), []);
});

testInBrowser('a search that takes long says so until it is answered', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/new'));
  const brand = page.getByRole('combobox', { name: 'Brand' });
  const told = page.locator('.combobox', { has: brand }).locator('[aria-live]');
  const release = await hold(page, '**/admin/brands/?*');
  await brand.fill('aural');
  await told.getByText('Loading…').waitFor();
  // It goes on whatever is pressed meanwhile.
  await brand.press('ArrowDown');
  assert.is(await told.innerText(), 'Loading…');
  release();
  await page.getByRole('option', { name: 'Auralune' }).waitFor();
  assert.is(await told.innerText(), '');
  assert.equal(faults(visitor), []);
});

testInBrowser('a screen that could not be loaded is loaded by Try again', async () => {
  const { at, visit } = scene();
  const visitor = await visit('admin');
  const { page } = visitor;
  for (const [path, request, then] of [
    ['/', '**/admin/summary/', page.getByText('The size of the store is')],
    ['/brands/1', '**/admin/brands/1/', page.getByRole('button', { name: 'Save' })],
    ['/audits', '**/admin/audits/?*', page.getByText(/^\d+ entr(?:y|ies)$/)],
    ['/accounts', '**/admin/users/?*', page.getByRole('table', { name: 'Accounts' })],
  ] as const) {
    await page.route(request, (route) => route.abort());
    await page.goto(at(path));
    await page.getByRole('main').getByText('The server does not answer.').waitFor();
    await page.unroute(request);
    await page.getByRole('button', { name: 'Try again' }).click();
    await then.waitFor();
    assert.is(await page.getByRole('main').getByRole('alert').count(), 0, path);
  }
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('specifications that are not there yet say that they are loading', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  const release = await hold(page, '**/admin/goods/1/specs/**');
  await page.goto(at('/skus/1'));
  const specs = page.getByRole('group', { name: 'Specifications' });
  await specs.getByText('Loading…').waitFor();
  release();
  await specs.getByLabel('Colour').waitFor();
  assert.is(await specs.getByText('Loading…').count(), 0);
});

testInBrowser('specifications that could not be read are read by Try again', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const [path, shown] of [
    ['/goods/1', page.getByRole('button', { name: 'Midnight Blue', exact: true })],
    ['/skus/1', page.getByRole('group', { name: 'Specifications' }).getByLabel('Colour')],
  ] as const) {
    await page.route('**/admin/goods/1/specs/**', (route) => route.abort());
    await page.goto(at(path));
    await hears(page, 'alert', 'The server does not answer');
    // The editors of the descriptions are loaded at the same time.
    const loading = page.getByText('Loading…');
    await until('nothing is loading', async () => (await loading.count()) === 0);
    await page.unroute('**/admin/goods/1/specs/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await shown.waitFor();
    assert.is(await page.getByRole('alert').count(), 0);
  }
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a preview that could not be rendered is rendered by Try again', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus/1'));
  await page.route('**/admin/skus/preview/', (route) => route.abort());
  await page.getByRole('button', { name: 'Preview' }).click();
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('The server does not answer').waitFor();
  await page.unroute('**/admin/skus/preview/');
  await preview.getByRole('button', { name: 'Try again' }).click();
  await preview.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  await preview.getByRole('alert').waitFor({ state: 'detached' });
  // The style sheet of a page without an address counts as one of another host.
  assert.equal(faults(visitor, [/ERR_FAILED/, /style\.css/]), []);
});

testInBrowser('a list that is not there yet says that it is loading', async () => {
  const { at, visit } = scene();
  const { page } = await visit('viewer');
  const release = await hold(page, '**/admin/skus/?*');
  await page.goto(at('/skus?q=no-such-word'));
  const list = page.getByRole('region', { name: 'SKUs' });
  await list.getByText('Loading…').waitFor();
  release();
  await list.getByText('Nothing matches the search and the filters.').waitFor();
  assert.is(await list.getByText('Loading…').count(), 0);
});

testInBrowser('a first screen whose script comes late asks for its summary once', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const isSummary = (request: Request) => request.url().endsWith('/admin/summary/');
  let requests = 0;
  page.on('request', (request) => {
    if (isSummary(request)) requests += 1;
  });
  const release = await hold(page, '**/console/more-screens-*.js');
  const answered = page.waitForResponse('**/admin/summary/');
  await page.goto(at('/'), { waitUntil: 'commit' });
  await page.getByText('Loading…').waitFor();
  if (requests > 0) await answered;
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  release();
  await page.getByText('The size of the store is').waitFor();
  assert.is(requests, 1);
  assert.equal(faults(visitor), []);
});

testInBrowser('leaving an import that is being written asks for confirmation', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/import'));
  const buffer = Buffer.from('id,name\n5,A name from a file\n');
  await page.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Check' }).click();
  const apply = page.getByRole('button', { name: 'Apply 1 change' });
  // Not earlier: the request of the check would be held too.
  await apply.waitFor();
  const release = await hold(page, '**/imports/?*');
  await apply.click();
  await page.getByRole('progressbar').waitFor();
  await page.getByRole('link', { name: 'Brands' }).click();
  const question = page.getByRole('alertdialog', { name: 'Import' });
  await question.getByRole('button', { name: 'Stay' }).click();
  release();
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  await page.getByRole('link', { name: 'Brands' }).click();
  await page.getByRole('table', { name: 'Brands' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('an item that is saved after its form was left changes no other screen', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  for (const [path, sent, title] of [
    ['/brands/new', '**/admin/brands/', 'Slowly made'],
    ['/brands/6', '**/admin/brands/6/', 'Slowly changed'],
  ] as const) {
    await page.goto(at(path));
    await page.getByLabel('Name').fill(title);
    await page.getByLabel('First letter').fill('S');
    const release = await hold(page, sent);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Books', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('link', { name: 'New', exact: true }).click();
    await page.getByLabel('Name').fill('Half of a book');
    release();
    await hears(page, 'status', `${title} is saved.`);
    await page.getByText('Unsaved changes').waitFor();
    assert.match(page.url(), /\/books\/new$/);
    await page.unroute(sent);
    await page.getByRole('link', { name: 'Brands', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('link', { name: title }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    assert.is(await page.getByLabel('Name').inputValue(), title, 'no draft of what was before');
  }
  const { id } = await make(server, '/admin/brands/', { name: 'Slow to go', first_letter: 'S' });
  await page.goto(at(`/brands/${id}`));
  await page.getByRole('button', { name: 'Delete' }).click();
  const release = await hold(page, `**/admin/brands/${id}/`);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('link', { name: 'New', exact: true }).click();
  await page.getByLabel('Name').fill('Half of a book');
  release();
  await hears(page, 'status', 'Slow to go was deleted.');
  assert.match(page.url(), /\/books\/new$/);
  await page.getByRole('link', { name: 'Brands', exact: true }).click();
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser('an item whose response is lost by a reload is created once', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Made once');
  await page.getByLabel('First letter').fill('M');
  await page.route('**/admin/brands/', async (route) => {
    if (route.request().method() === 'POST') await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.unroute('**/admin/brands/');
  page.once('dialog', (dialog) => dialog.accept());
  await page.reload();
  await hears(page, 'status', 'Your unsaved changes were restored.');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Made once is saved.');
  assert.is((await read(server, '/admin/brands/?q=Made+once')).length, 1);
});

testInBrowser(
  'while all items are being selected, the bar says so, and a second click begins nothing',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    await page.goto(at('/skus'));
    const isAll = ({ searchParams }: URL) => searchParams.get('per_page') === '1000';
    const asked: string[] = [];
    page.on('request', (request) => {
      if (isAll(new URL(request.url()))) asked.push(request.url());
    });
    const release = await hold(page, isAll);
    await page.getByLabel('Select all on this page').check();
    const bar = page.getByRole('group', { name: 'Selected items' });
    const all = bar.getByRole('button', { name: 'Select all 36' });
    await all.click();
    await all.press('Enter');
    // Neither opens for the items that happen to be selected so far.
    for (const name of ['Edit…', 'Delete…']) await bar.getByRole('button', { name }).press('Enter');
    assert.is(await page.getByRole('dialog').or(page.getByRole('alertdialog')).count(), 0);
    assert.is(await bar.getByText('Loading…').count(), 1);
    release();
    await bar.getByText('36 selected').waitFor();
    await bar.getByText('Loading…').waitFor({ state: 'hidden' });
    await bar.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('dialog', { name: 'Change 36 items' }).waitFor();
    assert.is(asked.length, 1);
    assert.equal(faults(visitor), []);
  },
);

test.run();
