/** The meaning of single rows: ids in JSON, the SPU of an option, empty cells (spec 12.8, 12.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, read } from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { errorsOf, exportOf, type Format, importInto } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

let server: Service;

test.before.each(async () => {
  server = await openService({ demo: true });
});

test.after.each(closeServices);

const csv = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

test('in JSON and NDJSON an id is an integer, or absent or null to create; others are errors', async () => {
  const before = await read(server, '/admin/brands/1/');
  const wrong: [id: string, message: string][] = [
    ['"1"', 'must be an integer, not a string'],
    ['""', 'must be an integer, not a string'],
    ['true', 'must be an integer, not a boolean'],
    ['1.5', 'must be an integer, not a fraction'],
    ['1.00000000000000000001', 'must be an integer, not a fraction'],
    ['1e400', 'must be an integer, not one beyond 2^53 - 1'],
    ['[1]', 'must be an integer, not an array'],
    ['{}', 'must be an integer, not an object'],
    ['0', 'must be 1 or more'],
    ['-1', 'must be 1 or more'],
    ['999', 'there is no brand 999'],
  ];
  for (const format of ['json', 'ndjson'] as const) {
    const rows = wrong.map(([id]) => `{"id":${id},"name":"x"}`);
    const file = format === 'json' ? `[${rows.join(',')}]` : csv(...rows);
    const report = await importInto(server, 'brands', file, { format });
    assert.is(report.state, 'refused');
    assert.equal(
      errorsOf(report),
      wrong.map(([, message], index) => [index + 1, 'id', message]),
    );
    const right = ['{"id":1}', '{"id":1e0}', '{"id":null,"name":"A"}', '{"name":"B"}'];
    for (const [index, row] of right.entries()) {
      const one = await importInto(server, 'brands', format === 'json' ? `[${row}]` : row, {
        format,
      });
      assert.equal([one.created, one.unchanged], index < 2 ? [0, 1] : [1, 0], row);
    }
  }
  assert.equal(await read(server, '/admin/brands/1/'), before);
  const cells = await importInto(server, 'brands', csv('id,name', ',C'));
  assert.is(cells.created, 1, 'an empty cell creates');
});

test('in JSON a value to match by must be a string; another type is an error', async () => {
  await importInto(server, 'skus', csv('id,code', '1,17'));
  const file = '{"code":17,"stock":1}\n{"code":"17","stock":1}\n';
  const report = await importInto(server, 'skus', file, { format: 'ndjson', query: 'match=code' });
  assert.equal(errorsOf(report), [[1, 'code', 'must be a string']]);
});

test('the code of one row may be the id of another', async () => {
  const { state, changed } = await importInto(server, 'skus', csv('id,code', '1,2', '2,3'));
  assert.equal([state, changed], ['done', 2]);
});

test('of an object with many unknown members the first ten are errors', async () => {
  const names = Array.from({ length: 12 }, (_, nth) => `member${nth}`);
  const file = JSON.stringify([Object.fromEntries(names.map((name) => [name, 1]))]);
  const report = await importInto(server, 'brands', file, { format: 'json' });
  const expected = names.slice(0, 10).map((name) => [1, name, 'is not an attribute']);
  assert.equal(errorsOf(report), expected);
});

test('a missing attribute of a row that creates an item is an error that says why it creates one', async () => {
  const reasonOf = async (file: string, query: string, format: Format = 'csv') => {
    const report = await importInto(server, 'skus', file, { format, query });
    assert.is(report.state, 'refused');
    return errorsOf(report).find(([, column]: unknown[]) => column === 'spu_id')?.[2];
  };
  const begin = 'is required, because the row creates an item: ';
  const prices = csv('code,price USD', 'NO-SUCH,1.00');
  assert.is(await reasonOf(prices, ''), `${begin}it has no id`);
  assert.is(await reasonOf(prices, 'match=code'), `${begin}no SKU has the code "NO-SUCH"`);
  const names = csv('name,code', 'No such,x');
  assert.is(await reasonOf(names, 'match=name'), `${begin}no SKU has the name "No such"`);
  assert.is(await reasonOf('[{"code":null}]', 'match=code', 'json'), `${begin}it has no code`);
  const child = '[{"name":"x","specs":[{"spec_id":1}]}]';
  const report = await importInto(server, 'skus', child, { format: 'json' });
  const inside = errorsOf(report).filter(([, column]: unknown[]) => column === 'specs.0.option_id');
  assert.equal(inside, [[1, 'specs.0.option_id', 'is required']]);
});

test('an error names an attribute that has no column, and in JSON the member that was sent', async () => {
  const columnsOf = async (collection: string, file: string, format: Format) => {
    const report = await importInto(server, collection, file, { format });
    return errorsOf(report).map(([, column]: unknown[]) => column);
  };
  const options = csv('value,spu', `Red,${PHONE}`);
  assert.equal(await columnsOf('options', options, 'csv'), ['spec_id'], 'the SPU is there');
  for (const name of ['spu_id', 'goods_id']) {
    assert.equal(await columnsOf('specs', `[{"id":1,"${name}":"1"}]`, 'json'), [name]);
  }
});

test('an error of a specification record is in the column specs', async () => {
  const rows = [
    { id: 1, specs: [{ spec_id: 3, option_id: 6 }] },
    { id: 2, specs: [{ spec_id: 1, option_id: 4 }] },
    { id: 3, specs: [{ spec_id: 999, option_id: 1 }] },
  ];
  const report = await importInto(server, 'skus', JSON.stringify(rows), { format: 'json' });
  assert.equal(errorsOf(report), [
    [1, 'specs', 'specification 3 does not belong to SPU 1'],
    [2, 'specs', 'option 4 does not belong to specification 1'],
    [3, 'specs', '999 does not exist'],
  ]);
});

test('a name in the column specs that several specifications or options have is an error that lists them', async () => {
  const { id: spec } = await make(server, '/admin/specs/', { name: 'Colour', spu_id: 1 });
  const ambiguous = await importInto(server, 'skus', csv('id,specs', '1,Colour=Silver'));
  const advice = 'have this name; give them different names';
  assert.equal(errorsOf(ambiguous), [[2, 'specs', `specifications 1, ${spec} ${advice}`]]);
  const { id: option } = await make(server, '/admin/options/', { value: '128 GB', spec_id: 2 });
  const report = await importInto(server, 'skus', csv('id,specs', '1,Storage=128 GB'));
  assert.equal(errorsOf(report), [[2, 'specs', `options 4, ${option} ${advice}`]]);
});

test('the specifications of a row that creates a SKU without an SPU are not looked for', async () => {
  const report = await importInto(server, 'skus', csv('code,specs', 'NEW,Colour=Silver'));
  const columns = errorsOf(report).map(([, column]: unknown[]) => column);
  assert.equal(
    columns.filter((column: unknown) => column === 'spu_id' || column === 'specs'),
    ['spu_id'],
  );
});

test('a name that is too long to be created is an error of its cell', async () => {
  const long = 'x'.repeat(256);
  const query = 'create_missing=brands,categories,specs,options';
  for (const [collection, column, cell, attribute] of [
    ['goods', 'brand', long, 'name'],
    ['goods', 'category', `Electronics > Phones > ${long}`, 'name'],
    ['options', 'spec', `${long},${PHONE}`, 'name'],
    ['skus', 'specs', `Colour=${long}`, 'value'],
  ] as const) {
    const header = collection === 'options' ? 'id,spec,spu' : `id,${column}`;
    const report = await importInto(server, collection, csv(header, `1,${cell}`), { query });
    const message = `${attribute}: must be at most 255 characters long`;
    assert.equal(errorsOf(report), [[2, column, message]]);
  }
});

test('a row that moves a SKU to another SPU finds its specifications by their names there', async () => {
  const { id: _id, ...spu } = await read(server, '/admin/goods/1/');
  const spu_id = (await make(server, '/admin/goods/', { ...spu, name: 'Phone 13' })).id;
  const pairs = [];
  for (const [name, value] of [
    ['Colour', 'Silver'],
    ['Storage', '128 GB'],
  ]) {
    const spec_id = (await make(server, '/admin/specs/', { name, spu_id })).id;
    const option_id = (await make(server, '/admin/options/', { value, spec_id })).id;
    pairs.push({ spec_id, option_id });
  }
  const file = csv('id,spu,specs', '1,Phone 13,Colour=Silver; Storage=128 GB');
  const report = await importInto(server, 'skus', file);
  assert.equal([report.state, errorsOf(report)], ['done', []]);
  assert.equal((await read(server, '/admin/skus/1/')).specs, pairs);
});

test('an amount in a column of prices without a currency is an error that names the column for it', async () => {
  const report = await importInto(server, 'skus', csv('id,price,stock', '1,12.50,1.5'));
  assert.equal(errorsOf(report), [
    [2, 'price', 'must be a whole number in digits; for decimals name it "price USD"'],
    [2, 'stock', 'must be a whole number in digits'],
  ]);
  const cents = await importInto(server, 'skus', csv('id,price', '1,1250'));
  assert.is(cents.changed, 1, 'a whole number is in the smallest unit');
});

test('only a price can be in another currency; any other column with one is unknown', async () => {
  for (const [name, problem] of [
    ['price EUR', /^is in EUR, but prices are in USD$/],
    ['stock EUR', /^is not a column; /],
  ] as const) {
    const [[row, column, message]] = errorsOf(
      await importInto(server, 'skus', csv(`id,${name}`, '1,2')),
    );
    assert.equal([row, column], [1, name]);
    assert.match(message, problem);
  }
});

test('a column without a name is named by its position', async () => {
  const report = await importInto(server, 'brands', csv('id,name,', ',A,'));
  assert.equal(report.state, 'refused');
  const [[row, column, message]] = errorsOf(report);
  assert.equal([row, column], [1, null]);
  assert.match(message, /^column 3 has no name; .*id, name, logo, first_letter$/);
});

test('blank lines before the header are skipped, and counted as rows', async () => {
  const file = csv('', ';;', 'id;name;logo', '1;;x.png');
  const report = await importInto(server, 'brands', file);
  assert.equal(errorsOf(report), [[4, 'name', 'must not be empty or only white space']]);
  const refused = await importInto(server, 'brands', csv('', ',', 'id,nom'));
  assert.equal(errorsOf(refused)[0].slice(0, 2), [3, 'nom']);
  const empty = await importInto(server, 'brands', csv('', ',,', ''));
  assert.match(errorsOf(empty)[0][2], 'the file is empty');
});

test('a new path of an SPU sets the levels that are as exported, whatever the order of the columns', async () => {
  const names = ['category1_id', 'category2_id', 'category'];
  const { category1_id, category2_id, category3_id } = await read(server, '/admin/goods/1/');
  const cells = [category1_id, category2_id, 'Home and Kitchen > Coffee > Coffee Beans'];
  const coffee = await read(server, '/admin/goods/6/');
  assert.is.not(coffee.category1_id, category1_id);
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
    [0, 2, 1],
  ]) {
    const line = (texts: readonly unknown[]) => order.map((index) => texts[index]).join(',');
    const file = csv(`id,${line(names)}`, `1,${line(cells)}`);
    const report = await importInto(server, 'goods', file, { query: 'dry_run=true' });
    assert.equal([report.state, errorsOf(report)], ['done', []], line(names));
    assert.equal(report.changes[0].fields, {
      category1_id: [category1_id, coffee.category1_id],
      category2_id: [category2_id, coffee.category2_id],
      category3_id: [category3_id, coffee.category3_id],
    });
    const wrong = csv(`id,${line(names)}`, `1,${line([3, category2_id, cells[2]])}`);
    const refused = await importInto(server, 'goods', wrong);
    assert.is(refused.state, 'refused', line(names));
  }
});

test('an empty level of an SPU is taken from its path, and is an error without one', async () => {
  const path = 'Electronics > Phones > Smartphones';
  const withPath = csv('id,category1_id,category2_id,category', `1,,,${path}`);
  const report = await importInto(server, 'goods', withPath);
  assert.equal([report.state, report.unchanged, errorsOf(report)], ['done', 1, []]);
  for (const columns of [
    ['category1_id'],
    ['category2_id'],
    ['category1_id', 'category'],
    ['category2_id', 'category'],
  ]) {
    const file = csv(`id,name,${columns.join(',')}`, `1,Phone${','.repeat(columns.length)}`);
    const refused = await importInto(server, 'goods', file);
    const wanted = columns.map((column) => [2, column, 'must not be empty']);
    assert.equal(errorsOf(refused), wanted, columns.join());
  }
});

test('a path of an SPU or a SKU with fewer than three levels is an error, and creates nothing', async () => {
  for (const collection of ['goods', 'skus']) {
    for (const path of ['Electronics', 'Electronics > Phones', 'Electronics > Gadgets']) {
      const query = 'create_missing=categories';
      const report = await importInto(server, collection, csv('id,category', `1,${path}`), {
        query,
      });
      assert.equal(errorsOf(report), [[2, 'category', 'must have three levels']], path);
      assert.is(report.created_missing_count, 0);
    }
  }
});

/** In the demo catalog option 1 is of specification 1, "Colour" of this SPU. */
const PHONE = 'Auralune Phone 12';
/** Specification 3 is "Colour" of this one. */
const FOLIO = 'Auralune Folio Laptop';

