/** Importing an export changes nothing; a dry run reports what the run does (spec 12.5, 12.10). */
import * as fc from 'fast-check';
import { stringify } from 'csv-stringify/sync';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, make, read, skuFields, spuFields } from '../support/catalog.ts';
import type { Received } from '../support/client.ts';
import { COLLECTIONS, exportOf, importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

test.after.each(closeServices);

/** Texts of characters that have a meaning in a file or a spreadsheet. */
const awkward = fc
  .array(
    fc.oneof(
      fc.constantFrom(',', '"', '\n', '\r', '\r\n', ';', '\t', '=', "'", '\\', '>', ' '),
      fc.constantFrom('@', '-', '+', '1', '0', '.', '#', '\0', '\u2028', '\u00a0', 'null', 'true'),
      fc.constantFrom('価', '🙂', 'e\u0301', 'x', '\ufeff', 'Ω', '{', '[]', '"",""'),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const name = awkward.filter((text) => /\P{White_Space}/u.test(text));
const letter = fc.oneof(fc.constantFrom('', '=', "'", '"', ',', '\n', ' ', '🙂'));
const amount = fc.oneof(fc.nat(), fc.constantFrom(0, 1, 9, 10, 99, 100, Number.MAX_SAFE_INTEGER));
/** The beginning of a code; the number that follows makes it unique. */
const codeEnd = awkward.map((text) => text.trim());

const aRow = fc.record({ name, text: awkward, letter, amount, codeEnd, value: name });

test('importing an export changes nothing, for random rows and in every format', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aRow, { minLength: 1, maxLength: 5 }), async (rows) => {
      const shop = await openService();
      const first = await createCatalog(shop);
      let chain = first.chain;
      for (const [index, row] of rows.entries()) {
        const { text } = row;
        const logo = text.slice(0, 255).toWellFormed();
        const brand = { name: row.name, logo, first_letter: row.letter };
        const brand_id = (await make(shop, '/admin/brands/', brand)).id;
        const parent = await make(shop, '/admin/categories/', { name: row.value });
        const middle = { name: row.name, parent_id: parent.id };
        const { id: middle_id } = await make(shop, '/admin/categories/', middle);
        const leaf = { name: text.trim() === '' ? 'x' : text, parent_id: middle_id };
        const { id: leaf_id } = await make(shop, '/admin/categories/', leaf);
        chain = [parent.id, middle_id, leaf_id];
        const descriptions = { desc_detail: text, desc_pack: '', desc_service: row.value };
        const spu = spuFields({ brand: brand_id, chain }, { name: row.name, ...descriptions });
        const spu_id = (await make(shop, '/admin/goods/', spu)).id;
        const spec_id = (await make(shop, '/admin/specs/', { name: row.name, spu_id })).id;
        const option_id = (await make(shop, '/admin/options/', { value: row.value, spec_id })).id;
        const pair = { spec_id, option_id };
        const code = `${row.codeEnd}${index}`.trim();
        const fields = {
          name: row.name,
          caption: logo,
          price: row.amount,
          code,
          specs: [pair, pair],
        };
        await make(shop, '/admin/skus/', skuFields({ chain, spu: spu_id }, fields));
      }
      for (const collection of COLLECTIONS) {
        for (const format of ['csv', 'json', 'ndjson'] as const) {
          const file = await exportOf(shop, collection, `?format=${format}`);
          const report = await importInto(shop, collection, file, { format });
          assert.is(report.state, 'done', `${collection}: ${JSON.stringify(report.errors)}`);
          assert.is(report.change_count, 0, JSON.stringify(report.changes));
          assert.is(report.unchanged, report.rows);
        }
      }
      await shop.stop();
    }),
    { numRuns: 6, endOnFailure: true },
  );
});

/** For each column of SKUs cells that are valid with all others, and some that may not be. */
const CELLS: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  name: [
    ['Phone', 'Cable', "'=1"],
    ['', ' ', 'Cable A-1'],
  ],
  spu: [
    ['Phone', 'Tablet'],
    ['', 'Nothing'],
  ],
  caption: [['', 'New', ',";', "'+", 'a\nb'], ['x'.repeat(256)]],
  category: [
    ['Phone 1 > Phone 2 > Phone 3', 'A > B > C', 'A > B > D'],
    ['', 'A > B', 'A > > C'],
  ],
  'price USD': [
    ['649.00', '7', '7.5'],
    ['7.555', '-1', ''],
  ],
  'cost_price USD': [['502.00', '1'], ['1,5']],
  'market_price USD': [['699.00', '1'], ['x']],
  stock: [
    ['0', '42', '43'],
    ['1.5', ''],
  ],
  is_launched: [['true', 'false', 'TRUE'], ['yes']],
  specs: [
    ['', 'Colour=Silver', 'Size=Large; Colour=Black', 'Weight=1 kg'],
    ['Colour', '='],
  ],
  sales: [['', '5'], ['x']],
};

