/** DECISIONS 7: detail pages of a running server, from the commit to the browser and over crashes. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FileLock } from '../../src/disk/lock.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  makeChain,
  makePair,
  pageWith,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { exchangeRaw } from '../support/raw.ts';
import { killServers, runCommand, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
let catalog: Catalog;

test.before(async () => {
  server = await startServer();
  catalog = await createCatalog(server);
});

test.after(async () => {
  const { status, stderr } = await server.stop();
  await killServers();
  assert.is(status, 0);
  assert.is(stderr, '');
});

function folder(data: string): string {
  return join(data, 'pages', 'skus');
}

function pageFile(data: string, sku: number): string {
  return join(folder(data), `${sku}.html`);
}

/** A page's text on the disk, "" where there is none. */
function pageText(data: string, sku: number): string {
  return textOf(pageFile(data, sku));
}

function getPage(of: Pick<TestServer, 'url'>, sku: number | string, headers = {}) {
  return send(of, 'GET', `/pages/skus/${sku}.html`, { token: null, headers });
}

async function patch(of: TestServer, path: string, body: Fields): Promise<void> {
  const { status, text } = await send(of, 'PATCH', path, { body });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status} ${text}`);
}

/** What `rebuild-pages --stale` finds to do. */
async function findStale(data: string): Promise<{ written: number; removed: number }> {
  const { status, stdout, stderr } = await runCommand(['rebuild-pages', '--data', data, '--stale']);
  assert.is(status, 0, stderr);
  const counts = /^(\d+) pages written, \d+ unchanged, (\d+) removed, 0 failed/.exec(stdout);
  assert.ok(counts, stdout);
  return { written: Number(counts?.[1]), removed: Number(counts?.[2]) };
}

/** Text as it stands in HTML. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}

test('after a start with the demo catalog there is a page for every SKU', async () => {
  const demo = await startServer({ demo: true });
  const skus: { id: number; name: string }[] = await read(demo, '/admin/skus/?per_page=1000');
  assert.ok(skus.length >= 20);
  for (const { id, name } of skus) await pageWith(demo, id, `<h1>${escaped(name)}</h1>`);
  assert.is(readdirSync(folder(demo.data)).length, skus.length);
  assert.is((await demo.stop()).status, 0);
});

test('a created SKU gets a page with its name, price, stock, SPU, brand and categories', async () => {
  const of = await createCatalog(server, 'Lamp');
  const fields = { name: 'Lamp, brass', price: 123456, market_price: 150000, stock: 7 };
  const { id } = await make(server, '/admin/skus/', {
    ...skuFields(of, { ...fields, caption: 'Warm light' }),
    specs: [of.silver, of.large],
  });
  const page = await pageWith(server, id, 'Lamp, brass');
  const shown = ['1,234.56', '1,500.00', '7 in stock', 'Warm light', 'Lamp Works', 'All of it.'];
  const more = ['A box.', 'Two years.', 'Lamp 1', 'Lamp 2', 'Lamp 3', 'Silver', 'Large', 'Colour'];
  for (const text of [...shown, ...more]) assert.ok(page.includes(text), text);
  assert.match(page, /<title>Lamp, brass<\/title>/);
});

interface Change {
  readonly name: string;
  /** Makes what is changed later. @returns the change. */
  readonly prepare: (of: Catalog, sku: number) => Promise<() => Promise<unknown>>;
  readonly before: string;
  readonly after: string;
}

const change = (path: (of: Catalog, sku: number) => string, body: Fields) => {
  return async (of: Catalog, sku: number) => () => patch(server, path(of, sku), body);
};

const CHANGES: readonly Change[] = [
  {
    name: "its SKU's name",
    prepare: change((_, sku) => `/admin/skus/${sku}/`, { name: 'New name' }),
    before: '<h1>Phone, silver</h1>',
    after: '<h1>New name</h1>',
  },
  {
    name: "its SKU's price",
    prepare: change((_, sku) => `/admin/skus/${sku}/`, { price: 100 }),
    before: '649.00',
    after: '>1.00<',
  },
  {
    name: "its SKU's stock",
    prepare: change((_, sku) => `/admin/skus/${sku}/`, { stock: 0 }),
    before: '42 in stock',
    after: 'Out of stock',
  },
  {
    name: "its SKU's caption",
    prepare: change((_, sku) => `/admin/skus/${sku}/`, { caption: 'Heavy' }),
    before: 'Light',
    after: 'Heavy',
  },
  {
    name: "its SPU's name",
    prepare: change(({ spu }) => `/admin/goods/${spu}/`, { name: 'Telephone' }),
    before: 'Rule,',
    after: 'Telephone,',
  },
  {
    name: "its SPU's description",
    prepare: change(({ spu }) => `/admin/goods/${spu}/`, { desc_pack: 'A bag.' }),
    before: 'A box.',
    after: 'A bag.',
  },
  {
    name: "its brand's name",
    prepare: change(({ brand }) => `/admin/brands/${brand}/`, { name: 'Fab' }),
    before: 'Rule Works',
    after: 'by Fab',
  },
  {
    name: 'the brand of its SPU',
    async prepare({ spu }) {
      const { id } = await make(server, '/admin/brands/', { name: 'Others' });
      return () => patch(server, `/admin/goods/${spu}/`, { brand_id: id });
    },
    before: 'Rule Works',
    after: 'by Others',
  },
  ...[1, 2, 3].map((level) => ({
    name: `the name of the category on level ${level}`,
    prepare: change(({ chain }) => `/admin/categories/${chain[level - 1]}/`, { name: 'Shelf' }),
    before: `<li>Rule ${level}</li>`,
    after: '<li>Shelf</li>',
  })),
  {
    name: 'its category',
    async prepare(_, sku) {
      const chain = await makeChain(server, 'Other');
      return () => patch(server, `/admin/skus/${sku}/`, { category_id: chain[2] });
    },
    before: '<li>Rule 1</li>',
    after: '<li>Other 1</li>',
  },
  {
    name: 'the place of a parent category',
    async prepare(_, sku) {
      const moved = await makeChain(server, 'Moved');
      const target = await makeChain(server, 'Target');
      await patch(server, `/admin/skus/${sku}/`, { category_id: moved[2] });
      await pageWith(server, sku, 'Moved 1');
      return () => patch(server, `/admin/categories/${moved[1]}/`, { parent_id: target[0] });
    },
    before: '<li>Moved 1</li>',
    after: '<li>Target 1</li>',
  },
  {
    name: 'the name of a specification',
    prepare: change(({ silver }) => `/admin/specs/${silver.spec_id}/`, { name: 'Finish' }),
    before: '<dt>Colour</dt>',
    after: '<dt>Finish</dt>',
  },
  {
    name: 'the value of an option',
    prepare: change(({ silver }) => `/admin/options/${silver.option_id}/`, { value: 'Chrome' }),
    before: '<dd>Silver</dd>',
    after: '<dd>Chrome</dd>',
  },
  {
    name: 'a specification record that is added on its own path',
    prepare:
      async ({ black }, sku) =>
      () =>
        make(server, `/admin/skus/${sku}/specs/`, { ...black }),
    before: '<dd>Silver</dd>',
    after: '<dd>Black</dd>',
  },
  {
    name: 'a specification record that an update of the SKU adds',
    prepare:
      async ({ large }, sku) =>
      () =>
        patch(server, `/admin/skus/${sku}/`, { specs: [large] }),
    before: '<dd>Silver</dd></dl>',
    after: '<dt>Size</dt><dd>Large</dd>',
  },
  {
    name: 'a specification record that is removed',
    async prepare({ black }, sku) {
      const { id } = await make(server, `/admin/skus/${sku}/specs/`, { ...black });
      await pageWith(server, sku, 'Black');
      return () => send(server, 'DELETE', `/admin/skus/${sku}/specs/${id}/`);
    },
    before: '<dd>Black</dd>',
    after: '<dd>Silver</dd>',
  },
];

/** Line ends of the template are its own affair. */
function packed(page: string): string {
  return page.replace(/>\s+</g, '><');
}

for (const { name, prepare, before, after } of CHANGES) {
  test(`a page is regenerated after a change of ${name}, and so is its sister's`, async () => {
    const of = await createCatalog(server, 'Rule');
    const specs = [of.silver];
    const body = { ...skuFields(of), specs };
    const { id } = await make(server, '/admin/skus/', body);
    const apply = await prepare(of, id);
    await until(`the page of SKU ${id} shows ${before}`, async () =>
      packed((await getPage(server, id)).text).includes(before),
    );
    assert.not.ok(packed(pageText(server.data, id)).includes(after), 'the text is new');
    await apply();
    await until(`the page of SKU ${id} shows ${after}`, async () => {
      const page = packed((await getPage(server, id)).text);
      return page.includes(after) && !page.includes(before);
    });
  });
}

