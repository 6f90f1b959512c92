/** docs/import.md: the files and commands that it shows, and its tables for Shopify products. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrate } from '../../../../src/cli/commands/migrate.ts';
import { joinPairs, pairText } from '../../../../src/resources/transfer/labels.ts';
import { checkStore } from '../../../../src/store/check.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { ROOT } from '../../../support/paths.ts';
import { callProgram } from '../../../support/program.ts';
import { contextOf } from '../../../support/service.ts';

const FIXTURES = join(ROOT, 'test', 'fixtures', 'shopify');

const textOf = (name: string) => readFileSync(join(FIXTURES, name), 'utf8');

const guide = readFileSync(join(ROOT, 'docs', 'import.md'), 'utf8');

type Cells = Readonly<Record<string, string>>;

/** The columns that a continuation row leaves empty. */
const FILLED_DOWN = [
  'Title',
  'Vendor',
  'Product Category',
  'Published',
  'Option1 Name',
  'Option2 Name',
  'Option3 Name',
];

/** Step 1 of the guide. */
function filledDown(rows: readonly Cells[]): Cells[] {
  const filled: Cells[] = [];
  for (const row of rows) {
    const above = filled.at(-1);
    const isSame = above?.['Handle'] === row['Handle'] && row['Title'] === '';
    const kept = FILLED_DOWN.map((name) => [name, (isSame ? above?.[name] : row[name]) ?? '']);
    filled.push({ ...row, ...Object.fromEntries(kept) });
  }
  return filled;
}

const optionsOf = (row: Cells) =>
  [1, 2, 3]
    .map((n) => [row[`Option${n} Name`] ?? '', row[`Option${n} Value`] ?? ''] as const)
    .filter(([name, value]) => value !== '' && name !== 'Title');

/** The row `goods` of the guide's table. */
const spuOf = (row: Cells): Cells => ({
  name: row['Title'] ?? '',
  brand: row['Vendor'] ?? '',
  category: row['Product Category'] ?? '',
  desc_detail: row['Body (HTML)'] ?? '',
});

/** The row `skus`. */
const skuOf = (row: Cells): Cells => ({
  code: row['Variant SKU'] ?? '',
  name: [row['Title'], ...optionsOf(row).map(([, value]) => value)].join(', '),
  spu: row['Title'] ?? '',
  caption: '',
  category: row['Product Category'] ?? '',
  'price USD': row['Variant Price'] ?? '',
  'cost_price USD': row['Cost per item'] || '0',
  'market_price USD': row['Variant Compare At Price'] || row['Variant Price'] || '',
  stock: String(Math.max(0, Number(row['Variant Inventory Qty']))),
  is_launched: row['Published'] ?? '',
  specs: joinPairs(optionsOf(row).map(pairText)),
});

const csv = (rows: readonly Cells[]) => stringify([...rows], { header: true });

/** The rows of the guide's tables, by the file that they are about. */
function mapping(file: string): { readonly ours: string; readonly theirs: string }[] {
  const [, section = ''] = guide.split(`The columns of \`${file}\``);
  const rows = section.split('\n\n')[1]?.split('\n').slice(2) ?? [];
  return rows.map((row) => {
    const [, ours = '', theirs = ''] = row.split('|').map((cell) => cell.trim());
    return { ours: ours.replaceAll('`', ''), theirs };
  });
}

const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('the tables list every column of our files in order, and only columns that the Shopify file has', () => {
  const [header = []] = parse(textOf('products.csv'), { to: 1 });
  for (const file of ['goods.csv', 'skus.csv']) {
    const [columns = []] = parse(textOf(file), { to: 1 });
    const rows = mapping(file);
    assert.equal(
      rows.map(({ ours }) => ours),
      columns,
    );
    for (const { ours, theirs } of rows) {
      for (const name of codeIn(theirs)) assert.ok(header.includes(name), `${ours}: ${name}`);
    }
  }
});

test('the mapped files are what the tables make of the Shopify products', () => {
  const rows = filledDown(parse<Cells>(textOf('products.csv'), { columns: true }));
  const first = new Map<string, Cells>();
  for (const row of rows) {
    const handle = row['Handle'] ?? '';
    if (!first.has(handle)) first.set(handle, row);
  }
  assert.is(csv([...first.values()].map(spuOf)), textOf('goods.csv'));
  const variants = rows.filter((row) => row['Variant Price'] !== '');
  assert.is(csv(variants.map(skuOf)), textOf('skus.csv'));
});

test('the guide shows the beginning of skus.csv', () => {
  const blocks = [...guide.matchAll(/```\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const shown = blocks.filter((block) => textOf('skus.csv').startsWith(block));
  assert.is(shown.length, 1);
});

/** Runs the commands of the guide that name these files. */
async function run(data: string): Promise<string> {
  const commands = [...guide.matchAll(/^ {4}catalog-server (import .*(?:goods|skus)\.csv.*)$/gm)]
    .map(([, line = '']) => line.split(' '))
    .filter((words) => words.includes('--create-missing'));
  assert.is(commands.length, 2);
  let printed = '';
  for (const words of commands) {
    const args = words.map((word) => (word.endsWith('.csv') ? join(FIXTURES, word) : word));
    const { status, stdout, stderr } = await callProgram([...args, '--data', data]);
    assert.is(status, 0, stderr + stdout);
    printed += stdout.replace(/.*\//, '');
  }
  return printed;
}

test('the commands of the guide fill an empty store, and change nothing the second time', async () => {
  const data = temporaryDirectory();
  await migrate({ data, demo: false, dryRun: false }, contextOf());
  assert.is(
    await run(data),
    'goods.csv: 4 rows, 4 created, 0 changed, 0 unchanged, 15 missing items created\n' +
      'skus.csv: 7 rows, 7 created, 0 changed, 0 unchanged, 14 missing items created\n',
  );
  const store = readSnapshot(data);
  const counts = (['brands', 'categories', 'specs', 'options'] as const).map((name) =>
    store.count(name),
  );
  assert.equal(counts, [3, 12, 5, 9]);
  const skus = [...store.ids('skus')].map((id) => store.get('skus', id));
  assert.equal(
    skus.map((sku) => [sku?.code, sku?.price, sku?.market_price, sku?.stock, sku?.is_launched]),
    [
      ['HOX-WHT-M', 8900, 11000, 14, true],
      ['HOX-WHT-L', 8900, 11000, 9, true],
      ['HOX-BLU-M', 8900, 8900, 0, true],
      ['00417', 6450, 6450, 23, true],
      ['KES-22-MOS', 112_900, 129_900, 0, true],
      ['KES-22-SLT', 112_900, 112_900, 5, true],
      ['GIFT-WRAP', 400, 400, 100, false],
    ],
  );
  const values = [...store.ids('options')].map((id) => store.get('options', id)?.value);
  assert.ok(values.includes('Chest; removable') && values.includes('=plain'), values.join());
  assert.match(store.get('goods', 1)?.desc_detail ?? '', '<strong>garment washed</strong>.</p>\n');
  assert.equal(checkStore(quickDisk, data).findings, []);
  assert.is(
    await run(data),
    'goods.csv: 4 rows, 0 created, 0 changed, 4 unchanged\nskus.csv: 7 rows, 0 created, 0 changed, 7 unchanged\n',
  );
});

test.run();