test('spu selects among specifications of the same name, even if the option belongs to another one', async () => {
  const { id } = await make(server, '/admin/options/', { value: 'New', spec_id: 1 });
  const moved = await importInto(server, 'options', csv('id,spec,spu', `${id},Colour,${FOLIO}`));
  assert.equal(errorsOf(moved), []);
  assert.equal(moved.changes[0].fields, { spec_id: [1, 3] });
  assert.is((await read(server, `/admin/options/${id}/`)).spec_id, 3);
  // SKUs use option 1: if it is moved, their records are invalid.
  const chosen = await importInto(server, 'options', csv('id,spec,spu', `1,Colour,${FOLIO}`));
  assert.is(chosen.errors[0].column, null, 'no cell is wrong: the record of a SKU is');
  assert.match(
    chosen.errors[0].message,
    /^option_id of .+: option 1 does not belong to specification 1$/,
  );
});

test('create_missing creates the specification of an option once for each SPU that a row names', async () => {
  const rows = [`Matt,Finish,${FOLIO}`, `Gloss,Finish,${FOLIO}`, `Matt,Finish,${PHONE}`];
  const query = 'create_missing=specs';
  const report = await importInto(server, 'options', csv('value,spec,spu', ...rows), { query });
  assert.equal(errorsOf(report), []);
  const { created_missing, changes }: Received['json'] = report;
  assert.equal(
    created_missing.map(({ row, name }: Received['json']) => [row, name]),
    [
      [2, 'Finish'],
      [4, 'Finish'],
    ],
  );
  const [folio, phone] = created_missing.map(({ id }: Received['json']) => id);
  const specOf = ({ fields }: Received['json']) => fields.spec_id[1];
  assert.equal(changes.map(specOf), [folio, folio, phone]);
  assert.is((await read(server, `/admin/specs/${folio}/`)).goods, FOLIO);
  assert.is((await read(server, `/admin/specs/${phone}/`)).goods, PHONE);
});