test('a change of a shared row reaches the pages of all SKUs below it', async () => {
  const of = await createCatalog(server, 'Shared');
  const second = (
    await make(
      server,
      '/admin/goods/',
      spuFields(of, { name: 'Second SPU', desc_detail: '', desc_pack: '', desc_service: '' }),
    )
  ).id;
  const skus = [of.sku];
  for (const spu of [of.spu, of.spu, second, second]) {
    skus.push((await make(server, '/admin/skus/', skuFields({ spu, chain: of.chain }))).id);
  }
  for (const sku of skus) await pageWith(server, sku, 'Shared Works');
  await patch(server, `/admin/brands/${of.brand}/`, { name: 'Renamed' });
  for (const sku of skus) await pageWith(server, sku, 'by Renamed');
  await patch(server, `/admin/categories/${of.chain[0]}/`, { name: 'Renamed shelf' });
  for (const sku of skus) await pageWith(server, sku, 'Renamed shelf');
});

test('a SKU that moves to another SPU shows the new one', async () => {
  const of = await createCatalog(server, 'Old home');
  const spu = (await make(server, '/admin/goods/', spuFields(of, { name: 'New home' }))).id;
  await pageWith(server, of.sku, 'Old home, by');
  await patch(server, `/admin/skus/${of.sku}/`, { spu_id: spu });
  const page = await pageWith(server, of.sku, 'New home, by');
  assert.not.ok(page.includes('Old home, by'));
  // From now on the page follows the new SPU.
  await patch(server, `/admin/goods/${spu}/`, { desc_detail: 'Moved in.' });
  await pageWith(server, of.sku, 'Moved in.');
});

