/** Options, specifications and items of a list that are removed (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../../support/catalog.ts';
import { until } from '../../../../support/until.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, focused, hears, hold, loseResponse, stage } from '../console.ts';

const scene = stage();

/** Creates an SPU with one specification. @returns the ids of both. */
async function makeSpu(values: readonly string[]): Promise<{ spu: number; spec: number }> {
  const { server } = scene();
  const like = await read(server, '/admin/goods/1/');
  const { id: spu } = await make(server, '/admin/goods/', { ...like, name: 'With options' });
  const { id: spec } = await make(server, '/admin/specs/', { name: 'Size', spu_id: spu });
  for (const value of values) await make(server, '/admin/options/', { value, spec_id: spec });
  return { spu, spec };
}

testInBrowser('a key that is held removes one option, not its neighbours', async () => {
  const { server, at, visit } = scene();
  const { page } = await visit('editor');
  const { spu, spec } = await makeSpu(['First', 'Second', 'Third']);
  await page.goto(at(`/goods/${spu}`));
  await page.getByRole('button', { name: 'Remove First' }).focus();
  await page.keyboard.down('Enter');
  await focused(page, '[aria-label="Remove Second"]');
  for (let repeated = 0; repeated < 3; repeated += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.getByLabel('New option of Size').fill('Fourth');
  await page.getByLabel('New option of Size').press('Enter');
  await page.getByRole('button', { name: 'Remove Fourth' }).waitFor();
  const left = await read(server, `/admin/options/?spec_id=${spec}`);
  assert.equal(
    left.map(({ value }: { readonly value: string }) => value),
    ['Second', 'Third', 'Fourth'],
  );
});

testInBrowser('an option that is not removed is told by its name', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  await page.getByRole('button', { name: 'Remove Silver' }).click();
  await hears(page, 'alert', /^Silver: option \d+ is referred to/);
  assert.is((await read(server, '/admin/options/?q=silver')).length, 1);
  assert.equal(faults(visitor, [/409/]), []);
});

testInBrowser('options that are not removed are told one at a time', async () => {
  const { at, visit } = scene();
  const { page } = await visit('editor');
  await page.goto(at('/goods/1'));
  for (const name of ['Silver', 'Coral', 'Colour']) {
    await page.getByRole('button', { name: `Remove ${name}` }).click();
    await hears(page, 'alert', `${name}: `);
    assert.is(await page.getByRole('alert').count(), 1);
  }
});

testInBrowser('a second click while an option is removed is no failure', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { spu, spec } = await makeSpu(['Only']);
  await page.goto(at(`/goods/${spu}`));
  const button = page.getByRole('button', { name: 'Remove Only' });
  await button.waitFor();
  // The option stays in sight until the list is read again.
  const release = await hold(page, `**/admin/options/?*spec_id=${spec}*`);
  await button.dblclick();
  await hears(page, 'status', 'Only was deleted.');
  await button.click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', 'Undone.');
  release();
  await button.click();
  await hears(page, 'status', 'Only was deleted.');
  await button.waitFor({ state: 'detached' });
  assert.is(await page.getByRole('alert').count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser('a deletion that is refused after its dialog was closed can be undone', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await make(server, '/admin/brands/', { name: 'Aa first' });
  let isAsked = false;
  let answer = () => {};
  const closed = new Promise<void>((resolve) => {
    answer = resolve;
  });
  // Other items refer to it.
  await page.route('**/admin/brands/1/', async (route) => {
    isAsked = true;
    await closed;
    await route.continue();
  });
  await page.goto(at('/brands?sortby=name'));
  for (const name of ['Aa first', 'Auralune']) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete 2 items' }).click();
  await until('the second deletion is asked for', () => isAsked);
  await page.getByRole('button', { name: 'Cancel' }).click();
  answer();
  await hears(page, 'status', '1 item was deleted.');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByLabel('Select Aa first').waitFor();
  assert.equal(faults(visitor, [/409/]), []);
  await page.unrouteAll({ behavior: 'wait' });
});

testInBrowser('a deletion without a response whose dialog was closed can be undone', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Deleted in silence' });
  const closed = Promise.withResolvers<void>();
  await page.route(`**/admin/brands/${id}/`, async (route) => {
    await route.fetch();
    await closed.promise;
    await route.abort();
  });
  await page.goto(at('/brands?q=silence'));
  await page.getByLabel('Select Deleted in silence').check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete 1 item' }).click();
  await page.getByRole('progressbar').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  closed.resolve();
  await hears(page, 'status', '1 item may be deleted.');
  await page.getByText('Nothing matches the search').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'Deleted in silence' }).waitFor();
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
});

