/** Serving pages: headers, conditional requests, and no other files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Catalog, createCatalog, make, pageWith, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { faultsOf } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { folderOf } from '../support/shop.ts';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService({ pages: { publicUrl: 'https://shop.example/pages' } });
  catalog = await createCatalog(server);
  await pageWith(server, catalog.sku, 'Phone, silver');
  await until('every page is written', () => faultsOf(server.data).length === 0);
  // Last-Modified is the second after that, and missing before it.
  const written = Math.floor(Date.now() / 1000);
  await until('pages have Last-Modified', () => Math.floor(Date.now() / 1000) > written);
});

test.after(async () => {
  await closeServices();
  assert.equal(server.log, []);
});

function get(path: string, headers = {}) {
  return send(server, 'GET', path, { token: null, headers });
}

function getPage(sku: number | string, headers = {}) {
  return get(`/pages/skus/${sku}.html`, headers);
}

const HTML = 'text/html; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** One of each kind, with its type. */
const SERVED: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/pages/', 'index.html', HTML],
  ['/pages/index.html', 'index.html', HTML],
  ['/pages/categories/1.html', 'categories/1.html', HTML],
  ['/pages/goods/1.html', 'goods/1.html', HTML],
  ['/pages/skus/1.html', 'skus/1.html', HTML],
  ['/pages/sitemap.xml', 'sitemap.xml', XML],
  ['/pages/sitemap-skus-1.xml', 'sitemap-skus-1.xml', XML],
  ['/pages/style.css', 'style.css', 'text/css; charset=utf-8'],
];

for (const [path, file, type] of SERVED) {
  test(`${path} needs no token, has its type, ETag and Last-Modified, supports HEAD, and can be 304`, async () => {
    const page = await get(path);
    assert.is(page.status, 200);
    assert.is(page.headers.get('content-type'), type);
    assert.is(page.text, folderOf(server.data).get(file));
    assert.is(page.headers.get('cache-control'), 'no-cache');
    assert.is(page.headers.get('x-content-type-options'), 'nosniff');
    const etag = page.headers.get('etag') ?? '';
    const modified = page.headers.get('last-modified') ?? '';
    assert.match(etag, /^"[^"]+"$/);
    assert.ok(Math.abs(Date.parse(modified) - Date.now()) < 3_600_000, modified);
    const head = await send(server, 'HEAD', path, { token: null });
    assert.is(head.status, 200);
    assert.is(head.text, '');
    for (const name of ['content-type', 'etag', 'last-modified']) {
      assert.is(head.headers.get(name), page.headers.get(name), name);
    }
    for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const same = await get(path, condition);
      assert.is(same.status, 304, JSON.stringify(condition));
      assert.is(same.text, '');
      assert.is(same.headers.get('etag'), etag);
    }
    assert.is((await send(server, 'GET', path, { token: 'wrong' })).status, 200);
  });
}

test('every HTML page has a policy that allows only its own style sheet and images', async () => {
  for (const [path, , type] of SERVED.filter(([, , each]) => each === HTML)) {
    const policy = (await get(path)).headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /^default-src 'none'; style-src 'self'; img-src 'self' https: data:;/,
      type,
    );
    for (const rest of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(rest), rest);
    }
    assert.not.match(policy, /script-src|unsafe|\*/);
    assert.not.match((await get(path)).text, / style=| on[a-z]+=|<style/);
  }
});

test('If-Modified-Since is 200 if it is older, malformed, or sent with another ETag, otherwise 304', async () => {
  const { headers } = await getPage(1);
  const modified = Date.parse(headers.get('last-modified') ?? '');
  const earlier = new Date(modified - 1000).toUTCString();
  assert.is((await getPage(1, { 'if-modified-since': earlier })).status, 200);
  assert.is((await getPage(1, { 'if-modified-since': 'yesterday' })).status, 200);
  const later = new Date(modified + 60_000).toUTCString();
  assert.is((await getPage(1, { 'if-modified-since': later })).status, 304);
  // RFC 9110, section 13.1.3: if there is a tag, it alone decides.
  const both = { 'if-modified-since': later, 'if-none-match': '"another"' };
  assert.is((await getPage(1, both)).status, 200);
});

test('If-Unmodified-Since is 412 if it is older, and ignored if it is malformed or sent with If-Match', async () => {
  const { headers } = await getPage(1);
  const etag = headers.get('etag') ?? '';
  const modified = headers.get('last-modified') ?? '';
  const earlier = new Date(Date.parse(modified) - 1000).toUTCString();
  assert.is((await getPage(1, { 'if-unmodified-since': modified })).status, 200);
  const changed = await getPage(1, { 'if-unmodified-since': earlier });
  assert.is(changed.status, 412);
  assert.match(changed.text, '"error"');
  assert.is((await getPage(1, { 'if-unmodified-since': 'yesterday' })).status, 200);
  // RFC 9110, section 13.2.2: a tag takes precedence, and a false precondition over a 304.
  const tagged = { 'if-unmodified-since': earlier, 'if-match': etag };
  assert.is((await getPage(1, tagged)).status, 200);
  const both = { 'if-unmodified-since': earlier, 'if-none-match': etag };
  assert.is((await getPage(1, both)).status, 412);
});

test('If-Modified-Since and If-Unmodified-Since are ignored for items, which have no date', async () => {
  for (const name of ['if-modified-since', 'if-unmodified-since']) {
    for (const date of [new Date(0), new Date(Date.now() + 60_000)]) {
      const headers = { [name]: date.toUTCString() };
      const { status } = await send(server, 'GET', `/admin/skus/${catalog.sku}/`, { headers });
      assert.is(status, 200, `${name}: ${headers[name]}`);
    }
  }
});