test('the page of a deleted SKU is removed', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  await pageWith(server, id, 'Phone, silver');
  assert.is((await send(server, 'DELETE', `/admin/skus/${id}/`)).status, 204);
  await until('the page is gone', async () => (await getPage(server, id)).status === 404);
  assert.not.ok(existsSync(pageFile(server.data, id)));
});

test('a SKU off sale keeps its page, marked, without price or stock, until it is back', async () => {
  const fields = { price: 777700, market_price: 888800, stock: 4321, is_launched: false };
  const { id } = await make(server, '/admin/skus/', skuFields(catalog, fields));
  const off = await pageWith(server, id, 'Off sale');
  assert.ok(off.includes('<h1>Phone, silver</h1>'));
  for (const hidden of ['7,777.00', '8,888.00', '7777', '8888', '4321', 'in stock', 'Out of']) {
    assert.not.ok(off.includes(hidden), hidden);
  }
  await patch(server, `/admin/skus/${id}/`, { is_launched: true });
  const on = await pageWith(server, id, '4321 in stock');
  assert.ok(on.includes('7,777.00'));
  assert.not.ok(on.includes('Off sale'));
});

test('the purchase price is never on a page, on sale or off', async () => {
  for (const is_launched of [true, false]) {
    const fields = { name: 'Priced', cost_price: 918273645, market_price: 0, is_launched };
    const { id } = await make(server, '/admin/skus/', skuFields(catalog, fields));
    const page = await pageWith(server, id, 'Priced');
    for (const form of ['918273645', '9182736', '9,182,736.45', 'cost_price', '50200', '502.00']) {
      assert.not.ok(page.includes(form), form);
    }
  }
});

const hostile = (where: string) =>
  `${where}<script>alert("${where}")</script><img src=x onerror='a()'>&amp;\`{{ 7*7*7 }}`;

