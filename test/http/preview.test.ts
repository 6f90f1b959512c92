/** spec 7.7: the page as it would be with values that are not stored. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Received, send, tokenFor } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

let server: Service;

test.before(async () => {
  server = await openService({ demo: true, pages: { publicUrl: 'https://shop.example' } });
});

test.after(closeServices);

const preview = (path: string, body: unknown, to = server): Promise<Received> =>
  send(to, 'POST', path, { body });

const previewSku = (body: object) => preview('/admin/skus/preview/', body);
const previewSpu = (body: object) => preview('/admin/goods/preview/', body);

const read = async (path: string) => (await send(server, 'GET', path)).json;

/** The page as it is served, with the addresses that a preview has. */
async function served(path: string): Promise<string> {
  await until(`there is ${path}`, async () => (await send(server, 'GET', path)).status === 200);
  return (await send(server, 'GET', path)).text.replaceAll(/(href|src)="\.\.\//g, '$1="/pages/');
}

test('a preview without changes is identical to the page', async () => {
  const sku = await previewSku({ id: 1 });
  assert.is(sku.status, 200, sku.text);
  assert.is(sku.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.is(sku.headers.get('cache-control'), 'no-store');
  assert.match(sku.headers.get('content-security-policy') ?? '', "default-src 'none'");
  assert.is(sku.text, await served('/pages/skus/1.html'));
  assert.is((await previewSpu({ id: 1 })).text, await served('/pages/goods/1.html'));
});

test('a preview shows the values that are sent, and the stored ones otherwise', async () => {
  const before = await read('/admin/skus/1/');
  const { text } = await previewSku({ id: 1, name: 'A <new> name', stock: 0, is_launched: true });
  assert.match(text, 'A &lt;new&gt; name');
  assert.match(text, 'Out of stock');
  assert.match(text, before.caption);
  assert.not.match((await previewSku({ id: 1, is_launched: false })).text, 'class="price"');
  const other = await read('/admin/skus/20/');
  assert.match((await previewSku({ id: 1, spu_id: 1 })).text, before.goods);
  assert.not.match((await previewSku({ id: 1 })).text, other.name);
});

test('a preview stores nothing, writes no page and uses no id', async () => {
  const before = await read('/admin/skus/1/');
  const audits = await read('/admin/audits/');
  await served('/pages/skus/1.html');
  await server.pagesAtRest();
  const files = readdirSync(join(server.data, 'pages', 'skus'));
  const changes = readdirSync(join(server.data, 'changes'));
  await previewSku({ id: 1, name: 'Not stored' });
  await previewSku({ ...before, id: undefined, specs: [], code: 'NEW-1', name: 'New' });
  assert.equal(await read('/admin/skus/1/'), before);
  assert.equal(await read('/admin/audits/'), audits);
  assert.equal(readdirSync(join(server.data, 'pages', 'skus')), files);
  assert.equal(readdirSync(join(server.data, 'changes')), changes);
  assert.not.match(await served('/pages/skus/1.html'), 'Not stored');
  const { json } = await send(server, 'POST', '/admin/skus/', {
    body: { ...before, specs: [], code: null, name: 'Really new' },
  });
  const { headers } = await send(server, 'GET', '/admin/skus/?per_page=1');
  assert.is(String(json.id), headers.get('x-total-count'), 'no id was used up');
});

test('a preview without an id shows a new SKU among the others of its SPU, by their options', async () => {
  const sku = await read('/admin/skus/1/');
  const { text, status } = await previewSku({
    ...sku,
    id: undefined,
    name: 'Brand new',
    code: null,
  });
  assert.is(status, 200, text);
  assert.match(text, 'Brand new');
  const values: string[] = await Promise.all(
    [...sku.specs, ...(await read('/admin/skus/3/')).specs].map(
      async ({ option_id }) => (await read(`/admin/options/${option_id}/`)).value,
    ),
  );
  const [own, storage, other, same] = values;
  assert.equal([same, own === other], [storage, false]);
  for (const value of [own, storage]) {
    assert.match(text, `<span class="hidden">This one: </span>${value}</span>`);
  }
  assert.match(text, `<a href="/pages/skus/3.html">${other}</a>`);
});

test('the preview of an SPU shows its SKUs; the preview of a new SPU has none', async () => {
  const spu = await read('/admin/goods/1/');
  const { text } = await previewSpu({ id: 1, name: 'Another name', desc_detail: '<p>Fine</p>' });
  assert.match(text, 'Another name');
  assert.match(text, '<p>Fine</p>');
  assert.match(text, '/pages/skus/1.html');
  const fresh = await previewSpu({ ...spu, id: undefined, name: 'New SPU' });
  assert.is(fresh.status, 200, fresh.text);
  assert.match(fresh.text, 'New SPU');
  assert.not.match(fresh.text, '/pages/skus/1.html');
});

test('a preview of an invalid write is 422 with the error of the write; malformed JSON is 400', async () => {
  for (const [body, pattern] of [
    [{}, /name: is required/],
    [{ id: 1, price: 1.5 }, /price: must be an integer/],
    [{ id: 'one' }, /id: must be an integer/],
    [{ id: null }, /id: must be an integer/],
    [{ id: 999 }, /id: there is no SKU 999/],
    [{ id: 1, spu_id: 999 }, /database error: spu_id: 999 does not exist/],
    [{ id: 1, category_id: 1 }, /database error: category_id/],
    [{ id: 1, name: '' }, /name/],
    [[], /must be a JSON object/],
  ] as const) {
    const { status, json } = await preview('/admin/skus/preview/', body);
    assert.is(status, 422, JSON.stringify(body));
    assert.match(json.error, pattern);
  }
  const { code } = await read('/admin/skus/2/');
  if (code !== null) assert.is((await previewSku({ id: 1, code })).status, 422);
  assert.is((await preview('/admin/skus/preview/', 'no JSON')).status, 400);
});

test('the links of a preview begin with the base path', async () => {
  const based = await openService({ demo: true, basePath: '/api' });
  const { text } = await preview('/api/admin/skus/preview/', { id: 1 }, based);
  assert.match(text, 'href="/api/pages/style.css?v=');
  await based.stop();
});

test('a preview uses the custom templates; a template that fails is 500 and is logged', async () => {
  const templates = temporaryDirectory();
  writeFileSync(join(templates, 'sku.njk'), '<p>Mine: {{ sku.name }}{{ sku.nothing.here }}</p>');
  const own = await openService({ demo: true, pages: { templates } });
  assert.ok(existsSync(templates));
  const { status, json } = await preview('/admin/skus/preview/', { id: 1 }, own);
  assert.is(status, 500);
  assert.equal(Object.keys(json), ['error', 'request_id']);
  assert.match(own.log.join('\n'), 'sku.njk');
  writeFileSync(join(templates, 'sku.njk'), '<p>Mine: {{ sku.name }}</p>');
  await own.stop();
  const again = await openService({ demo: true, pages: { templates } });
  assert.match((await preview('/admin/skus/preview/', { id: 1 }, again)).text, '<p>Mine: ');
  await again.stop();
});

test('of 40 concurrent previews at least 20 succeed, and the others are 503 with Retry-After', async () => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => preview('/admin/skus/preview/', { id: 1 })),
  );
  const statuses = answers.map(({ status }) => status);
  assert.ok(statuses.filter((status) => status === 200).length >= 20);
  assert.equal(new Set(statuses), new Set([200, 503]));
  const refused = answers.find(({ status }) => status === 503);
  assert.is(refused?.headers.get('retry-after'), '1');
});

test('a user with many previews keeps no other from theirs', async () => {
  const path = '/admin/skus/preview/';
  const body = { id: 1 };
  const token = await tokenFor('editor', { sub: 'another' });
  const many = Array.from({ length: 60 }, () => preview(path, body));
  const others = Array.from({ length: 5 }, () => send(server, 'POST', path, { body, token }));
  for (const { status, text } of await Promise.all(others)) assert.is(status, 200, text);
  await Promise.all(many);
});

test.run();