test('an option whose specification is to be created below one of several SPUs is an error', async () => {
  const { id: _id, ...spu } = await read(server, '/admin/goods/1/');
  const twins = [];
  for (let nth = 0; nth < 2; nth += 1) {
    twins.push(await make(server, '/admin/goods/', { ...spu, name: 'Twin' }));
  }
  const [first, second] = twins.map(({ id }) => id);
  const query = 'create_missing=specs';
  const file = csv('value,spec,spu', 'Matt,Finish,Twin');
  const report = await importInto(server, 'options', file, { query });
  const message = `SPUs ${first}, ${second} have this name; create the specification first`;
  assert.equal(errorsOf(report), [[2, 'spec', message]]);
  const spec = await make(server, '/admin/specs/', { name: 'Finish', spu_id: second });
  const { changes } = await importInto(server, 'options', file, { query });
  assert.equal(changes[0].fields.spec_id, [null, spec.id]);
});

test('a specification is not created without the name of its SPU', async () => {
  const file = csv('value,spec', 'Matt,Gloss');
  const none = await importInto(server, 'options', file);
  assert.equal(errorsOf(none), [[2, 'spec', 'there is no specification "Gloss"']]);
  const report = await importInto(server, 'options', file, { query: 'create_missing=specs' });
  const message = 'there is no such specification; to create it, name its SPU in the column spu';
  assert.equal(errorsOf(report), [[2, 'spec', message]]);
});