test('whatever a catalog says is escaped on the page, once', async () => {
  const brand = (await make(server, '/admin/brands/', { name: hostile('brand') })).id;
  const chain = await makeChain(server, hostile('chain'));
  const descriptions = {
    desc_detail: hostile('detail'),
    desc_pack: hostile('pack'),
    desc_service: hostile('service'),
  };
  const spu = (
    await make(
      server,
      '/admin/goods/',
      spuFields({ brand, chain }, { name: hostile('spu'), ...descriptions }),
    )
  ).id;
  const spec = (await make(server, '/admin/specs/', { name: hostile('spec'), spu_id: spu })).id;
  const pair = await makePair(server, spec, hostile('option'));
  const { id } = await make(server, '/admin/skus/', {
    ...skuFields({ spu, chain }, { name: hostile('name'), caption: hostile('caption') }),
    specs: [pair],
  });
  const page = await pageWith(server, id, 'service');
  const places = ['name', 'caption', 'brand', 'chain', 'spu', 'spec', 'option'];
  for (const where of [...places, 'detail', 'pack', 'service']) {
    assert.ok(page.includes(escaped(hostile(where))), where);
  }
  assert.is(page.split(escaped(hostile('chain'))).length - 1, 3, 'three levels');
  assert.not.match(page, /<script|<img|onerror='|343|&amp;lt;/i);
});

test('the request does not wait for the page, and the page follows', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  await pageWith(server, id, 'Phone, silver');
  const lock = new FileLock(join(server.data, 'pages.lock'));
  try {
    // While we hold the pages' lock nobody can write one.
    lock.lock();
    await patch(server, `/admin/skus/${id}/`, { name: 'Written meanwhile' });
    assert.is((await read(server, `/admin/skus/${id}/`)).name, 'Written meanwhile');
    assert.ok((await getPage(server, id)).text.includes('Phone, silver'));
  } finally {
    lock.close();
  }
  await pageWith(server, id, 'Written meanwhile');
});

test('after a burst of changes to one SKU its page shows the last', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  for (let stock = 1; stock <= 100; stock += 1)
    await patch(server, `/admin/skus/${id}/`, { stock });
  await pageWith(server, id, '>100 in stock<');
});

test('a page that cannot be written is told in one line, and made once it can be', async () => {
  const own = await startServer();
  const of = await createCatalog(own);
  await pageWith(own, of.sku, 'Phone, silver');
  const path = pageFile(own.data, of.sku);
  const lock = new FileLock(join(own.data, 'pages.lock'));
  lock.lock();
  rmSync(path);
  mkdirSync(path);
  await patch(own, `/admin/skus/${of.sku}/`, { name: 'In the way' });
  let said = '';
  own.child.stderr?.on('data', (chunk) => (said += chunk));
  lock.close();
  await until('the failure is told', () => said.includes('\n'));
  assert.match(said, /^\{[^\n]*"msg":"a page could not be written[^\n]*\n/);
  // The other pages do not wait for the one in the way.
  const { id } = await make(own, '/admin/skus/', skuFields(of, { name: 'Beside it' }));
  await pageWith(own, id, 'Beside it');
  rmdirSync(path);
  await pageWith(own, of.sku, 'In the way');
  assert.is((await own.stop()).status, 0);
});

test('a page is served to anyone, with type, ETag, time and a policy without scripts', async () => {
  await pageWith(server, catalog.sku, 'Phone, silver');
  const page = await getPage(server, catalog.sku);
  assert.is(page.status, 200);
  assert.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(page.headers.get('etag') ?? '', /^"[^"]+"$/);
  assert.ok(Math.abs(Date.parse(page.headers.get('last-modified') ?? '') - Date.now()) < 3_600_000);
  assert.is(page.headers.get('x-content-type-options'), 'nosniff');
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, "default-src 'none'");
  assert.not.match(policy, /script-src|unsafe/);
  assert.is(page.text, pageText(server.data, catalog.sku));
  const wrong = await send(server, 'GET', `/pages/skus/${catalog.sku}.html`, { token: 'wrong' });
  assert.is(wrong.status, 200);
});

test('HEAD of a page has the headers of GET and no body', async () => {
  const page = await getPage(server, catalog.sku);
  const head = await send(server, 'HEAD', `/pages/skus/${catalog.sku}.html`, { token: null });
  assert.is(head.status, 200);
  assert.is(head.text, '');
  for (const name of ['content-type', 'content-length', 'etag', 'content-security-policy']) {
    assert.is(head.headers.get(name), page.headers.get(name), name);
  }
});

test('If-None-Match gives 304 while the page is the same, and 200 once it is another', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  await pageWith(server, id, 'Phone, silver');
  const etag = (await getPage(server, id)).headers.get('etag') ?? '';
  const same = await getPage(server, id, { 'if-none-match': etag });
  assert.is(same.status, 304);
  assert.is(same.text, '');
  assert.is(same.headers.get('etag'), etag);
  await patch(server, `/admin/skus/${id}/`, { name: 'Another' });
  await pageWith(server, id, 'Another');
  const other = await getPage(server, id, { 'if-none-match': etag });
  assert.is(other.status, 200);
  assert.is.not(other.headers.get('etag'), etag);
});

