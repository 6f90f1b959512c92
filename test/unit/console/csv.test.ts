/** CSV files as the console reads and writes them (RFC 4180). */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Delimiter,
  delimiterOf,
  readRecords,
  writeRecord,
} from '../../../src/console/browser/imports/csv.ts';
import {
  BrokenRow,
  type Mapping,
  mappedFile,
  readImportFile,
  recognise,
} from '../../../src/console/browser/imports/file.ts';

const records = (text: string, delimiter: Delimiter = ',') => readRecords(text, delimiter).records;

test('records are read as RFC 4180 specifies', () => {
  assert.equal(records('a,b\r\n1,2\r\n'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
  assert.equal(records('"a ""quoted"" one","two\r\nlines",\n'), [
    ['a "quoted" one', 'two\r\nlines', ''],
  ]);
  assert.equal(records('a;b', ';'), [['a', 'b']]);
  assert.equal(records('a\n\nb'), [['a'], [''], ['b']]);
  assert.equal(records(''), []);
  assert.equal(records('"not closed'), [['not closed']]);
});

test('the delimiter is the one that occurs most in the first record, outside quotes', () => {
  assert.is(delimiterOf('a;b;c\n1,2,3,4'), ';');
  assert.is(delimiterOf('"a;b;c",d'), ',');
  assert.is(delimiterOf('a\tb'), '\t');
  assert.is(delimiterOf('alone'), ',');
});

test('records that are written are read back unchanged', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '\r', '\n', ' ', 'ü') });
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 6 }),
      fc.constantFrom<Delimiter>(',', ';', '\t'),
      (rows, delimiter) => {
        const text = rows.map((row) => writeRecord(row, delimiter)).join('');
        assert.equal(records(text, delimiter), rows);
      },
    ),
  );
});

const lettersOf = (text: string) => text.replaceAll(/[^a]/g, '');

test('any text is read to its end', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n') }), (text) => {
      assert.is(lettersOf(records(text).flat().join('')), lettersOf(text));
    }),
  );
});

const COLUMNS = ['id', 'category_id', 'category', 'price EUR', 'price', 'code', 'spu', 'spu_id'];
const LABELS = ['ID', 'Category', 'Category', 'Price', 'Price', 'Artikelnummer', 'SPU', 'SPU'];

const recognised = (...header: string[]) => recognise(header, COLUMNS, LABELS);

test('columns are recognised by name and by label, and each is assigned once', () => {
  assert.equal(recognised('Price', 'artikel-nummer', 'spu', 'Remark', 'PRICE', ''), [
    'price EUR',
    'code',
    'spu',
    null,
    null,
    null,
  ]);
});

test('a column with a name of the catalog is that column, whatever labels are like it', () => {
  assert.equal(recognised(...COLUMNS), COLUMNS);
  for (const name of COLUMNS) assert.equal(recognised(name), [name]);
  assert.equal(recognised('Price', 'price EUR'), [null, 'price EUR']);
});

test('a label that an id and a name have is that of the name', () => {
  assert.equal(recognised('Category', 'SPU'), ['category', 'spu']);
  assert.equal(recognised('category', 'Category ID'), ['category', 'category_id']);
});

const chosen = (text: string) =>
  readImportFile(new File([text], 'stock.csv', { type: 'text/csv' }));

const EURO = { code: 'EUR', digits: 2 };

const sent = async (text: string, mapping: Mapping, currency = EURO) =>
  await mappedFile(await chosen(text), mapping, currency).file.text();

test('a mapped file has the names of the catalog, without the columns that are left out', async () => {
  assert.is(
    await sent('Code;Remark;Stock\r\nA;"x;y";1\r\n\r\nB;z;2\r\n', ['code', null, 'stock']),
    'code,stock\r\nA,1\r\n\r\nB,2\r\n',
    'an empty line stays one',
  );
});

test('blank lines before the header stay, so that the server counts the rows of the file', async () => {
  const blank = '\r\n;"";\n\r';
  const file = await chosen(`${blank}Code;Stock\r\nA;1\r\n`);
  assert.equal(file.table?.header, ['Code', 'Stock']);
  const mapped = mappedFile(file, ['code', 'stock'], EURO).file;
  assert.is(await mapped.text(), '\r\n\r\n\r\ncode,stock\r\nA,1\r\n');
  const broken = await chosen(`${blank}Code;Stock\r\nA;1;2\r\n`);
  assert.throws(
    () => mappedFile(broken, ['code', 'stock'], EURO),
    (error: unknown) => error instanceof BrokenRow && error.row === 5,
  );
});

test('a line of spaces before the header is sent as an empty one', async () => {
  for (const spaces of ['  ', ' , ', '" "," "', '\u00A0', '"\u00A0", \u3000', '"\n",""']) {
    const file = await chosen(`${spaces}\r\ncode,stock\r\nA,1\r\n`);
    const { file: mapped } = mappedFile(file, ['code', 'stock'], EURO);
    assert.is(await mapped.text(), '\r\ncode,stock\r\nA,1\r\n');
  }
});

test('a file without a header is sent with one', async () => {
  const file = await chosen('A,1\nB,2\n');
  const mapped = mappedFile(file, ['code', 'stock'], EURO, true).file;
  assert.is(await mapped.text(), 'code,stock\r\nA,1\r\nB,2\r\n');
});

