/** Whole collections as files (spec 12.1 to 12.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'csv-parse/sync';
import { createCatalog, make, skuFields } from '../support/catalog.ts';
import { send, tokenFor } from '../support/client.ts';
import { COLLECTIONS } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

let server: Service;

test.before(async () => {
  server = await openService({ demo: true });
});

test.after(closeServices);

const read = (path: string, headers: Record<string, string> = {}, from = server) =>
  send(from, 'GET', path, { headers });

/** The records of a CSV export, by the names of its columns. */
async function recordsOf(path: string, from = server): Promise<Record<string, string>[]> {
  const { status, text } = await read(path, {}, from);
  assert.is(status, 200, text);
  return parse(text, { columns: true });
}

test('every collection can be exported in every format; the default is CSV', async () => {
  const types = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' };
  for (const name of COLLECTIONS) {
    const path = `/admin/${name}/`;
    const all = (await read(`${path}?limit=1000`)).json as { readonly id: number }[];
    const json = await read(`${path}export/?format=json`);
    assert.is(json.headers.get('content-type'), 'application/json');
    assert.equal(json.json, all, name);
    const ndjson = await read(`${path}export/?format=ndjson`);
    assert.is(ndjson.headers.get('content-type'), types.ndjson);
    const lines = ndjson.text.split('\n');
    assert.is(lines.pop(), '');
    assert.equal(
      lines.map((line) => JSON.parse(line) as unknown),
      all,
    );
    const csv = await read(`${path}export/`);
    assert.is(csv.headers.get('content-type'), types.csv);
    assert.is((await read(`${path}export/?format=csv`)).text, csv.text);
    const ids = (await recordsOf(`${path}export/`)).map(({ id }) => Number(id));
    assert.equal(
      ids,
      all.map(({ id }) => id),
    );
  }
});

test('the CSV columns are the attributes, with references by id and by name', async () => {
  const headers = {
    brands: 'id,name,logo,first_letter',
    categories: 'id,name,parent_id,parent',
    goods:
      'id,name,brand,brand_id,category1_id,category2_id,category3_id,category,sales,comments,desc_detail,desc_pack,desc_service',
    specs: 'id,name,spu,spu_id',
    options: 'id,value,spec,spec_id,spu',
    skus: 'id,name,spu,spu_id,caption,category_id,category,price USD,cost_price USD,market_price USD,stock,sales,is_launched,specs,code',
  };
  for (const [name, header] of Object.entries(headers)) {
    const { text } = await read(`/admin/${name}/export/`);
    assert.is(text.slice(0, text.indexOf('\r\n')), header);
  }
});

test('a SKU in CSV has decimal prices, the path of its category and the names of its options', async () => {
  const [sku] = await recordsOf('/admin/skus/export/');
  assert.is(sku?.['price USD'], '649.00');
  assert.is(sku?.['spu'], 'Auralune Phone 12');
  assert.match(sku?.['category'] ?? '', /^[^>]+ > [^>]+ > [^>]+$/);
  assert.match(sku?.['specs'] ?? '', /^[^=;]+=[^=;]+; [^=;]+=[^=;]+$/);
  assert.is(sku?.['is_launched'], 'true');
  const [option] = await recordsOf('/admin/options/export/');
  assert.is(option?.['spu'], 'Auralune Phone 12');
});

test('a category in CSV has its parent by id and path; both cells are empty on the first level', async () => {
  const records = await recordsOf('/admin/categories/export/');
  const parent = records.find(({ name }) => name === 'Electronics');
  assert.equal([parent?.['parent_id'], parent?.['parent']], ['', '']);
  const child = records.find(({ parent_id }) => parent_id === parent?.['id']);
  assert.is(child?.['parent'], 'Electronics');
});

test('a CSV price has as many decimals as the currency', async () => {
  const shop = await openService({ demo: true, pages: { currency: 'JPY' } });
  const [sku] = await recordsOf('/admin/skus/export/', shop);
  assert.is(sku?.['price JPY'], '64900');
  assert.is(sku?.['price USD'], undefined);
  await shop.stop();
});