test('an SPU that does not exist, or to which the specification does not belong, is an error', async () => {
  const none = 'there is no SPU "Nope"';
  const folio = `specification 3 belongs to SPU "${FOLIO}"`;
  const phone = `specification 1 belongs to SPU "${PHONE}"`;
  const files: [header: string, row: string, column: string, message: string][] = [
    ['id,spec_id,spec,spu', `1,1,Colour,${FOLIO}`, 'spec', 'differs from the column spec_id'],
    ['id,spec_id,spec,spu', `1,3,Colour,${PHONE}`, 'spec', 'differs from the column spec_id'],
    ['id,spec,spu', '1,Colour,Nope', 'spu', none],
    ['id,spec,spu', '1,,Nope', 'spu', none],
    ['id,spu', '1,Nope', 'spu', none],
    ['id,goods', '1,Nope', 'goods', none],
    ['id,spu', `1,${FOLIO}`, 'spu', phone],
    ['id,spec_id,spu', '1,1,Nope', 'spu', none],
    ['id,spec_id,spu', `1,1,${FOLIO}`, 'spu', phone],
    ['id,spec_id,spec,spu', `1,1,,${FOLIO}`, 'spu', phone],
    ['id,spec_id,spu', `1,999,${FOLIO}`, 'spec_id', '999 does not exist'],
    ['value,spec_id,spu', `New,3,${PHONE}`, 'spu', folio],
    ['id,spec,spu', `1,Nothing,${FOLIO}`, 'spec', 'there is no specification "Nothing"'],
  ];
  for (const [header, row, column, message] of files) {
    const report = await importInto(server, 'options', csv(header, row));
    assert.equal(errorsOf(report), [[2, column, message]], `${header}: ${row}`);
  }
  const both = await importInto(server, 'options', csv('id,spec_id,spu', '1,one,Nope'));
  assert.equal(errorsOf(both), [
    [2, 'spu', none],
    [2, 'spec_id', 'must be a whole number in digits'],
  ]);
});