test('UTF-16 with or without a byte order mark is sent as UTF-8', async () => {
  // With one, as Excel saves "Unicode Text".
  const texts = ['\uFEFF', ''].map((mark) => `${mark}code\tname\r\nA\tGrüner Tee, 你\r\n`);
  const little = texts.map((text) => Buffer.from(text, 'utf16le'));
  const big = little.map((bytes) => Buffer.from(bytes).swap16());
  for (const bytes of [...little, ...big]) {
    const file = await readImportFile(new File([bytes], 'stock.txt'));
    assert.equal([file.table?.header, file.table?.converted], [['code', 'name'], true]);
    const sentAs = await mappedFile(file, ['code', 'name'], EURO).file.text();
    assert.is(sentAs, 'code,name\r\nA,"Grüner Tee, 你"\r\n');
  }
});

test('a mapped file of one column has no delimiter outside quotes', async () => {
  assert.is(
    await sent('Name;Country\r\nSmith, Jones & Co;UK\r\n', ['name', null]),
    'name\r\n"Smith, Jones & Co"\r\n',
  );
});

test('cells of a German spreadsheet are sent as the server reads them', async () => {
  const mapping = ['code', 'price EUR', 'market_price EUR', 'is_launched'];
  const header = mapping.join(';');
  const rewritten = [
    ['12,50', '12.50'],
    ['12,5', '12.50'],
    ['0,99', '0.99'],
    ['1.234,50', '1234.50'],
    ['1234567,89 €', '1234567.89'],
    ['12,50 EUR', '12.50'],
  ] as const;
  for (const [cell, price] of rewritten) {
    const text = `${header}\r\n1,5;${cell};${cell};WAHR\r\n1,5;1;2;FALSCH\r\n`;
    assert.is(
      await sent(text, mapping),
      `${mapping.join(',')}\r\n"1,5",${price},${price},true\r\n"1,5",1,2,false\r\n`,
    );
    const { example } = mappedFile(await chosen(text), mapping, EURO);
    assert.equal(example, { before: cell, after: price });
  }
});

test('a blank row above the header that has another delimiter is sent as an empty line', async () => {
  const text = ';;\r\ncode,stock\r\nA,1\r\n';
  assert.is(await sent(text, ['code', 'stock']), '\r\ncode,stock\r\nA,1\r\n');
  const known = ',,\r\ncode,stock\r\nA,1\r\n';
  assert.is(await sent(known, ['code', 'stock']), known);
});

test('a cell that could mean something else is sent as it is, and so is a file of such cells', async () => {
  for (const cell of ['1,234', '1.234', '-5,00', '12,50 $', '1,2,50', 'a,50', ',', '']) {
    const text = `code;price EUR\nWAHR;${cell}\n`;
    assert.is(await sent(text, ['code', 'price EUR']), text);
    assert.is(mappedFile(await chosen(text), ['code', 'price EUR'], EURO).example, null);
  }
  const whole = 'code;price EUR\n1;12,50\n';
  assert.is(await sent(whole, ['code', 'price EUR'], { code: 'USD', digits: 2 }), whole);
  assert.is(
    await sent('c;p\n1;12,50\n', ['code', 'price JPY'], { code: 'JPY', digits: 0 }),
    'code,price JPY\r\n1,"12,50"\r\n',
  );
  assert.is(
    await sent('c;p\n1;12,50\n', ['code', 'price KWD'], { code: 'KWD', digits: 3 }),
    'code,price KWD\r\n1,12.500\r\n',
  );
});

test('a first line that names the delimiter is no row', async () => {
  for (const line of ['sep=;\r\n', 'SEP=;\n', '\uFEFFsep=;\r\n', '"sep=;"\r\n']) {
    const { table } = await chosen(`${line}code;name\r\nA;Tea, green\r\n`);
    assert.equal(table?.header, ['code', 'name']);
    assert.is(
      await sent(`${line}code;name\r\nA;Tea, green\r\n`, ['code', 'name']),
      'code,name\r\nA,"Tea, green"\r\n',
    );
  }
  // The delimiter is that of the line, whatever the header has more of.
  const { table } = await chosen('sep=\t\r\na, b, c\tname\r\n');
  assert.equal(table?.header, ['a, b, c', 'name']);
  assert.is(await sent('sep=,\ncode\nA\n', ['code']), 'code\r\nA\r\n');
});

test('a row of a mapped file that does not have the cells of the header is named', async () => {
  const header = 'SKU,Stock,Name\r\n';
  const mapping = ['code', 'stock', 'name'];
  const refusal = async (rows: string) => {
    const file = await chosen(`${header}${rows}`);
    const unchanged = await mappedFile(file, ['SKU', 'Stock', 'Name'], EURO).file.text();
    assert.is(unchanged, `${header}${rows}`, 'the server judges a file that is sent as it is');
    try {
      mappedFile(file, mapping, EURO);
    } catch (error) {
      if (error instanceof BrokenRow) return [error.row, error.cells];
      throw error;
    }
    return null;
  };
  assert.equal(await refusal('A,1,Shirt\r\n\r\nB,2,Shirt, red'), [4, { count: 4, all: 3 }]);
  assert.equal(await refusal('A,1,Shirt\r\nB'), [3, { count: 1, all: 3 }]);
  for (const last of ['"Shirt\r\nB,2,Hat\r\n', '"Shirt""', '"', '"Red" shirt\r\nB\r\n']) {
    assert.equal(await refusal(`A,1,${last}`), [2, null], last);
  }
  assert.is(
    await sent(`${header}A,1,"a ""red"" one"\r\nB,2,""`, mapping),
    'code,stock,name\r\nA,1,"a ""red"" one"\r\nB,2,\r\n',
  );
});

test.run();