test('the obsolete formats of dates are accepted in both conditions', async () => {
  const { headers } = await getPage(1);
  const modified = Date.parse(headers.get('last-modified') ?? '');
  const [earlier, later] = [obsolete(modified - 1000), obsolete(modified + 60_000)];
  for (const date of earlier) {
    assert.is((await getPage(1, { 'if-modified-since': date })).status, 200, date);
    assert.is((await getPage(1, { 'if-unmodified-since': date })).status, 412, date);
  }
  for (const date of later) {
    assert.is((await getPage(1, { 'if-modified-since': date })).status, 304, date);
    assert.is((await getPage(1, { 'if-unmodified-since': date })).status, 200, date);
  }
});

test('a Range is ignored', async () => {
  const page = await getPage(1, { range: 'bytes=0-9' });
  assert.is(page.status, 200);
  assert.match(page.text, '</html>');
});

test('If-None-Match is 304 while the page is unchanged, and 200 after a change', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  await pageWith(server, id, 'Phone, silver');
  const etag = (await getPage(id)).headers.get('etag') ?? '';
  const same = await getPage(id, { 'if-none-match': etag });
  assert.is(same.status, 304);
  assert.is(same.text, '');
  assert.is(same.headers.get('etag'), etag);
  await send(server, 'PATCH', `/admin/skus/${id}/`, { body: { name: 'Another' } });
  await pageWith(server, id, 'Another');
  const other = await getPage(id, { 'if-none-match': etag });
  assert.is(other.status, 200);
  assert.is.not(other.headers.get('etag'), etag);
});

test('a page is 200 for any Accept', async () => {
  for (const accept of ['text/html,application/xhtml+xml;q=0.9', '*/*', 'image/png']) {
    assert.is((await getPage(catalog.sku, { accept })).status, 200, accept);
  }
});

test('the page of an unknown SKU is 404', async () => {
  const answer = await getPage(424242);
  assert.is(answer.status, 404);
  assert.type(answer.json.error, 'string');
});

const ODD = [
  '/pages//',
  '/pages/index',
  '/pages/index/1.html',
  '/pages/index/01.html',
  '/pages/skus/',
  '/pages/goods/',
  '/pages/goods/1/',
  '/pages/goods/1/1.html',
  '/pages/goods/1/2.html',
  '/pages/goods/1/../2.html',
  '/pages/categories/1/0.html',
  '/pages/sitemaps/skus-1.xml',
  '/pages/sitemap-brands-1.xml',
  '/pages/sitemap-skus-0.xml',
  '/pages/sitemap-skus-01.xml',
  '/pages/sitemap-skus-2.xml',
  '/pages/sitemap-../../keys.json',
  '/pages/sitemap-..%2f..%2fkeys.json',
  '/pages/style.css/',
  '/pages/style.css%00.html',
  '/pages/robots.txt',
  '/pages/skus/robots.txt',
  '/pages/./style.css',
  '/pages/%2e%2e/keys.json',
  '/pages/..;/keys.json',
  '/pages/skus/1.html;/../../keys.json',
  '/pages/skus/1',
  '/pages/skus/1.htm',
  '/pages/skus/1.HTML',
  '/pages/skus/1.html/',
  '/pages/skus//1.html',
  '/pages/skus/01.html',
  '/pages/skus/0.html',
  '/pages/skus/-1.html',
  '/pages/skus/1e0.html',
  '/pages/skus/1.html.html',
  '/pages/skus/%31.html',
  '/pages/skus/1.html%00',
  '/pages/skus/99999999999999999999.html',
  '/pages/skus/.html',
  '/pages/skus/.0123456789abcdef.tmp',
  '/pages/skus/../../catalog.json',
  '/pages/skus/..%2f..%2fcatalog.json',
  '/pages/skus/..\\..\\catalog.json',
  '/pages/../keys.json',
  '/catalog.json',
] as const;

const PLANTED = ['robots.txt', 'skus/robots.txt', 'skus/.0123456789abcdef.tmp', 'skus/01.html'];

for (const path of ODD) {
  test(`a path that is not a page is 404: ${path}`, async () => {
    // These files exist, but they are not pages.
    for (const name of PLANTED) {
      writeFileSync(join(server.data, 'pages', name), 'no <h1> of a page');
    }
    const { status, text } = await get(path);
    assert.is(status, 404);
    assert.not.match(text, /<h1>|last_ids|"secret"/);
  });
}

test('with a base path, pages exist only below it', async () => {
  const own = await openService({ demo: true, basePath: '/api' });
  await until('the page answers', async () => {
    return (await send(own, 'GET', '/api/pages/skus/1.html', { token: null })).status === 200;
  });
  assert.is((await send(own, 'GET', '/pages/skus/1.html', { token: null })).status, 404);
  await own.stop();
});

/** A time as RFC 850 and as `asctime` write it (RFC 9110, section 5.6.7). */
function obsolete(time: number): readonly string[] {
  const date = new Date(time);
  const [weekday = '', day = '', month = '', year = '', clock = ''] = date
    .toUTCString()
    .split(/,? /);
  const long = date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  return [
    `${long}, ${day}-${month}-${year.slice(2)} ${clock} GMT`,
    `${weekday} ${month} ${day.replace(/^0/, ' ')} ${clock} ${year}`,
  ];
}

test.run();
