/** A creation that is sent again because its response was lost (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { read } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, fillPrices, hears, hold, loseResponse, missingSkus, stage } from '../console.ts';

const scene = stage();

testInBrowser('an item is created once if it is changed after a lost response', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const names = async () =>
    (await read(server, '/admin/brands/?q=Unacknowledged')).map(
      ({ name }: { name: string }) => name,
    );
  await page.goto(at('/brands/new'));
  const name = page.getByLabel('Name');
  const save = page.getByRole('button', { name: 'Save' });
  await name.fill('Unacknowledged');
  await loseResponse(page, '**/admin/brands/', 'POST');
  await save.click();
  await hears(page, 'alert', 'The server does not answer.');
  await name.fill('Unacknowledged, and changed');
  // The item exists, but its address is not shown yet.
  await page.route('**/admin/brands/*/', (route) => route.abort(), { times: 1 });
  await save.click();
  await page.getByRole('heading', { name: 'Unacknowledged', exact: true }).waitFor();
  await page.getByText('Saving…').waitFor({ state: 'detached' });
  await save.click();
  await page.waitForURL(/\/brands\/\d+$/);
  await page.getByRole('heading', { name: 'Unacknowledged, and changed' }).waitFor();
  assert.equal(await names(), ['Unacknowledged, and changed']);
  // What follows a draft that was dropped is another item.
  await page.unroute('**/admin/brands/');
  await page.goto(at('/brands/new'));
  await name.fill('Unacknowledged again');
  await loseResponse(page, '**/admin/brands/', 'POST');
  await save.click();
  await hears(page, 'alert', 'The server does not answer.');
  page.once('dialog', (question) => question.accept());
  await page.reload();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await name.fill('Unacknowledged no more');
  await save.click();
  await hears(page, 'status', 'Unacknowledged no more is saved.');
  const all = ['Unacknowledged again', 'Unacknowledged no more', 'Unacknowledged, and changed'];
  assert.equal((await names()).toSorted(), all);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  await page.context().close();
});

testInBrowser('an item that never reached the server, and is refused, is corrected', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const sent: string[] = [];
  await page.route('**/admin/brands/', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    sent.push(JSON.parse(route.request().postData() ?? '').name);
    if (sent.length === 1) return route.abort();
    if (sent.length > 2) return route.continue();
    return route.fulfill({ status: 422, json: { error: 'is refused by the test' } });
  });
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Not yet corrected');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByLabel('Name').fill('Corrected');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'status', 'Corrected is saved.');
  assert.equal(sent, ['Not yet corrected', 'Not yet corrected', 'Corrected']);
  assert.is((await read(server, '/admin/brands/?q=corrected')).length, 1);
  assert.equal(faults(visitor, [/ERR_FAILED/, /422/]), []);
  await page.context().close();
});

testInBrowser('a form that is left while its creation is repeated changes no item', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/new'));
  await page.getByLabel('Name').fill('Left later');
  await page.getByLabel('Logo').fill('left-later.png');
  await loseResponse(page, '**/admin/brands/', 'POST');
  await page.getByRole('button', { name: 'Save' }).click();
  await hears(page, 'alert', 'The server does not answer.');
  await page.getByLabel('Name').fill('Left now');
  await page.unroute('**/admin/brands/');
  const release = await hold(page, '**/admin/brands/', 'POST');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saving…').waitFor();
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('table', { name: 'Books' }).waitFor();
  release();
  await hears(page, 'status', 'Left later is saved.');
  const [{ name, logo }] = await read(server, '/admin/brands/?q=Left');
  assert.equal([name, logo], ['Left later', 'left-later.png']);
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  await page.context().close();
});

testInBrowser('missing SKUs are created once if a price is changed afterwards', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/goods/1'));
  const { missing, count } = await missingSkus(page);
  const skus = () => read(server, '/admin/skus/?spu_id=1&per_page=100&sortby=id&order=desc');
  const before = (await skus()).length;
  await missing.click();
  const dialog = page.getByRole('dialog');
  await fillPrices(dialog);
  await loseResponse(page, '**/admin/skus/bulk/', 'POST');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('The server does not answer.').waitFor();
  await dialog.getByLabel('Price', { exact: true }).fill('799');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const now: { price: number }[] = await skus();
  assert.is(now.length, before + count);
  assert.ok(now.slice(0, count).every(({ price }) => price === 79_900));
  assert.equal(faults(visitor, [/ERR_FAILED/]), []);
  await page.context().close();
});

test.run();
