/** Addresses of screens (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make } from '../../../../support/catalog.ts';
import { testInBrowser } from '../../browser.ts';
import { faults, hears, stage } from '../console.ts';

const scene = stage();

testInBrowser(
  'an address with an invalid filter shows the error, and no SPU is requested',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    let requests = 0;
    page.on('request', (request) => {
      if (request.url().includes('/admin/goods/')) requests += 1;
    });
    await page.goto(at('/skus?spu_id=abc&price_min=xyz'), { waitUntil: 'commit' });
    await hears(page, 'alert', 'query parameter spu_id must be an id in digits');
    assert.is(await page.getByLabel('SPU').inputValue(), '');
    assert.is(await page.getByLabel('Price from').inputValue(), 'xyz');
    assert.is(requests, 0);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row').nth(1).waitFor();
    assert.is(new URL(page.url()).search, '');
    assert.equal(faults(visitor, [/400/]), []);
  },
);

testInBrowser('an address in capital letters shows the same screen', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/IMPORT'));
  await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor();
  await page.goto(at('/Brands/NEW'));
  await page.getByRole('heading', { level: 1, name: 'New brand' }).waitFor();
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'beyond the first page of an audit trail without entries, Previous leads to it',
  async () => {
    const { at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    await page.goto(at('/audits?subject=nobody&page=99'));
    const previous = page.getByRole('link', { name: 'Previous' });
    await page.getByText('No entries.').waitFor();
    assert.is(await previous.getAttribute('href'), '/console/audits?subject=nobody');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser(
  'an address beyond the last page of the audit trail shows the last page',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('admin');
    const { page } = visitor;
    await make(server, '/admin/brands/', { name: 'On the last page' });
    const entry = page.getByRole('link', { name: 'On the last page' });
    await page.goto(at('/audits?page=99'));
    await page.waitForURL(at('/audits'));
    await entry.waitFor();
    // What is no page is the first one, as in a list.
    await page.goto(at('/audits?page=1.5'));
    await entry.waitFor();
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('an address beyond the last page of a list shows the last page', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/skus?page=99'));
  await page.waitForURL(at('/skus?page=2'));
  await page.getByText('21–36 of 36').waitFor();
  assert.is(await page.getByText('There is nothing here yet.').count(), 0);
  assert.equal(faults(visitor), []);
});

test.run();
