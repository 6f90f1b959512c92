/** Rules over several rows of a file, which hold for the rows of a commit together (spec 12.10). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Catalog,
  createCatalog,
  make,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { csv, errorsOf, importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

/** Rows of one commit. */
const COMMIT_ROWS = 250;

let server: Service;
let catalog: Catalog;

test.before.each(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after.each(closeServices);

/** SKUs of these codes. @returns their ids. */
async function skusWith(codes: readonly string[]): Promise<number[]> {
  const fields = codes.map((code) => skuFields(catalog, { name: code, code }));
  const { json } = await send(server, 'POST', '/admin/skus/bulk/', { body: fields });
  return json.map(({ id }: { id: number }) => id);
}

/** A new category. @returns its id. */
const category = async (name: string, parent_id: number | null) =>
  Number((await make(server, '/admin/categories/', { name, parent_id })).id);

const codes = async (ids: readonly number[]): Promise<string[]> =>
  Promise.all(ids.map(async (id) => (await read(server, `/admin/skus/${id}/`)).code));

test('article numbers can be exchanged and shifted in any order of the rows', async () => {
  const [a = 0, b = 0, c = 0] = await skusWith(['A1', 'A2', 'A3']);
  const exchange = await importInto(server, 'skus', csv('id,code', `${a},A2`, `${b},A1`));
  assert.equal([exchange.state, errorsOf(exchange)], ['done', []]);
  assert.equal(await codes([a, b, c]), ['A2', 'A1', 'A3']);
  await importInto(server, 'skus', csv('id,code', `${b},A2`, `${a},A1`));
  const rows = [`${a},A2`, `${b},A3`, `${c},A4`];
  const up = await importInto(server, 'skus', csv('id,code', ...rows));
  assert.equal([up.state, up.changed], ['done', 3]);
  assert.equal(await codes([a, b, c]), ['A2', 'A3', 'A4']);
  const down = [`${c},A3`, `${b},A2`, `${a},A1`];
  assert.is((await importInto(server, 'skus', csv('id,code', ...down))).state, 'done');
  assert.equal(await codes([a, b, c]), ['A1', 'A2', 'A3']);
});

test('rows with long texts are written in commits of fewer rows', async () => {
  const text = 'x'.repeat(65_536);
  const long = { desc_detail: text, desc_pack: text, desc_service: text };
  const rows = Array.from({ length: 6 }, (_, index) =>
    JSON.stringify(spuFields(catalog, { name: `Long ${index}`, ...long })),
  );
  const sequence = async () =>
    Number((await send(server, 'GET', '/books/')).headers.get('catalog-sequence'));
  const before = await sequence();
  const report = await importInto(server, 'goods', rows.join('\n'), { format: 'ndjson' });
  assert.equal([report.state, report.created], ['done', 6]);
  assert.is((await sequence()) - before, 2, 'three of them have more than 512 Ki characters');
});

test('categories can be moved in any order of the rows', async () => {
  const first = await category('First', null);
  const second = await category('Second', first);
  const moved = await category('Moved', null);
  await category('Below', moved);
  const rows = [`${moved},${second}`, `${second},`];
  for (const lines of [rows, rows.toReversed()]) {
    const dry = await importInto(server, 'categories', csv('id,parent_id', ...lines), {
      query: 'dry_run=true',
    });
    assert.equal([dry.state, errorsOf(dry)], ['done', []]);
  }
  const report = await importInto(server, 'categories', csv('id,parent_id', ...rows));
  assert.equal([report.state, report.changed], ['done', 2]);
});

test('categories can be moved with the columns of an export, in any order of the rows', async () => {
  const upper = await category('Upper', null);
  const lower = await category('Lower', upper);
  const header = 'id,parent_id,parent';
  // After its first row each is below the other, until its second row is written.
  const exchange = csv(header, `${upper},${lower},`, `${lower},,`);
  const report = await importInto(server, 'categories', exchange);
  assert.equal([report.state, report.changed, errorsOf(report)], ['done', 2, []]);
  const back = csv(header, `${upper},,`, `${lower},${upper},`);
  assert.is((await importInto(server, 'categories', back)).changed, 2);
  const circle = csv(header, `${upper},${lower},`, `${lower},${upper},Upper`);
  const refused = await importInto(server, 'categories', circle, { query: 'dry_run=true' });
  assert.is(refused.state, 'refused');
  assert.match(errorsOf(refused)[0]?.join(' '), /^2 parent_id .*below itself$/);
});

test('an exported file in which only the names of categories are changed leaves every parent', async () => {
  const [red, blue] = [await category('Red', null), await category('Blue', null)];
  const below = [await category('Dark', red), await category('Light', blue)];
  for (const parent of below) await category('Leaf', parent);
  // So that the last rows are in another commit than the first.
  for (let id = 0; id < COMMIT_ROWS; id += 1) await category(`Other ${id}`, null);
  await category('Late', below[0] ?? 0);
  const list = '/admin/categories/?limit=1000';
  const before: { id: number; name: string; parent_id: number }[] = await read(server, list);
  // The first two take the name of each other, so each path still means a category.
  const renamed = new Map([
    [red, 'Blue'],
    [blue, 'Red'],
    [below[0], 'Deep'],
  ]);
  const rows = before.map((row) => ({ ...row, name: renamed.get(row.id) ?? row.name }));
  for (const header of ['id,name,parent_id,parent', 'id,name,parent']) {
    const old = await send(server, 'GET', '/admin/categories/export/');
    const paths = old.text.trimEnd().split('\r\n').slice(1);
    const lines = rows.map(({ id, name, parent_id }, at) => {
      const path = paths[at]?.split(',')[3];
      return header.includes('parent_id')
        ? `${id},${name},${parent_id ?? ''},${path}`
        : `${id},${name},${path}`;
    });
    const report = await importInto(server, 'categories', csv(header, ...lines));
    assert.equal([report.state, errorsOf(report), report.changed], ['done', [], renamed.size]);
    assert.equal(await read(server, list), rows);
    const undone = before.map(({ id, name }) => `${id},${name}`);
    assert.is((await importInto(server, 'categories', csv('id,name', ...undone))).state, 'done');
  }
});

test('each row that breaks a rule has its own error, and rows beside it have none', async () => {
  const [a = 0, b = 0, c = 0, d = 0] = await skusWith(['A1', 'A2', 'A3', 'A4']);
  const [top, , third] = catalog.chain;
  const rows = [`${a},A2,${third},1`, `${b},A1,${third},1`, `${c},A5,${top},1`, `${d},A6,,x`];
  const header = 'id,code,category_id,stock';
  const report = await importInto(server, 'skus', csv(header, ...rows, rows[0] ?? ''));
  assert.equal([report.state, report.rows, report.refused], ['refused', 5, 3]);
  assert.equal(errorsOf(report), [
    [4, 'category_id', `category ${top} is not a third-level category`],
    [5, 'category_id', 'must not be empty'],
    [5, 'stock', 'must be a whole number in digits'],
    [6, 'code', 'A2 is in the file twice'],
  ]);
  const taken = await importInto(server, 'skus', csv('id,code', `${a},A3`, `${b},A1`));
  assert.equal(errorsOf(taken), [[2, 'code', `A3 is the code of SKU ${c}`]]);
  assert.equal(await codes([a, b, c]), ['A1', 'A2', 'A3']);
});

test('a rule that a row breaks in another row names that row, without a place in the commit', async () => {
  const [top, second] = catalog.chain;
  const other = await make(server, '/admin/categories/', { name: 'Other', parent_id: null });
  const file = csv('id,parent_id', `${top},`, `${second},${other.id}`);
  const report = await importInto(server, 'categories', file);
  assert.is(report.state, 'refused');
  assert.equal(
    errorsOf(report).map(([row, column]: unknown[]) => [row, column]),
    [[3, null]],
  );
  assert.match(report.errors[0].message, /^category2_id of SPU \d+: category \d+ is not a child/);
});

test('the check refuses what a commit would refuse: an exchange across two commits', async () => {
  const all = Array.from({ length: COMMIT_ROWS + 1 }, (_, index) => `A${index}`);
  const ids = await skusWith(all);
  const shifted = ids.map((id, index) => `${id},A${index + 1}`);
  const up = await importInto(server, 'skus', csv('id,code', ...shifted));
  assert.is(up.state, 'refused', JSON.stringify(up.errors));
  assert.equal(errorsOf(up), [
    [COMMIT_ROWS + 1, 'code', `A${COMMIT_ROWS} is the code of SKU ${ids.at(-1)}`],
  ]);
  const down = await importInto(server, 'skus', csv('id,code', ...shifted.toReversed()));
  assert.equal([down.state, down.changed], ['done', COMMIT_ROWS + 1]);
});

test('two files give the article numbers of a circle of rows that is longer than a commit', async () => {
  const names = Array.from({ length: COMMIT_ROWS + 1 }, (_, at) => `R${at}`);
  const ids = await skusWith(names);
  const next = [...names.slice(1), ...names.slice(0, 1)];
  const file = (values: readonly string[]) =>
    csv('id,code', ...ids.map((id, at) => `${id},${values[at] ?? ''}`));
  assert.is((await importInto(server, 'skus', file(next))).state, 'refused');
  assert.is((await importInto(server, 'skus', file([]))).changed, ids.length);
  assert.is((await importInto(server, 'skus', file(next))).changed, ids.length);
  assert.equal(await codes(ids), next);
});

test.run();