test('names in paths and specifications are escaped, and formulas get a leading apostrophe', async () => {
  const shop = await openService();
  const category = async (name: string, parent_id: number | null): Promise<number> =>
    (await make(shop, '/admin/categories/', { name, parent_id })).id;
  const first = await category(' a > b', null);
  const second = await category('c\\d; ', first);
  await category('=e', second);
  const catalog = await createCatalog(shop);
  const brand = (await make(shop, '/admin/brands/', { name: '@x', logo: "'=1" })).id;
  const spec = (await make(shop, '/admin/specs/', { name: 'a=b;', spu_id: catalog.spu })).id;
  const option = (await make(shop, '/admin/options/', { value: ' >\n', spec_id: spec })).id;
  await make(shop, '/admin/skus/', {
    ...skuFields(catalog),
    caption: 'he said "no", twice',
    specs: [{ spec_id: spec, option_id: option }],
  });
  const paths = await recordsOf('/admin/categories/export/', shop);
  assert.ok(paths.some(({ parent }) => parent === '\\ a \\> b > c\\\\d\\;\\ '));
  assert.ok(paths.some(({ name }) => name === "'=e"));
  const brands = await recordsOf('/admin/brands/export/', shop);
  assert.equal(brands.at(-1), { id: String(brand), name: "'@x", logo: "''=1", first_letter: '' });
  const skus = await recordsOf('/admin/skus/export/', shop);
  assert.is(skus.at(-1)?.['specs'], 'a\\=b\\;=\\ \\>\n');
  assert.is(skus.at(-1)?.['caption'], 'he said "no", twice');
  await shop.stop();
});

test('a cell with any kind of line ending is quoted, so that all CSV readers find the same rows', async () => {
  const shop = await openService();
  const catalog = await createCatalog(shop);
  const captions = ['a\nb', 'a\rb', 'a\r\nb', '\n', 'plain'];
  for (const caption of captions) {
    await make(shop, '/admin/skus/', { ...skuFields(catalog), caption });
  }
  const { text } = await read('/admin/skus/export/', {}, shop);
  for (const record_delimiter of ['\r\n', '\n', '\r']) {
    const lines = text.replaceAll('\r\n', record_delimiter);
    const found: { caption: string }[] = parse(lines, { columns: true, record_delimiter });
    const wanted = captions.map((caption) => caption.replaceAll('\r\n', record_delimiter));
    assert.equal(
      found.slice(-captions.length).map(({ caption }) => caption),
      wanted,
    );
  }
  await shop.stop();
});

test('an export accepts the filters, search, ranges and sorting of its collection', async () => {
  const queries = [
    'spu_id=1',
    'q=phone&sortby=price&order=desc',
    'price_min=10000&price_max=20000&sortby=name',
    'is_launched=false',
    'category_id=12&stock_min=20&order=desc',
  ];
  for (const query of queries) {
    const list = await read(`/admin/skus/?limit=1000&${query}`);
    assert.ok(list.json.length > 0, query);
    assert.equal((await read(`/admin/skus/export/?format=json&${query}`)).json, list.json, query);
  }
});

test('an empty export is a header line in CSV, nothing in NDJSON, and [] in JSON', async () => {
  const of = async (format: string) =>
    (await read(`/admin/brands/export/?q=nothing-has-this&format=${format}`)).text;
  assert.is(await of('csv'), 'id,name,logo,first_letter\r\n');
  assert.is(await of('ndjson'), '');
  assert.is(await of('json'), '[]');
});

test('the file name contains the collection, the date and the format', async () => {
  const shop = await openService({ clock: { now: () => Date.UTC(2026, 10, 21, 23) } });
  for (const format of ['csv', 'ndjson', 'json']) {
    const { headers } = await read(
      `/admin/skus/export/?format=${format}`,
      {
        authorization: `Bearer ${await tokenFor('viewer', { iat: 1795302000, exp: 1795303000 })}`,
      },
      shop,
    );
    assert.is(
      headers.get('content-disposition'),
      `attachment; filename="skus-2026-11-21.${format}"`,
    );
  }
  await shop.stop();
});

test('paging, an unknown parameter and an unknown format are 400', async () => {
  const refused = {
    'limit=1': /^exports of SKUs have no query parameter "limit"/,
    'page=1': /no query parameter "page"/,
    'formt=csv': /did you mean format\?/,
    'format=xml': /format must be one of csv, ndjson, json/,
    'format=': /format must be one of/,
    'sortby=specs': /sortby/,
  };
  for (const [query, message] of Object.entries(refused)) {
    const { status, json } = await read(`/admin/skus/export/?${query}`);
    assert.is(status, 400, query);
    assert.match(json.error, message);
  }
  assert.is((await read('/admin/brands/export/?utm_source=x&_=1')).status, 200);
});