test('a page takes no method but GET, HEAD and OPTIONS', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await send(server, method, `/pages/skus/${catalog.sku}.html`);
    assert.is(answer.status, 405, method);
    assert.is(answer.headers.get('allow'), 'GET, HEAD, OPTIONS', method);
  }
});

test('a page answers a browser whatever its Accept header prefers', async () => {
  for (const accept of ['text/html,application/xhtml+xml;q=0.9', '*/*', 'image/png']) {
    assert.is((await getPage(server, catalog.sku, { accept })).status, 200, accept);
  }
});

test('the page of a SKU that never was is 404', async () => {
  const answer = await getPage(server, 424242);
  assert.is(answer.status, 404);
  assert.type(answer.json.error, 'string');
});

const ODD = [
  '/pages/',
  '/pages/skus/',
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

for (const path of ODD) {
  test(`a path that is no page's is 404: ${path}`, async () => {
    await pageWith(server, 1, '</html>');
    const { text } = await exchangeRaw(server, [
      `GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`,
    ]);
    assert.match(text, /^HTTP\/1\.1 404 /);
    assert.not.match(text, /<h1>|last_ids/);
  });
}

test('pages move with the base path', async () => {
  const own = await startServer({ demo: true, args: ['--base-path', '/api'] });
  await until('the page answers', async () => {
    return (await send(own, 'GET', '/api/pages/skus/1.html', { token: null })).status === 200;
  });
  assert.is((await send(own, 'GET', '/pages/skus/1.html', { token: null })).status, 404);
  await own.stop();
});

/** A stopped server's directory with a page for each SKU of the demo catalog. */
async function stoppedDemo(): Promise<{ data: string; pages: Readonly<Record<string, string>> }> {
  const own = await startServer({ demo: true });
  assert.is((await own.stop()).status, 0);
  return { data: own.data, pages: allPages(own.data) };
}

function allPages(data: string): Readonly<Record<string, string>> {
  const pages: Record<string, string> = {};
  for (const name of readdirSync(folder(data)).sort()) {
    // A page that is being written has a temporary name.
    if (!name.startsWith('.')) pages[name] = textOf(join(folder(data), name));
  }
  return pages;
}

/** "" where a running server has just removed the file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

interface Damage {
  readonly name: string;
  readonly inflict: (data: string) => void;
}

const DAMAGES: readonly Damage[] = [
  {
    name: 'stale',
    inflict(data) {
      const text = pageText(data, 3).replace(/<h1>.*?<\/h1>/, '<h1>Old name</h1>');
      writeFileSync(pageFile(data, 3), text);
    },
  },
  {
    name: 'torn',
    inflict(data) {
      writeFileSync(pageFile(data, 4), pageText(data, 4).slice(0, 700));
    },
  },
  { name: 'empty', inflict: (data) => writeFileSync(pageFile(data, 5), '') },
  {
    name: 'of zeros',
    inflict: (data) =>
      writeFileSync(pageFile(data, 6), Buffer.alloc(statSync(pageFile(data, 6)).size)),
  },
  { name: 'missing', inflict: (data) => rmSync(pageFile(data, 7)) },
  {
    name: 'orphaned',
    inflict: (data) => writeFileSync(pageFile(data, 4711), pageText(data, 1)),
  },
  {
    name: 'all gone with their folder',
    inflict: (data) => rmSync(join(data, 'pages'), { recursive: true }),
  },
  {
    name: 'damaged in every way at once',
    inflict(data) {
      for (const { inflict } of DAMAGES.slice(0, 6)) inflict(data);
    },
  },
];

for (const { name, inflict } of DAMAGES) {
  test(`a start repairs pages that are ${name}`, async () => {
    const { data, pages } = await stoppedDemo();
    assert.ok(Object.keys(pages).length >= 20);
    inflict(data);
    assert.not.equal(existsSync(folder(data)) ? allPages(data) : {}, pages, 'there is damage');
    const own = await startServer({ data });
    await until('the pages are as before', () => {
      return JSON.stringify(allPages(data)) === JSON.stringify(pages);
    });
    const { status, stderr } = await own.stop();
    assert.is(status, 0);
    assert.is(stderr, '');
  });
}

test('a start leaves pages alone that are as they should be', async () => {
  const { data } = await stoppedDemo();
  const times = () =>
    readdirSync(folder(data)).map((name) => statSync(join(folder(data), name)).mtimeMs);
  const before = times();
  const own = await startServer({ data });
  await own.stop();
  assert.equal(times(), before);
});

test('a start clears away the half-written file of a run that was killed', async () => {
  const { data, pages } = await stoppedDemo();
  writeFileSync(join(folder(data), '.0123456789abcdef.tmp'), '<!doctype html>');
  const own = await startServer({ data });
  assert.is((await own.stop()).status, 0);
  assert.equal(readdirSync(folder(data)).sort(), Object.keys(pages).sort());
});

/** A server with one brand and as many SKUs, each with its page. */
async function serverWith(
  count: number,
): Promise<{ own: TestServer; of: Catalog; skus: number[] }> {
  const own = await startServer();
  const of = await createCatalog(own);
  const skus = [of.sku];
  while (skus.length < count) {
    const some = Array.from({ length: Math.min(50, count - skus.length) }, () =>
      make(own, '/admin/skus/', skuFields(of)),
    );
    for (const { id } of await Promise.all(some)) skus.push(id);
  }
  await until('each SKU has a page', () => skus.every((id) => pageText(own.data, id) !== ''));
  return { own, of, skus };
}

const old = (data: string, skus: readonly number[], text: string) =>
  skus.filter((id) => !pageText(data, id).includes(text)).length;

test('a server killed before it wrote any queued page makes all of them at the next start', async () => {
  const { own, of, skus } = await serverWith(200);
  const { data } = own;
  const lock = new FileLock(join(data, 'pages.lock'));
  lock.lock();
  await patch(own, `/admin/brands/${of.brand}/`, { name: 'Crashed' });
  await send(own, 'DELETE', `/admin/skus/${of.sku}/`);
  await own.kill();
  lock.close();
  assert.is(old(data, skus, 'by Crashed'), skus.length, 'the crash came before the pages');
  const again = await startServer({ data });
  await until('the pages are new', () => old(data, skus.slice(1), 'by Crashed') === 0);
  await until('the page of the deleted SKU is gone', () => !existsSync(pageFile(data, of.sku)));
  await again.kill();
  assert.equal(await findStale(data), { written: 0, removed: 0 });
});

test('a server killed amid many queued pages, again and again, leaves none stale after a start', async () => {
  const { own, of, skus } = await serverWith(600);
  const { data } = own;
  let current = own;
  let interrupted = 0;
  for (let round = 1; round <= 4; round += 1) {
    const name = `by Round ${round}.`;
    await patch(current, `/admin/brands/${of.brand}/`, { name: `Round ${round}.` });
    await until('some pages are new', () => old(data, skus, name) < skus.length);
    await current.kill();
    if (old(data, skus, name) > 0) interrupted += 1;
    current = await startServer({ data });
    await until('the pages are new', () => old(data, skus, name) === 0);
  }
  assert.ok(interrupted > 0, 'no kill came amid the pages');
  await current.kill();
  assert.equal(await findStale(data), { written: 0, removed: 0 });
});

test('after concurrent changes of SKUs, SPU, brand and categories a stop leaves no page stale', async () => {
  const { own, of, skus } = await serverWith(60);
  const rounds = Array.from({ length: 10 }, (_, index) => `Round ${index}`);
  await Promise.all([
    ...skus.map(async (id, index) => {
      for (const name of rounds) await patch(own, `/admin/skus/${id}/`, { name, stock: index });
    }),
    ...[
      `/admin/brands/${of.brand}/`,
      `/admin/goods/${of.spu}/`,
      `/admin/categories/${of.chain[2]}/`,
      `/admin/categories/${of.chain[0]}/`,
    ].map(async (path) => {
      for (const name of rounds) await patch(own, path, { name });
    }),
  ]);
  for (const id of skus.slice(0, 10)) await send(own, 'DELETE', `/admin/skus/${id}/`);
  assert.is((await own.stop()).status, 0);
  assert.equal(await findStale(own.data), { written: 0, removed: 0 });
  assert.is(readdirSync(folder(own.data)).length, 50);
});

test.run();