testInBrowser('a deletion of items whose list is left ends, and can be undone', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const names = ['Ba first', 'Ba second', 'Ba third'];
  const ids: number[] = [];
  for (const name of names) ids.push((await make(server, '/admin/brands/', { name })).id);
  await page.goto(at('/books'));
  await page.getByRole('link', { name: 'Brands', exact: true }).click();
  await page.getByLabel('Search').fill('Ba ');
  for (const name of names) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const second = `**/admin/brands/${ids[1]}/`;
  const release = await hold(page, second, 'DELETE');
  const asked = page.waitForRequest(second);
  await page.getByRole('button', { name: 'Delete 3 items' }).click();
  await asked;
  await page.goBack();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  release();
  await hears(page, 'status', '2 items were deleted.');
  assert.is((await read(server, '/admin/brands/?q=Ba%20')).length, 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await hears(page, 'status', 'Undone for 2 items.');
  assert.is((await read(server, '/admin/brands/?q=Ba%20')).length, 3);
  await page.getByRole('link', { name: 'Brands', exact: true }).click();
  for (const name of ['Ba first', 'Auralune']) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const refuse = await hold(page, '**/admin/brands/1/', 'DELETE');
  const last = page.waitForRequest('**/admin/brands/1/');
  await page.getByRole('button', { name: 'Delete 2 items' }).click();
  await last;
  await page.goBack();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  refuse();
  await hears(page, 'status', '1 item was deleted.');
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  assert.equal(faults(visitor, [/409/]), []);
});

testInBrowser('whether to delete an item is asked once, and only on its screen', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Slowly removed' });
  await page.goto(at(`/brands/${id}`));
  const referring = ({ pathname }: URL) => pathname === '/admin/goods/';
  let reads = 0;
  page.on('request', (request) => {
    if (referring(new URL(request.url()))) reads += 1;
  });
  const release = await hold(page, referring);
  const press = page.getByRole('button', { name: 'Delete', exact: true });
  await press.dblclick();
  release();
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.is(reads, 1);
  await page.unroute(referring);
  const releaseLater = await hold(page, referring);
  const asked = page.waitForRequest((request) => referring(new URL(request.url())));
  await press.click();
  const request = await asked;
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  releaseLater();
  await (await request.response())?.finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  assert.is(await question.count(), 0);
  assert.is((await read(server, '/admin/brands/?q=Slowly')).length, 1);
  assert.equal(faults(visitor), []);
});

testInBrowser('what was deleted by an attempt without a response can be undone', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id } = await make(server, '/admin/brands/', { name: 'Deleted unheard' });
  const press = page.getByRole('main').getByRole('button', { name: 'Delete' });
  const agree = page.getByRole('alertdialog').getByRole('button', { name: 'Delete' });
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  await page.goto(at(`/brands/${id}`));
  await loseResponse(page, `**/admin/brands/${id}/`, 'DELETE');
  for (const heard of ['The server does not answer.', 'Deleted unheard was deleted.']) {
    await press.click();
    await agree.click();
    await page.locator('.notices').getByText(heard).waitFor();
  }
  await undo.click();
  await hears(page, 'status', 'Undone.');
  assert.is((await read(server, '/admin/brands/?q=unheard')).length, 1);
  const spec = await make(server, '/admin/specs/', { name: 'Unheard', spu_id: 4 });
  await page.goto(at('/goods/4'));
  await loseResponse(page, `**/admin/specs/${spec.id}/`, 'DELETE');
  for (const heard of ['The server does not answer.', 'Unheard was deleted.']) {
    await page.getByRole('button', { name: 'Remove Unheard' }).click();
    await page.locator('.notices').getByText(heard).waitFor();
  }
  await undo.click();
  await hears(page, 'status', 'Undone.');
  assert.is((await read(server, '/admin/specs/?q=Unheard')).length, 1);
  assert.equal(faults(visitor, [/ERR_FAILED/, /404|410/]), []);
});

test.run();