test('an export is 406 if Accept excludes the media type of its format', async () => {
  const judged: [format: string, accept: string, status: number][] = [
    ['csv', 'text/csv', 200],
    ['csv', 'text/*', 200],
    ['csv', 'application/json', 406],
    ['csv', '*/*', 200],
    ['json', 'application/json', 200],
    ['json', 'text/csv', 406],
    ['ndjson', 'application/*', 200],
    ['ndjson', 'application/json', 406],
  ];
  for (const [format, accept, status] of judged) {
    const answer = await read(`/admin/brands/export/?format=${format}`, { accept });
    assert.is(answer.status, status, `${format} for ${accept}`);
  }
});

test('an export checks Accept before the rest of its query', async () => {
  for (const [query, accept, status] of [
    ['zz=1', 'text/html', 406],
    ['zz=1', 'text/csv', 400],
    ['format=json&zz=1', 'text/csv', 406],
    ['format=xml', 'text/html', 406],
    ['format=xml', 'application/json', 400],
    ['format=csv&format=json', 'application/json', 400],
  ] as const) {
    const answer = await read(`/admin/skus/export/?${query}`, { accept });
    assert.is(answer.status, status, `${query} for ${accept}`);
  }
});

test('a viewer may export, without a token an export is 401, and HEAD has no body', async () => {
  const path = '/admin/skus/export/';
  const token = await tokenFor('viewer');
  assert.is((await send(server, 'GET', path, { token })).status, 200);
  assert.is((await send(server, 'GET', path, { token: null })).status, 401);
  const head = await send(server, 'HEAD', path, { token });
  assert.is(head.status, 200);
  assert.is(head.text, '');
  assert.is((await send(server, 'POST', path, { body: [] })).status, 405);
  assert.is((await read('/books/export/')).status, 404);
});

test('an export shows the state at its start, regardless of concurrent writes', async () => {
  const shop = await openService();
  const catalog = await createCatalog(shop);
  const body = Array.from({ length: 2000 }, (_, index) => ({
    ...skuFields(catalog),
    name: `SKU ${index} ${'x'.repeat(100)}`,
    specs: [catalog.silver],
  }));
  await send(shop, 'POST', '/admin/skus/bulk/', { body });
  const before = await recordsOf('/admin/skus/export/', shop);
  const response = await shop.fetch(`${shop.url}/admin/skus/export/`, {
    headers: { authorization: `Bearer ${await tokenFor('viewer')}` },
  });
  const pieces: string[] = [];
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    pieces.push(decoder.decode(piece, { stream: true }));
    if (pieces.length > 1) continue;
    const last = before.at(-1)?.['id'];
    const change = { body: { name: 'changed' } };
    assert.is((await send(shop, 'PATCH', `/admin/skus/${last}/`, change)).status, 200);
    const records = `/admin/skus/${Number(last) - 1}/specs/`;
    const [{ id }] = (await read(records, {}, shop)).json;
    assert.is((await send(shop, 'DELETE', `${records}${id}/`)).status, 204);
    assert.is((await send(shop, 'DELETE', `/admin/skus/${Number(last) - 2}/`)).status, 204);
    const option = `/admin/options/${catalog.silver.option_id}/`;
    assert.is((await send(shop, 'PATCH', option, { body: { value: 'renamed' } })).status, 200);
  }
  assert.ok(pieces.length > 2, `${pieces.length} pieces`);
  assert.equal(parse(pieces.join(''), { columns: true }), before);
  await shop.stop();
});

test('a subject with 12 unread exports gets 503 for more; a HEAD does not count as an export', async () => {
  const shop = await openService({ demo: true });
  const path = '/admin/brands/export/';
  const token = await tokenFor('viewer', { sub: 'one' });
  for (let nth = 0; nth < 13; nth += 1) {
    assert.is((await send(shop, 'HEAD', path, { token })).status, 200);
  }
  const headers = { authorization: `Bearer ${token}` };
  const open = () => shop.fetch?.(`${shop.url}${path}`, { headers });
  const unread = [];
  for (let nth = 0; nth < 12; nth += 1) unread.push(await open());
  const refused = await send(shop, 'GET', path, { token });
  assert.is(refused.status, 503);
  assert.match(refused.json.error, '12 of your exports');
  assert.is(refused.headers.get('retry-after'), '10');
  assert.is((await send(shop, 'HEAD', path, { token })).status, 503);
  assert.is((await read(path, {}, shop)).status, 200, 'others have places');
  assert.match((await unread[0]?.text()) ?? '', /^id,name/);
  assert.is((await send(shop, 'GET', path, { token })).status, 200);
  await shop.stop();
});

test.run();
