/** How long and how deep a row of a file may be (spec 12.8). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, type Pair, read } from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { exportOf, type Format, type ImportOptions, importInto } from '../support/imports.ts';
import {
  closeServices,
  openService,
  type Service,
  type ServiceOptions,
} from '../support/service.ts';

test.after.each(closeServices);

async function withCatalog(
  options: ServiceOptions,
  run: (server: Service, catalog: Catalog) => Promise<void>,
): Promise<void> {
  const server = await openService(options);
  await run(server, await createCatalog(server));
  await server.stop();
}

const csv = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

/** Objects as a file. */
function fileOf(format: Exclude<Format, 'csv'>, texts: readonly string[]): string {
  return format === 'json' ? `[${texts.join(',')}]` : csv(...texts);
}

const errorsOf = async (
  server: Service,
  file: string,
  options: ImportOptions = {},
  collection = 'skus',
) => {
  const report = await importInto(server, collection, file, options);
  assert.is(report.state, report.error_count === 0 ? 'done' : 'refused');
  return report.errors.map(({ row, column, message }: Received['json']) => [row, column, message]);
};

const manyPairs = (pair: Pair, count: number) => Array.from({ length: count }, () => pair);

test('--max-json-depth: an object at the limit is validated; one level more is an error of the row', () =>
  withCatalog({ maxJsonDepth: 8 }, async (server) => {
    const nested = (depth: number) =>
      `{"name":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)},"first_letter":"x"}`;
    for (const format of ['json', 'ndjson'] as const) {
      const file = fileOf(format, [nested(8), nested(9), nested(100_000), '{"name":""}']);
      assert.equal(await errorsOf(server, file, { format }, 'brands'), [
        [1, 'name', 'must be a string, not an array'],
        [2, null, 'is nested more than 8 levels deep'],
        [3, null, 'is nested more than 8 levels deep'],
        [4, 'name', 'must not be empty or only white space'],
      ]);
    }
  }));

test('a line that is nested too deep and cut off is an error that ends the file', () =>
  withCatalog({}, async (server) => {
    for (const depth of [100, 100_000]) {
      const file = csv('{}', '['.repeat(depth), '{}');
      const errors = await errorsOf(server, file, { format: 'ndjson' }, 'brands');
      assert.equal(errors.at(-1), [2, null, 'the file is not JSON, an object on each line']);
    }
  }));

test('--max-json-elements: a row can have as many specification records as a request', () =>
  withCatalog({ maxJsonElements: 3 }, async (server, { sku, silver }) => {
    const path = `/admin/skus/${sku}/`;
    for (const format of ['json', 'ndjson'] as const) {
      const file = (count: number) =>
        fileOf(format, [JSON.stringify({ id: sku, specs: manyPairs(silver, count) })]);
      assert.equal(await errorsOf(server, file(4), { format }), [
        [1, null, 'has an array of more than 3 elements'],
      ]);
      assert.equal(await errorsOf(server, file(3), { format }), []);
      assert.is((await read(server, path)).specs.length, 3);
      assert.equal(await errorsOf(server, file(0), { format }), []);
    }
    const cells = (count: number) =>
      csv('id,specs', `${sku},${Array.from({ length: count }, () => 'Colour=Silver').join(';')}`);
    assert.equal(await errorsOf(server, cells(4)), [
      [2, 'specs', 'has more than 3 specifications'],
    ]);
    assert.equal(await errorsOf(server, cells(3)), []);
    assert.is((await read(server, path)).specs.length, 3);
  }));

test('more records than one request can send are exported, and importing them changes nothing', () =>
  withCatalog({ maxJsonElements: 3 }, async (server, { sku, silver }) => {
    for (const count of [3, 2]) {
      const body = { specs: manyPairs(silver, count) };
      assert.is((await send(server, 'PATCH', `/admin/skus/${sku}/`, { body })).status, 200);
    }
    const file = await exportOf(server, 'skus');
    assert.is(file.split('Colour=Silver').length - 1, 5);
    const report = await importInto(server, 'skus', file);
    assert.equal([report.state, report.unchanged, report.change_count], ['done', 1, 0]);
  }));

