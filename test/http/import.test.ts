/** Imports of files into collections (spec 12.6 to 12.10). */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../src/errors.ts';
import type { BodyStream } from '../../src/http/message.ts';
import { type Catalog, createCatalog, make, read, skuFields } from '../support/catalog.ts';
import { type Received, send, tokenFor } from '../support/client.ts';
import {
  csv,
  exportOf,
  type Format,
  type ImportOptions,
  importInto,
  postImport,
} from '../support/imports.ts';
import { requestWith } from '../support/request.ts';
import { quickDisk, refusableDisk } from '../support/disk.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { turn } from '../support/turns.ts';
import { until } from '../support/until.ts';

let server: Service;
let catalog: Catalog;

test.before.each(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after.each(closeServices);

const post = (
  collection: string,
  body: string | Uint8Array<ArrayBuffer>,
  options: ImportOptions = {},
  to = server,
) => postImport(to, collection, body, options);

const importOf = (
  collection: string,
  body: string | Uint8Array<ArrayBuffer>,
  options: ImportOptions = {},
  to = server,
) => importInto(to, collection, body, options);

const exported = (collection: string, query = '') => exportOf(server, collection, query);

test('a long report has all of its changes and an ETag, and concurrent readers share its bytes', async () => {
  const names = Array.from({ length: 999 }, (_, index) => `${index} ${'\u00e9'.repeat(80)}`);
  const { id } = await importOf('brands', csv('name', ...names), { query: 'dry_run=true' });
  const path = `/admin/imports/${id}/`;
  const first = await send(server, 'GET', path);
  const changes: { readonly fields: { readonly name: readonly string[] } }[] = first.json.changes;
  assert.equal(
    changes.map(({ fields }) => fields.name[1]),
    names,
  );
  const etag = first.headers.get('etag') ?? '';
  const again = await send(server, 'GET', path, { headers: { 'if-none-match': etag } });
  assert.is(again.status, 304);
  assert.is((await send(server, 'HEAD', path)).headers.get('etag'), etag);
  const headers = { authorization: `Bearer ${await tokenFor('viewer')}` };
  const firstPiece = async () => {
    const { body } = await server.application(requestWith({ path, headers }));
    return (await (body as BodyStream)[Symbol.asyncIterator]().next()).value as Uint8Array;
  };
  assert.ok((await firstPiece()) === (await firstPiece()));
});

test('an import that has ended is shown once the disk has its report, so that its ETag stays', async () => {
  const disk = { ...quickDisk };
  const slow = await openService({ disk });
  const device = Promise.withResolvers<void>();
  let saved = 0;
  disk.publish = async (job) => {
    saved += 1;
    // The first one is the import that was accepted.
    if (saved > 1) await device.promise;
    return quickDisk.publish(job);
  };
  const accepted = await post('brands', csv('name', 'One'), { query: 'dry_run=true' }, slow);
  const path = accepted.headers.get('location') ?? '';
  await until(
    'it has ended',
    async () => (await read(slow, '/admin/imports/'))[0].state === 'done',
  );
  const shown = send(slow, 'GET', path);
  await turn();
  device.resolve();
  const { status, headers, json } = await shown;
  assert.equal([status, json.state], [200, 'done']);
  await until(
    'its report is on the disk',
    () => readdirSync(join(slow.data, 'imports')).length === 1,
  );
  assert.is((await send(slow, 'GET', path)).headers.get('etag'), headers.get('etag'));
});

test('a row with an id updates that item, one without creates, and omitted columns are kept', async () => {
  const before = await read(server, `/admin/brands/${catalog.brand}/`);
  const report = await importOf(
    'brands',
    csv('id,name,first_letter', `${catalog.brand},Renamed,R`, ',New,N'),
  );
  const id = catalog.brand + 1;
  assert.equal(report, {
    id: report.id,
    collection: 'brands',
    state: 'done',
    dry_run: false,
    rows: 2,
    created: 1,
    changed: 1,
    unchanged: 0,
    refused: 0,
    error_count: 0,
    change_count: 2,
    created_missing_count: 0,
    created_missing: [],
    errors: [],
    changes: [
      {
        row: 2,
        id: catalog.brand,
        action: 'update',
        fields: { name: [before.name, 'Renamed'], first_letter: ['', 'R'] },
      },
      {
        row: 3,
        id,
        action: 'create',
        fields: { name: [null, 'New'], logo: [null, ''], first_letter: [null, 'N'] },
      },
    ],
  });
  assert.equal(await read(server, `/admin/brands/${catalog.brand}/`), {
    ...before,
    name: 'Renamed',
    first_letter: 'R',
  });
  assert.is((await read(server, `/admin/brands/${id}/`)).name, 'New');
});

test('a dry run reports what the import would do, and writes nothing', async () => {
  const file = csv('id,name', `${catalog.brand},Renamed`, ',New');
  const dry = await importOf('brands', file, { query: 'dry_run=true' });
  assert.is(dry.state, 'done');
  assert.is(dry.dry_run, true);
  assert.is((await read(server, '/admin/brands/')).length, 1);
  const real = await importOf('brands', file);
  assert.equal({ ...real, id: 0 }, { ...dry, id: 0, dry_run: false });
});

test('if a row is invalid, nothing is written; errors name the rows and columns of the file', async () => {
  const report = await importOf(
    'skus',
    csv(
      'id,name,price USD,stock,is_launched,category',
      '',
      `${catalog.sku},Better,19.99,1,TRUE,`,
      `${catalog.sku},Twice,1,1,true,x`,
      '987,"a',
      'b",1,1,true,x',
      ',,19.999,-1,yes,Nowhere > Here',
      'x',
    ),
  );
  assert.is(report.state, 'refused');
  assert.is(report.rows, 5);
  assert.is(report.refused, 5);
  assert.equal([report.created, report.changed, report.change_count], [0, 0, 0]);
  const places = report.errors.map(({ row, column }: Received['json']) => `${row} ${column}`);
  assert.equal(places, [
    '3 category',
    '4 id',
    '5 id',
    '6 price USD',
    '6 stock',
    '6 is_launched',
    '6 category',
    '7 null',
  ]);
  assert.is((await read(server, `/admin/skus/${catalog.sku}/`)).name, 'Phone, silver');
});

test('a cell is converted to the value of its attribute, or is an error', async () => {
  const cells: [column: string, cell: string, outcome: unknown][] = [
    ['price USD', '19.99', 1999],
    ['price USD', '19.9', 1990],
    ['price USD', '19', 1900],
    ['price USD', '1,999.00', null],
    ['price USD', '"19,99"', null],
    ['price USD', '', null],
    ['price', '1999', 1999],
    ['price', '19.99', null],
    ['stock', '', null],
    ['stock', '7', 7],
    ['is_launched', 'FALSE', false],
    ['is_launched', 'false', false],
    ['is_launched', 'True', null],
    ['caption', '', ''],
    ['caption', "'=1+1", '=1+1'],
    ['caption', "''=1", "'=1"],
    ['caption', "'quoted", "'quoted"],
    ['code', '', null],
    ['code', 'A-1', 'A-1'],
    ['sales', '99', 0],
  ];
  for (const [column, cell, outcome] of cells) {
    const report = await importOf('skus', csv(`id;${column}`, `${catalog.sku};${cell}`));
    const what = `${column} ${cell}`;
    if (outcome === null && column !== 'code') {
      assert.is(report.state, 'refused', what);
      assert.is(report.errors[0].column, column, what);
      continue;
    }
    assert.is(report.state, 'done', `${what}: ${JSON.stringify(report.errors)}`);
    const sku = await read(server, `/admin/skus/${catalog.sku}/`);
    assert.is(sku[column.replace(' USD', '')], outcome, what);
  }
});

test('a malformed file is accepted, and its import is refused with the place of the error', async () => {
  const files: [body: string | Uint8Array<ArrayBuffer>, format: Format, error: object][] = [
    [csv('id,colour', '1,x'), 'csv', { row: 1, column: 'colour' }],
    [csv('id,name,name', '1,a,b'), 'csv', { row: 1, column: 'name' }],
    [csv('id,spu_id,goods_id', '1,1,1'), 'csv', { row: 1, column: 'goods_id' }],
    [csv('id,price EUR', '1,2'), 'csv', { row: 1, column: 'price EUR' }],
    ['', 'csv', { row: 1, column: null }],
    [csv('id,name', '1,"open'), 'csv', { row: 2, column: null }],
    [csv('id,name', '1,5" screen'), 'csv', { row: 2, column: null }],
    [csv('id,name', '1,"5" screen'), 'csv', { row: 2, column: null }],
    [new Uint8Array([0x69, 0x64, 0x0a, 0xff]), 'csv', { row: null, column: null }],
    ['[{"id":1},', 'json', { row: null, column: null }],
    ['{"id":1}', 'json', { row: 1, column: null }],
    ['[{"id":1}] x', 'json', { row: 2, column: null }],
    ['{"name":"a"}\n{"name"\n', 'ndjson', { row: 2, column: null }],
  ];
  for (const [body, format, error] of files) {
    const report = await importOf('skus', body, { format });
    const { message, ...place } = report.errors.at(-1);
    assert.is(report.state, 'refused', String(body));
    assert.equal(place, error, `${String(body)}: ${message}`);
    assert.ok(message.length > 0);
  }
});

test('the error of a file in another character set, or cut off, says so', async () => {
  const files: [body: string | Uint8Array<ArrayBuffer>, format: Format, message: RegExp][] = [
    [Uint8Array.from(Buffer.from('name\nM\u00fcller\n', 'latin1')), 'csv', /not UTF-8; save it in/],
    [Uint8Array.from(Buffer.from('\ufeffname\n', 'utf16le')), 'csv', /not UTF-8; save it in/],
    ['[{"name":"a"},{"na', 'json', /^the file is cut off/],
    ['[{"name":"a"}', 'json', /^the file is cut off/],
    [' ', 'json', /^the file is not an array of JSON objects$/],
  ];
  for (const [body, format, message] of files) {
    const report = await importOf('brands', body, { format });
    assert.is(report.state, 'refused', String(body));
    assert.match(report.errors.at(-1).message, message);
  }
});

test('commas, semicolons and tabs separate columns; a byte order mark is ignored', async () => {
  for (const [index, separator] of [',', ';', '\t'].entries()) {
    const lines = ['name,first_letter', `"Brand, ${index}; "\t,${index}`];
    const text = lines.map((line, at) => (at === 0 ? line.replace(',', separator) : line));
    const row = (text[1] ?? '').replace(/,(\d)$/, `${separator}$1`).replace('"\t', '"');
    const report = await importOf('brands', `\ufeff${text[0]}\n${row}\n`);
    assert.is(report.state, 'done', JSON.stringify(report.errors));
    const created = await read(server, `/admin/brands/${report.changes[0].id}/`);
    assert.is(created.name, `Brand, ${index}; `);
  }
});

test('a row is matched by code or by name if exactly one item has it, otherwise it is an error', async () => {
  await send(server, 'PATCH', `/admin/skus/${catalog.sku}/`, { body: { code: 'A-1' } });
  const byCode = await importOf('skus', csv('code,price USD', 'A-1,5.00'), {
    query: 'match=code',
  });
  assert.equal(byCode.changes[0].fields, { price: [64900, 500] });
  const byName = await importOf('skus', csv('name,stock', '"Phone, silver",3'), {
    query: 'match=name',
  });
  assert.equal(byName.changes[0].fields, { stock: [42, 3] });
  await make(server, '/admin/skus/', skuFields(catalog));
  const ambiguous = await importOf('skus', csv('name,stock', '"Phone, silver",4'), {
    query: 'match=name',
  });
  assert.is(ambiguous.state, 'refused');
  assert.match(ambiguous.errors[0].message, new RegExp(`${catalog.sku}, ${catalog.sku + 1}`));
  const twice = await importOf('skus', csv('code,stock', 'A-1,4', 'A-1,5'), {
    query: 'match=code',
  });
  assert.equal(twice.errors, [{ row: 3, column: 'code', message: 'A-1 is in the file twice' }]);
  const brands = await read(server, '/admin/brands/');
  for (const name of ['New', brands[0].name]) {
    const same = await importOf('brands', csv('name,first_letter', `${name},A`, `${name},B`), {
      query: 'match=name',
    });
    const message = `${JSON.stringify(name)} is in the file twice`;
    assert.equal(same.errors, [{ row: 3, column: 'name', message }]);
  }
  assert.equal(await read(server, '/admin/brands/'), brands);
  const without = await importOf('skus', csv('id,stock', '1,4'), { query: 'match=code' });
  assert.is(without.state, 'refused');
});

test('an id that is in a file twice is an error of the second row, also with zeros before it', async () => {
  const { brand } = catalog;
  const before = await read(server, `/admin/brands/${brand}/`);
  const files = [
    [csv('id,logo', `${brand},a.png`, `${brand},b.png`), 'csv'],
    [csv('id,logo', `${brand},a.png`, `00${brand},b.png`), 'csv'],
    [JSON.stringify([{ id: brand, logo: 'a.png' }, { id: brand }]), 'json'],
  ] as const;
  for (const [file, format] of files) {
    const { state, errors } = await importInto(server, 'brands', file, { format });
    const row = format === 'csv' ? 3 : 2;
    const message = `${brand} is in the file twice`;
    assert.equal([state, errors], ['refused', [{ row, column: 'id', message }]]);
  }
  assert.equal(await read(server, `/admin/brands/${brand}/`), before);
});

test('an id and a name that differ are an error; if one is empty, the other is used', async () => {
  const other = (await make(server, '/admin/brands/', { name: 'Other' })).id;
  const file = (id: number | string, name: string) =>
    csv('id,brand_id,brand', `${catalog.spu},${id},${name}`);
  const differing = await importOf('goods', file(catalog.brand, 'Other'));
  assert.equal(
    differing.errors.map(({ column }: Received['json']) => column),
    ['brand'],
  );
  const named = await importOf('goods', file('', 'Other'));
  assert.equal(named.changes[0].fields, { brand_id: [catalog.brand, other] });
  const numbered = await importOf('goods', file(catalog.brand, ''));
  assert.equal(numbered.changes[0].fields, { brand_id: [other, catalog.brand] });
  assert.is((await importOf('goods', file('', ''))).state, 'refused');
  await make(server, '/admin/brands/', { name: 'Other' });
  const ambiguous = await importOf('goods', file('', 'Other'));
  assert.match(ambiguous.errors[0].message, new RegExp(`${other}, ${other + 1}`));
});

test('if several items have the name in a row, the id in that row selects one', async () => {
  const two = async (path: string, row: Record<string, unknown>): Promise<[number, number]> => [
    (await make(server, path, row)).id,
    (await make(server, path, row)).id,
  ];
  const brands = await two('/admin/brands/', { name: 'Namesake' });
  const [first] = await two('/admin/categories/', { name: 'Top', parent_id: null });
  const [second] = await two('/admin/categories/', { name: 'Middle', parent_id: first });
  const thirds = await two('/admin/categories/', { name: 'Leaf', parent_id: second });
  for (const at of [0, 1, 0] as const) {
    const row = `${catalog.spu},${brands[at]},Namesake,${thirds[at]},Top > Middle > Leaf`;
    const file = csv('id,brand_id,brand,category3_id,category', row);
    const report = await importOf('goods', file);
    assert.is(report.state, 'done', JSON.stringify(report.errors));
    const { brand_id, category1_id, category2_id, category3_id } = await read(
      server,
      `/admin/goods/${catalog.spu}/`,
    );
    assert.equal([brand_id, category1_id, category2_id], [brands[at], first, second]);
    assert.is(category3_id, thirds[at]);
  }
  const spus = await two('/admin/goods/', {
    name: 'Twin',
    brand_id: brands[0],
    category1_id: first,
    category2_id: second,
    category3_id: thirds[0],
  });
  const specs: number[] = [];
  for (const spu_id of spus) {
    specs.push((await make(server, '/admin/specs/', { name: 'Shade', spu_id })).id);
  }
  const named = await importOf('options', csv('value,spec,spu', 'Red,Shade,Twin'));
  assert.match(named.errors[0].message, `${specs.join(', ')} have this name; give the id`);
  for (const spec of specs) {
    const report = await importOf(
      'options',
      csv('value,spec_id,spec,spu', `Red,${spec},Shade,Twin`),
    );
    assert.is(report.changes[0]?.fields.spec_id[1], spec, JSON.stringify(report.errors));
  }
  const other = csv('value,spec_id,spec,spu', `Red,${specs[0]},Shade,Phone`);
  assert.is((await importOf('options', other)).state, 'refused');
});

test('an error names the column as it is written in the header', async () => {
  const columnsOf = async (file: string) => {
    const { errors } = await importOf('skus', file);
    return errors.map(({ column }: Received['json']) => column);
  };
  assert.equal(await columnsOf(csv('id,goods', `${catalog.sku},Nothing`)), ['goods']);
  assert.equal(await columnsOf(csv('id,spu', `${catalog.sku},Nothing`)), ['spu']);
  assert.equal(await columnsOf(csv('id,goods_id', `${catalog.sku},999999`)), ['goods_id']);
  assert.equal(await columnsOf(csv('id,spu_id', `${catalog.sku},x`)), ['spu_id']);
  const both = await importOf('skus', csv('id,goods_id,spu', `${catalog.sku},999999,Phone`));
  assert.match(both.errors[0].message, 'goods_id');
});

test('the column specs replaces the specification records of a SKU', async () => {
  const sku = (
    await make(
      server,
      '/admin/skus/',
      skuFields(catalog, { specs: [catalog.silver, catalog.large] }),
    )
  ).id;
  const file = (specs: string) => csv('id,specs', `${sku},${specs}`);
  const same = await importOf('skus', file('Colour=Silver; Size=Large'));
  assert.is(same.unchanged, 1);
  const changed = await importOf('skus', file('Size=Large; Colour=Black'));
  assert.equal(changed.changes[0].fields, {
    specs: [
      [catalog.silver, catalog.large],
      [catalog.large, catalog.black],
    ],
  });
  const missing = await importOf('skus', file('Colour=Gold'));
  assert.is(missing.state, 'refused');
  const created = await importOf('skus', file('Colour=Gold; Weight=1 kg'), {
    query: 'create_missing=specs,options',
  });
  assert.is(created.state, 'done', JSON.stringify(created.errors));
  assert.match(
    await exported('skus', '?q=silver&sortby=id&order=desc'),
    /Colour=Gold; Weight=1 kg/,
  );
  await importOf('skus', file(''));
  assert.equal((await read(server, `/admin/skus/${sku}/`)).specs, []);
});

test('create_missing fills an empty store from names', async () => {
  const empty = await openService();
  const goods = csv(
    'name,brand,category,desc_detail',
    'Shirt,Acme,Clothes > Tops > Shirts,<p>Soft</p>',
    'Cap,Acme,Clothes > Heads > Caps,',
  );
  const query = 'create_missing=brands,categories';
  const created = [
    { row: 2, resource: 'brands', id: 1, name: 'Acme' },
    { row: 2, resource: 'categories', id: 1, name: 'Clothes' },
    { row: 2, resource: 'categories', id: 2, name: 'Tops' },
    { row: 2, resource: 'categories', id: 3, name: 'Shirts' },
    { row: 3, resource: 'categories', id: 4, name: 'Heads' },
    { row: 3, resource: 'categories', id: 5, name: 'Caps' },
  ];
  const dry = await importOf('goods', goods, { query: `${query}&dry_run=true` }, empty);
  assert.equal([dry.created, dry.created_missing_count, dry.created_missing], [2, 6, created]);
  const wrong = await importOf('goods', goods.replace('<p>', '"'), { query }, empty);
  assert.equal([wrong.state, wrong.created_missing], ['refused', []]);
  const first = await importOf('goods', goods, { query }, empty);
  assert.equal([first.created_missing_count, first.created_missing], [6, created]);
  const [{ created_missing, created_missing_count }] = await read(empty, '/admin/imports/');
  assert.equal([created_missing, created_missing_count], [undefined, 6]);
  assert.is(first.state, 'done', JSON.stringify(first.errors));
  for (const { resource, id, name } of created) {
    assert.is((await read(empty, `/admin/${resource}/${id}/`)).name, name);
  }
  assert.is((await read(empty, '/admin/brands/')).length, 1);
  assert.is((await read(empty, '/admin/categories/')).length, 5);
  const skus = csv(
    'code,name,spu,caption,category,price USD,cost_price USD,market_price USD,stock,is_launched,specs',
    'S-1,"Shirt, red",Shirt,,Clothes > Tops > Shirts,20.00,10,25.5,3,true,Colour=Red; Size=M',
    'S-2,"Shirt, blue",Shirt,,Clothes > Tops > Shirts,20.00,10,25.5,0,false,Colour=Blue; Size=M',
  );
  const missing = { query: 'match=code&create_missing=specs,options' };
  const second = await importOf('skus', skus, missing, empty);
  assert.is(second.state, 'done', JSON.stringify(second.errors));
  assert.is((await read(empty, '/admin/options/')).length, 3);
  const [red, m] = [1, 2].map((nth) => ({ spec_id: nth, option_id: nth }));
  assert.equal(second.changes[0].fields.specs, [null, [red, m]], 'what it created with the SKU');
  const again = await importOf('skus', skus, missing, empty);
  assert.is(again.unchanged, 2);
});

test('the audit entries of an import have the subject of its token', async () => {
  const token = await tokenFor('editor', { sub: 'ann' });
  await importOf('brands', csv('name', 'Audited'), { token });
  const [entry] = await read(server, '/admin/audits/?sortby=id&order=desc&limit=1');
  assert.equal([entry.subject, entry.resource, entry.action], ['ann', 'brands', 'create']);
});

test('JSON contains the objects of the API; unknown members and other values are errors', async () => {
  for (const format of ['json', 'ndjson'] as const) {
    const unchanged = await importOf('skus', await exported('skus', `?format=${format}`), {
      format,
    });
    assert.is(unchanged.state, 'done', JSON.stringify(unchanged.errors));
    assert.is(unchanged.unchanged, unchanged.rows);
  }
  const body = JSON.stringify([{ id: catalog.sku, price: 19.99 }, { colour: 'red' }, 7]);
  const { errors, state } = await importOf('skus', body, { format: 'json' });
  assert.is(state, 'refused');
  assert.equal(
    errors.map(({ row, column }: Received['json']) => [row, column]),
    [
      [1, 'price'],
      [2, 'colour'],
      [3, null],
    ],
  );
});

test('an import is 400 with a wrong parameter, and 415 for XML and for a compressed file', async () => {
  for (const query of [
    'dry=true',
    'dry_run=yes',
    'match=price',
    'create_missing=skus',
    'create_missing=brands,skus',
    'limit=1',
  ]) {
    assert.is((await post('skus', '', { query })).status, 400, query);
  }
  assert.is((await post('brands', '', { query: 'match=code' })).status, 400);
  const xml = { body: '<a/>', headers: { 'content-type': 'application/xml' } };
  assert.is((await send(server, 'POST', '/admin/skus/imports/', xml)).status, 415);
  const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
  const zipped = { body: gzipSync('name\nZipped\n'), headers };
  assert.is((await send(server, 'POST', '/admin/brands/imports/', zipped)).status, 415);
  assert.is((await send(server, 'GET', '/admin/imports/99/')).status, 404);
});

test('a file without Content-Type is read as JSON', async () => {
  const url = `${server.url}/admin/brands/imports/?dry_run=true`;
  const headers = { authorization: `Bearer ${await tokenFor('editor')}` };
  const body = Buffer.from('[{"name":"Untyped"}]');
  const accepted = await server.fetch(url, { method: 'POST', headers, body });
  assert.is(accepted.status, 202);
  const location = accepted.headers.get('location') ?? '';
  await until('the import has ended', async () => {
    const { state, created } = await read(server, location);
    if (state === 'done') assert.is(created, 1);
    return state === 'done';
  });
});

test('a file that is too large is 413, and no import is listed', async () => {
  const small = await openService({ maxImport: 100 });
  const answer = await post('brands', csv('name', 'x'.repeat(200)), {}, small);
  assert.is(answer.status, 413);
  assert.equal(await read(small, '/admin/imports/'), []);
});

test('the list of imports has the latest first, without errors and changes', async () => {
  await importOf('brands', csv('name', 'One'));
  const two = await importOf('brands', csv('name', 'Two'));
  const { errors, changes, created_missing, ...last } = two;
  assert.equal([errors.length, changes.length, created_missing.length], [0, 1, 0]);
  const all = await read(server, '/admin/imports/');
  assert.equal(all[0], last);
  assert.is(all.length, 2);
});

test('an import that a graceful stop interrupts has failed, and says which rows are written', async () => {
  const disk = { ...quickDisk };
  const stopping = await openService({ disk });
  const commit = Promise.withResolvers<void>();
  let commits = 0;
  disk.publish = async (job) => {
    if (job.record !== undefined) commits += 1;
    // The second one of the import waits until the server is to stop.
    if (commits === 2) await commit.promise;
    return quickDisk.publish(job);
  };
  const rows = Array.from({ length: 20_000 }, (_, index) => `Brand ${index}`);
  const accepted = await post('brands', csv('name', ...rows), {}, stopping);
  const path = accepted.headers.get('location') ?? '';
  await until('rows are written', () => commits === 2);
  const stopped = stopping.stop();
  commit.resolve();
  await stopped;
  const again = await openService({ data: stopping.data });
  const { state, created, errors } = await read(again, path);
  assert.is(state, 'failed');
  const [, row] =
    /^the rows before row (\d+) are written, the others are not: the import was stopped/.exec(
      errors.at(-1).message,
    ) ?? [];
  assert.is(Number(row), created + 2, 'the header is row 1');
  const brands = await send(again, 'GET', '/admin/brands/?limit=1');
  assert.is(brands.headers.get('x-total-count'), String(created));
});

test('an import whose last state the disk refuses shows all the same how it ended', async () => {
  const refusal = { active: false };
  const disk = { ...refusableDisk(refusal) };
  const { publish } = disk;
  let commits = Number.NaN;
  disk.publish = (job) => {
    if (job.record !== undefined) commits += 1;
    refusal.active = commits >= 2;
    return publish(job);
  };
  const full = await openService({ disk });
  commits = 0;
  const rows = Array.from({ length: 1500 }, (_, index) => `Brand ${index}`);
  const accepted = await post('brands', csv('name', ...rows), {}, full);
  const path = accepted.headers.get('location') ?? '';
  await until('it has ended', async () => (await read(full, path)).state === 'failed');
  const { errors, changes, created_missing, ...shown } = await read(full, path);
  assert.match(errors.at(-1).message, /^the rows before row 252 are written, the others are not/);
  assert.is(changes.length, 250);
  assert.equal(created_missing, []);
  assert.equal((await read(full, '/admin/imports/'))[0], shown);
  refusal.active = false;
  commits = Number.NaN;
  await full.stop();
});

/** A service whose disk accepts imports, and refuses how they ended while `refusal.active`. */
async function withoutRoomForReports() {
  const refusal = { active: true };
  const accepted = new Set<string>();
  const disk = { ...quickDisk };
  disk.publish = (job) => {
    if (refusal.active && accepted.has(job.path)) {
      return Promise.reject(new Error('no space left on device'));
    }
    if (job.path.includes('/imports/')) accepted.add(job.path);
    return quickDisk.publish(job);
  };
  const service = await openService({ disk });
  /** @returns the path of an import that is done. */
  const imported = async (name: string) => {
    const { id } = await importOf('brands', csv('name', name), { query: 'dry_run=true' }, service);
    return `/admin/imports/${id}/`;
  };
  const saved = (path: string) => {
    const id = path.split('/').at(-2);
    const text = readFileSync(join(service.data, 'imports', `${id}.json`), 'utf8');
    return JSON.parse(text).state as unknown;
  };
  return { service, refusal, imported, saved };
}

test('a report that the disk has refused is saved by an orderly stop', async () => {
  const { service, refusal, imported, saved } = await withoutRoomForReports();
  const path = await imported('One');
  assert.is(saved(path), 'checking');
  refusal.active = false;
  await service.stop();
  const again = await openService({ data: service.data });
  const { state, errors } = await read(again, path);
  assert.equal([state, errors], ['done', []]);
});

test('reports that the disk has refused are saved when the next import ends', async () => {
  const { service, refusal, imported, saved } = await withoutRoomForReports();
  const paths = [await imported('One'), await imported('Two')];
  const failures = () => service.log.filter((line) => line.includes('no space left')).length;
  assert.is(failures(), 2, 'one line for each import, not for each report');
  refusal.active = false;
  await importOf('brands', csv('name', 'Three'), {}, service);
  for (const path of paths) {
    assert.is(saved(path), 'done');
    assert.is((await read(service, path)).state, 'done');
  }
  assert.is(failures(), 2);
});

test('a report of an earlier version, without what was created for names, is shown', async () => {
  const { created_missing, created_missing_count, ...old } = await importOf(
    'brands',
    csv('name', 'One'),
  );
  assert.equal([created_missing, created_missing_count], [[], 0]);
  await server.stop();
  const folder = join(server.data, 'imports');
  writeFileSync(join(folder, `${old.id}.json`), JSON.stringify(old));
  writeFileSync(join(folder, '9.json'), JSON.stringify({ ...old, id: 9, state: 'writing' }));
  const again = await openService({ data: server.data });
  assert.equal(await read(again, `/admin/imports/${old.id}/`), old);
  const { state, created } = await read(again, '/admin/imports/9/');
  assert.equal([state, created], ['failed', 1]);
  const { errors, changes, ...summary } = old;
  assert.equal([errors.length, changes.length], [0, 1]);
  assert.equal((await read(again, '/admin/imports/'))[1], summary);
});

test('a restart changes no order of the members of an import, listed or interrupted', async () => {
  const done = await importOf('brands', csv('name', 'One'));
  const listed = Object.keys((await read(server, '/admin/imports/'))[0]);
  await server.stop();
  const left = JSON.stringify({ ...done, id: 9, state: 'writing' });
  writeFileSync(join(server.data, 'imports', '9.json'), left);
  const again = await openService({ data: server.data });
  assert.equal(
    (await read(again, '/admin/imports/')).map((one: object) => Object.keys(one)),
    [listed, listed],
  );
  assert.equal(Object.keys(await read(again, '/admin/imports/9/')), Object.keys(done));
});

test('an import that was unfinished when the server ended has failed, and its file is removed', async () => {
  const { errors, changes, ...done } = await importOf('brands', csv('name', 'One'));
  const folder = join(server.data, 'imports');
  await server.stop();
  const left = { ...done, id: 9, state: 'writing', errors, changes };
  writeFileSync(join(folder, '9.json'), JSON.stringify(left));
  writeFileSync(join(folder, '9.file'), 'name');
  const again = await openService({ data: server.data });
  const failed = await read(again, '/admin/imports/9/');
  assert.equal([failed.state, failed.error_count, failed.errors.length], ['failed', 1, 1]);
  assert.match(
    failed.errors[0].message,
    /^the import was interrupted while it wrote rows; the audit trail, which admins see, shows which/,
  );
  assert.equal(readdirSync(folder).sort(), [`${done.id}.json`, '9.json']);
  assert.is((await importOf('brands', csv('name', 'Two'), {}, again)).id, 10);
});

test('on a full disk an import that was unfinished does not keep the server from starting', async () => {
  const { errors, changes, ...done } = await importOf('brands', csv('name', 'One'));
  const folder = join(server.data, 'imports');
  await server.stop();
  const left = { ...done, id: 9, state: 'writing', errors, changes };
  writeFileSync(join(folder, '9.json'), JSON.stringify(left));
  const refusal = { active: true };
  const again = await openService({ data: server.data, disk: refusableDisk(refusal) });
  assert.ok(
    again.log.some((line) => line.includes('could not be read or saved: no space left on device')),
  );
  const path = '/admin/imports/9/';
  const shown = await send(again, 'GET', path);
  assert.equal([shown.json.state, shown.json.errors.length], ['failed', 1]);
  assert.equal(
    (await read(again, '/admin/imports/')).map(({ state }: { state: string }) => state),
    ['failed', 'done'],
  );
  refusal.active = false;
  await again.stop();
  const last = await openService({ data: server.data });
  const { text, headers } = await send(last, 'GET', path);
  assert.equal([text, headers.get('etag')], [shown.text, shown.headers.get('etag')]);
});

test('a damaged import state is logged at each start, not listed, and kept', async () => {
  const { id } = await importOf('brands', csv('name', 'One'));
  const folder = join(server.data, 'imports');
  await server.stop();
  const damaged = { '7.json': '[]', '8.json': '{"id":8}', '9.json': 'no JSON' };
  for (const [name, text] of Object.entries(damaged)) writeFileSync(join(folder, name), text);
  for (const expected of [10, 11]) {
    const again = await openService({ data: server.data });
    const all: { id: number }[] = await read(again, '/admin/imports/');
    assert.equal(
      all.map((each) => each.id),
      expected === 10 ? [id] : [10, id],
    );
    for (const name of Object.keys(damaged)) {
      const damage = `could not be read or saved: imports/${name} is damaged: `;
      assert.ok(again.log.some((line) => line.includes(damage)));
    }
    assert.is((await send(again, 'GET', '/admin/imports/9/')).status, 404);
    assert.is((await importOf('brands', csv('name', 'Two'), {}, again)).id, expected);
    await again.stop();
  }
  for (const [name, text] of Object.entries(damaged)) {
    assert.is(readFileSync(join(folder, name), 'utf8'), text);
  }
});

test('a directory in place of the file of an import is logged, and its id is not used', async () => {
  const { data } = server;
  await server.stop();
  mkdirSync(join(data, 'imports', '8.file'));
  const again = await openService({ data });
  assert.ok(again.log.some((line) => line.includes('imports/8.file')));
  const { id, state } = await importOf('brands', csv('name', 'One'), {}, again);
  assert.equal([id, state], [9, 'done']);
});

test('a directory in place of an import state is named by an error that ends the start', async () => {
  const { data } = server;
  const path = join(data, 'imports', '9.json');
  await server.stop();
  mkdirSync(path);
  const message = await openService({ data }).then(String, messageOf);
  assert.ok(message.startsWith(`${path} cannot be read (EISDIR`), message);
  assert.match(message, 'move it away');
});

test.run();