test('an SPU that fits the specification of an option, or is empty, changes nothing', async () => {
  const files: [header: string, row: string][] = [
    ['id,spec,spu', `1,Colour,${PHONE}`],
    ['id,spec_id,spec,spu', `1,1,Colour,${PHONE}`],
    ['id,spec_id,spu', `1,1,${PHONE}`],
    ['id,spu', `1,${PHONE}`],
    ['id,spec,spu', '1,Colour,'],
    ['id,spu', '1,'],
  ];
  for (const [header, row] of files) {
    const report = await importInto(server, 'options', csv(header, row));
    assert.equal([report.state, report.unchanged], ['done', 1], `${header}: ${row}`);
  }
});

test('an id selects one of several specifications of the same name, whether or not a cell names its SPU', async () => {
  const { id } = await make(server, '/admin/options/', { value: 'New', spec_id: 1 });
  for (const [spu, wanted] of [
    [FOLIO, 3],
    ['', 6],
  ] as const) {
    const file = csv('id,spec_id,spec,spu', `${id},${wanted},Colour,${spu}`);
    const report = await importInto(server, 'options', file);
    assert.equal([report.state, errorsOf(report)], ['done', []], spu);
    assert.is((await read(server, `/admin/options/${id}/`)).spec_id, wanted);
  }
});

test('an SPU whose name looks like a formula fits its specification as an export writes it', async () => {
  const named = { body: { name: '=Phone' } };
  assert.is((await send(server, 'PATCH', '/admin/goods/1/', named)).status, 200);
  const { id } = await make(server, '/admin/specs/', { name: 'Finish', spu_id: 1 });
  const report = await importInto(
    server,
    'options',
    csv('spec_id,spu,value', `${id},'=Phone,Matt`),
  );
  assert.equal([report.state, report.created, errorsOf(report)], ['done', 1, []]);
});

test('importing exported options of SPUs and specifications with equal names changes nothing', async () => {
  const { id: _id, ...spu } = await read(server, '/admin/goods/1/');
  const names = ['id,spec,spu'];
  for (let twin = 0; twin < 2; twin += 1) {
    const spu_id = (await make(server, '/admin/goods/', { ...spu, name: '=Twin; a > b' })).id;
    const spec_id = (await make(server, '/admin/specs/', { name: 'Shade', spu_id })).id;
    const { id } = await make(server, '/admin/options/', { value: 'Red', spec_id });
    names.push(`${id},Shade,'=Twin; a > b`);
  }
  for (const file of [await exportOf(server, 'options'), csv(...names)]) {
    const report = await importInto(server, 'options', file);
    assert.equal([report.state, report.change_count], ['done', 0], report.errors[0]?.message);
  }
});