test('a text or an object over its limit is an error of the row', () =>
  withCatalog({}, async (server, { sku, spu, brand }) => {
    const members = Array.from({ length: 1001 }, (_, index) => `"a${index}":1`).join(',');
    const text = JSON.stringify('x'.repeat(800_000));
    for (const format of ['json', 'ndjson'] as const) {
      const file = fileOf(format, [`{${members}}`, `{"name":${text}}`, `{"id":${brand}}`]);
      assert.equal(await errorsOf(server, file, { format }, 'brands'), [
        [1, null, 'has an object of more than 1000 members'],
        [2, null, 'has a text that is written with more than 786432 characters'],
      ]);
    }
    const cell = csv('id,name,caption', `${sku},${'x'.repeat(131_074)},`, `${sku},ok,`);
    assert.equal(await errorsOf(server, cell), [
      [2, 'name', 'must be at most 255 characters long'],
    ]);
    const number = csv('id,stock', `${sku},${'1'.repeat(131_074)}`);
    assert.equal(await errorsOf(server, number), [
      [2, 'stock', 'must be at most 131073 UTF-16 units long'],
    ]);
    for (const character of ['\u{1f600}', 'a']) {
      const file = csv('id,desc_detail', `${spu},${character.repeat(65_537)}`);
      assert.equal(await errorsOf(server, file, {}, 'goods'), [
        [2, 'desc_detail', 'must be at most 65536 characters long'],
      ]);
    }
  }));

test('the longest description is exported and imported unchanged in every format', () =>
  withCatalog({}, async (server, { spu }) => {
    const path = `/admin/goods/${spu}/`;
    for (const unit of ['\u{1f600}', '\u0001', "'"]) {
      const body = { desc_detail: `${unit === "'" ? '=' : unit}${unit.repeat(65_535)}` };
      assert.is((await send(server, 'PATCH', path, { body })).status, 200);
      for (const format of ['csv', 'json', 'ndjson'] as const) {
        const file = await exportOf(server, 'goods', `?format=${format}`);
        const escaped = format === 'csv' ? file : file.replaceAll('\u{1f600}', '\\ud83d\\ude00');
        const report = await importInto(server, 'goods', escaped, { format });
        assert.equal([report.state, report.change_count], ['done', 0], report.errors[0]?.message);
      }
    }
  }));

test('a category path with more than three levels is an error before its names are looked up', () =>
  withCatalog({}, async (server, { spu }) => {
    const query = 'create_missing=categories';
    const four = csv('id,category', `${spu},A > B > C > D`);
    for (const options of [{ query }, {}]) {
      assert.equal(await errorsOf(server, four, options, 'goods'), [
        [2, 'category', 'must have at most three levels'],
      ]);
    }
    const many = csv('name,parent', `New,${'a>'.repeat(60_000)}a`);
    assert.equal(await errorsOf(server, many, { query }, 'categories'), [
      [2, 'parent', 'must have at most three levels'],
    ]);
  }));

test('a row with more than 10000 cells ends the file; the rows before it are validated', () =>
  withCatalog({}, async (server, { sku }) => {
    const file = csv('id,stock', `${sku},x`, ','.repeat(20_000), `${sku},1`);
    assert.equal(await errorsOf(server, file), [
      [2, 'stock', 'must be a whole number in digits'],
      [3, null, 'has more than 10000 cells'],
    ]);
    const quoted = csv('id,name,caption', `${sku},"${'",'.repeat(10_000).replaceAll('"', '""')}",`);
    assert.equal(await errorsOf(server, quoted), [
      [2, 'name', 'must be at most 255 characters long'],
    ]);
  }));

test('empty cells and cells after quoted ones count, and the cells of several rows are not added up', () =>
  withCatalog({}, async (server, { sku }) => {
    const file = csv('id,name,caption', `${sku},"a ""quoted"" name",`, ','.repeat(20_000));
    assert.equal(await errorsOf(server, file), [[3, null, 'has more than 10000 cells']]);
    const full = csv('id,stock', 'x,'.repeat(20_000));
    assert.equal(await errorsOf(server, full), [[2, null, 'has more than 10000 cells']]);
    const rows = csv('id,stock', ...Array.from({ length: 6000 }, () => `${sku},1`));
    const errors = await errorsOf(server, rows);
    assert.not.match(JSON.stringify(errors), /cells/, 'those of several rows do not add up');
  }));

test('a quote in a long cell without quotes ends the file, and the error does not contain the cell', () =>
  withCatalog({}, async (server, { sku }) => {
    const long = `${sku},${'x'.repeat(140_000)}"`;
    const file = csv('id,stock', `${sku},y`, long, `${sku},z`);
    assert.equal(await errorsOf(server, file), [
      [2, 'stock', 'must be a whole number in digits'],
      [3, null, 'the file is not CSV: a cell without quotes around it contains a quote'],
    ]);
  }));

test('the message and the column of an error are cut off after 1000 characters', () =>
  withCatalog({}, async (server, { spu }) => {
    const [[, column, message]] = await errorsOf(
      server,
      csv('id,brand', `${spu},${'B'.repeat(100_000)}`),
      {},
      'goods',
    );
    assert.is(column, 'brand');
    assert.match(message, /^there is no brand "B+…$/);
    assert.is(message.length, 1001);
    const member = JSON.stringify({ ['m'.repeat(5000)]: 1 });
    const [[, name]] = await errorsOf(server, csv(member), { format: 'ndjson' }, 'brands');
    assert.is(name.length, 1001);
  }));

test.run();