const IDENTITY = {
  id: ['1', '2', '3', '', ''],
  code: ['A-1', 'A-2', 'B-1', 'B-2', ''],
};

const ofColumns = (columns: readonly string[], which: 0 | 1) =>
  fc.record(
    Object.fromEntries(
      columns.map((column) => [column, fc.constantFrom(...(CELLS[column]?.[which] ?? ['']))]),
    ),
  );

/** Files whose rows are matched by id or by code; half have a cell that may be invalid. */
const aFile = fc
  .record({
    match: fc.constantFrom('id', 'code'),
    columns: fc.oneof(
      fc.constant(Object.keys(CELLS)),
      fc.uniqueArray(fc.constantFrom(...Object.keys(CELLS)), { minLength: 1 }),
    ),
  })
  .chain(({ match, columns }) =>
    fc.record({
      match: fc.constant(match),
      columns: fc.constant([match, ...columns]),
      keys: fc.shuffledSubarray(match === 'id' ? IDENTITY.id : IDENTITY.code, { minLength: 1 }),
      rows: fc.array(ofColumns(columns, 0), { minLength: 5, maxLength: 5 }),
      wrong: fc.option(fc.record({ row: fc.nat(4), cells: ofColumns(columns.slice(0, 1), 1) })),
      missing: fc.constantFrom('', 'categories,specs,options', 'categories,specs,options'),
    }),
  )
  .map(({ match, columns, keys, rows, wrong, missing }) => ({
    query: `match=${match}${missing && `&create_missing=${missing}`}`,
    file: stringify(
      keys.map((key, at) => ({
        ...rows[at],
        ...(wrong?.row === at && wrong.cells),
        [match]: key,
      })),
      { header: true, columns },
    ),
  }));

const skusOf = async (shop: Service): Promise<Map<number, Received['json']>> =>
  new Map(
    (await read(shop, '/admin/skus/?limit=1000')).map((sku: { id: number }) => [sku.id, sku]),
  );

test('a dry run reports exactly what the run then reports, and the run does what it reports', async () => {
  const shop = await openService();
  const { chain, brand } = await createCatalog(shop);
  await make(shop, '/admin/goods/', spuFields({ brand, chain }, { name: 'Tablet' }));
  for (const code of ['A-1', 'A-2']) {
    await make(shop, '/admin/skus/', skuFields({ chain, spu: 1 }, { name: `Cable ${code}`, code }));
  }
  const seen = { done: 0, refused: 0, created: 0, changed: 0 };
  await fc.assert(
    fc.asyncProperty(aFile, async ({ file, query }) => {
      const before = await skusOf(shop);
      const dry = await importInto(shop, 'skus', file, { query: `${query}&dry_run=true` });
      assert.equal([...(await skusOf(shop))], [...before], 'a dry run writes nothing');
      const report = await importInto(shop, 'skus', file, { query });
      assert.equal({ ...dry, id: 0, dry_run: false }, { ...report, id: 0 }, file);
      const after = await skusOf(shop);
      const changed = new Map<number, Received['json']>();
      for (const { id, fields } of report.changes) {
        changed.set(id, { ...changed.get(id), ...fields });
      }
      for (const [id, sku] of after) {
        const was = before.get(id);
        if (!changed.has(id)) assert.equal(sku, was, `SKU ${id} is not among the changes`);
        for (const [attribute, [, value]] of Object.entries<unknown[]>(changed.get(id) ?? {})) {
          const [shown, said] = [sku[attribute], value].map((each) =>
            Array.isArray(each) ? each.map((pair) => JSON.stringify(pair)).toSorted() : each,
          );
          assert.equal(shown, said, `${attribute} of SKU ${id}`);
        }
      }
      seen[report.state as 'done' | 'refused'] += 1;
      seen.created += report.created;
      seen.changed += report.changed;
    }),
    { numRuns: 60, endOnFailure: true },
  );
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 0, `${what}: ${count}`);
  await shop.stop();
});

test.run();