test('a line with one empty cell in quotes is a row; an empty line is not', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = ['name', '', '""', 'Named', '', '""'];
    const wanted = [
      [3, 'name', 'must not be empty or only white space'],
      [6, 'name', 'must not be empty or only white space'],
    ];
    for (const last of [end, '', end + end]) {
      const report = await importInto(server, 'brands', `${lines.join(end)}${last}`);
      assert.equal(errorsOf(report), wanted, JSON.stringify(end + last));
      assert.is(report.rows, 3);
    }
    const wide = await importInto(server, 'brands', ['id,name', '""', ''].join(end));
    assert.equal(errorsOf(wide), [[2, null, 'has 1 cells, but the header has 2']]);
  }
});

test('a row whose cells are all empty is skipped, and the rows after it keep their numbers', async () => {
  const file = csv('id,name,first_letter', ',,', ',Skipped past,S', '"","",""', ',,S', ',', ',,');
  const report = await importInto(server, 'brands', file, { query: 'dry_run=true' });
  assert.equal(errorsOf(report), [
    [5, 'name', 'must not be empty or only white space'],
    [6, null, 'has 2 cells, but the header has 3'],
  ]);
  assert.is(report.rows, 3);
});

test('an item that is created for a name is listed once, with the first row that has the name', async () => {
  const row = (name: string, brand: string) => `${name},${brand},Clothes > Tops > Shirts`;
  const first = csv('name,brand,category', row('Shirt', 'Acme'));
  await importInto(server, 'goods', first, { query: 'create_missing=brands,categories' });
  const file = csv(
    'name,brand,category',
    row('A', 'Acme'),
    row('B', 'Acme'),
    row('C', 'Acmee'),
    row('D', 'Acme'),
    row('E', 'Acmee'),
    row('F', 'Bcme'),
  );
  for (const query of ['create_missing=brands&dry_run=true', 'create_missing=brands']) {
    const report = await importInto(server, 'goods', file, { query });
    assert.is(report.created_missing_count, 2, query);
    const listed: Received['json'][] = report.created_missing;
    assert.equal(
      listed.map((each) => ({ row: each.row, resource: each.resource, name: each.name })),
      [
        { row: 4, resource: 'brands', name: 'Acmee' },
        { row: 7, resource: 'brands', name: 'Bcme' },
      ],
    );
  }
});

test('a specification that a cell names twice, and no SKU had before, is created once', async () => {
  const query = 'create_missing=specs,options';
  const file = csv('id,specs', '1,Finish=Matt; Finish=Gloss; Finish=Matt');
  const report = await importInto(server, 'skus', file, { query });
  assert.equal([report.state, errorsOf(report)], ['done', []]);
  assert.equal(
    report.created_missing.map(({ resource, name }: Received['json']) => [resource, name]),
    [
      ['specs', 'Finish'],
      ['options', 'Matt'],
      ['options', 'Gloss'],
    ],
  );
});

test('what a row creates is discarded if the row is invalid, and a later row creates it', async () => {
  const columns = 'name,brand,category';
  const row = (name: string) => `${name},Acme,Clothes > Tops > Shirts`;
  const query = 'create_missing=brands,categories';
  const file = csv(columns, row('x'.repeat(256)), row('Shirt'), row('Cap'));
  const refused = await importInto(server, 'goods', file, { query });
  assert.equal(errorsOf(refused), [[2, 'name', 'must be at most 255 characters long']]);
  const done = await importInto(server, 'goods', csv(columns, row('Shirt'), row('Cap')), { query });
  assert.equal([done.state, done.created], ['done', 2]);
});

test('in a file of categories a path is resolved as the rows before it leave the categories', async () => {
  const columns = 'id,name,parent';
  const { created } = await importInto(server, 'categories', csv(columns, ',Before,'));
  assert.is(created, 1);
  const [{ id }] = JSON.parse(await exportOf(server, 'categories', '?format=json&q=Before'));
  const renamed = [',First,Before', `${id},After,`, ',Second,After'];
  const refused = await importInto(server, 'categories', csv(columns, ...renamed, ',Third,Before'));
  assert.equal(errorsOf(refused), [[5, 'parent', 'there is no category "Before"']]);
  const done = await importInto(server, 'categories', csv(columns, ...renamed));
  assert.equal([done.state, done.created, done.changed], ['done', 2, 1]);
});

test.run();
