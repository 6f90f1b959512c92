/** More categories than one request of the console takes, and than its pickers show (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { until } from '../../../support/until.ts';
import { testInBrowser, violationsOn } from '../browser.ts';
import { faults, stage } from './console.ts';

const scene = stage();

const MANY = 10_000;

testInBrowser('each of more than 10,000 categories is named, found and chosen', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: top } = await make(server, '/admin/categories/', { name: 'Top', parent_id: null });
  const { id: middle } = await make(server, '/admin/categories/', { name: 'Mid', parent_id: top });
  // By name they are before all others, on which their paths depend.
  const body = Array.from({ length: MANY }, (_, nth) => ({ name: `Aa ${nth}`, parent_id: middle }));
  const { status } = await send(server, 'POST', '/admin/categories/bulk/', { body });
  assert.is(status, 201);
  await page.goto(at('/skus/1'));
  const field = page.getByRole('combobox', { name: 'Category' });
  await until('the category is named', async () =>
    (await field.inputValue()).endsWith('Smartphones'),
  );
  const choices = page.getByRole('treeitem');
  const rest = page.getByText('These are the first 300. Type a word to find others.');
  await field.fill('Aa');
  await rest.waitFor();
  // Those above it, and what creates one.
  assert.is(await choices.count(), 301);
  // A click on what is no choice leaves the choices open.
  await rest.click();
  assert.equal(await violationsOn(page), []);
  // What has a name is in sight and chosen, wherever it is in the tree; a part of names is none.
  await field.press('Enter');
  assert.is(await field.inputValue(), 'Aa');
  await field.fill('Aa 9');
  await field.press('Enter');
  assert.is(await field.inputValue(), 'Top › Mid › Aa 9');
  await field.fill(`Aa ${MANY - 1}`);
  await page.getByRole('treeitem', { name: `Aa ${MANY - 1}`, exact: true }).click();
  assert.is(await field.inputValue(), `Top › Mid › Aa ${MANY - 1}`);
  assert.is(await rest.count(), 0);
  assert.equal(faults(visitor), []);
});

testInBrowser(
  'Enter chooses one of several categories that have the name that was typed',
  async () => {
    const { server, at, visit } = scene();
    const visitor = await visit('editor');
    const { page } = visitor;
    // By path, one that only has the word above it comes before them.
    for (const path of ['Ab gadgets/B/C', 'Ac/Ab gadgets/Ab gadgets', 'Ad/Ae/Ab gadgets']) {
      let parent_id: number | null = null;
      for (const name of path.split('/')) {
        ({ id: parent_id } = await make(server, '/admin/categories/', { name, parent_id }));
      }
    }
    await page.goto(at('/skus/1'));
    const field = page.getByRole('combobox', { name: 'Category' });
    await field.fill('ab gadgets');
    await page.getByRole('treeitem', { name: 'C', exact: true }).waitFor();
    await field.press('Enter');
    assert.is(await field.inputValue(), 'Ac › Ab gadgets › Ab gadgets');
    assert.equal(faults(visitor), []);
  },
);

testInBrowser('the tree has every category although one is deleted while it is read', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  const { id: spare } = await make(server, '/admin/categories/', { name: 'Aa', parent_id: null });
  // The first one that a request for a page of the list does not have.
  const [next] = await read(server, '/admin/categories/?sortby=name&page=1001&per_page=1');
  let reads = 0;
  await page.route(/\/admin\/categories\/(?:export\/)?\?/, async (route) => {
    const response = await route.fetch();
    reads += 1;
    // By name it is before all others, which move up.
    if (reads === 1) await send(server, 'DELETE', `/admin/categories/${spare}/`);
    await route.fulfill({ response });
  });
  await page.goto(at('/skus/1'));
  const field = page.getByRole('combobox', { name: 'Category' });
  await until('the category is named', async () =>
    (await field.inputValue()).endsWith('Smartphones'),
  );
  await field.fill(next.name);
  await page.getByRole('treeitem', { name: next.name, exact: true }).waitFor();
  // A tree that is 30 seconds old is read again.
  await page.unrouteAll({ behavior: 'wait' });
  assert.equal(faults(visitor), []);
});

testInBrowser('categories are named while the user has no export left', async () => {
  const { server, at, visit } = scene();
  const visitor = await visit('viewer');
  const { page } = visitor;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const refused = '12 of your exports are in progress; read one of them to its end first';
  await page.route('**/admin/categories/export/?*', (route) =>
    route.fulfill({ status: 503, json: { error: refused }, headers: { 'retry-after': '10' } }),
  );
  await page.goto(at('/goods'));
  await page.getByRole('cell', { name: /Kitchen Appliances › Kettles$/ }).waitFor();
  assert.ok(asked.some((url) => url.includes('/admin/categories/export/?')));
  assert.is(await page.getByRole('alert').count(), 0);
  // One page of the list does not have all that the test before has created.
  const [last] = await read(server, '/admin/categories/?sortby=name&order=desc&per_page=1');
  const category = page.getByRole('combobox', { name: 'Category 3' });
  await category.fill(last.name);
  await page.getByRole('treeitem', { name: last.name, exact: true }).waitFor();
  assert.equal(faults(visitor, [/503/]), []);
});

test.run();
