/** spec 7.3: pages of a running server, from the commit to the page. */
import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import { FileLock } from '../../src/disk/lock.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  make,
  makeChain,
  pageWith,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { faultsOf, folderOf } from '../support/shop.ts';

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(async () => {
  await closeServices();
  assert.equal(server.log, []);
});

function pageFile(data: string, sku: number): string {
  return join(data, 'pages', 'skus', `${sku}.html`);
}

/** Waits until the file of a page contains a text. */
async function fileWith({ data }: Service, sku: number, text: string): Promise<void> {
  await until(`the file of SKU ${sku} says ${text}`, () =>
    (machineDisk.read(pageFile(data, sku))?.toString() ?? '').includes(text),
  );
}

function getPage(of: Pick<Service, 'url'>, sku: number) {
  return send(of, 'GET', `/pages/skus/${sku}.html`, { token: null });
}

/** Waits until a page of any kind contains a text. @returns the page. */
async function pageSaying(path: string, text: string): Promise<string> {
  let page = '';
  await until(`${path} says ${text}`, async () => {
    page = packed((await send(server, 'GET', `/pages/${path}`, { token: null })).text);
    return page.includes(text);
  });
  return page;
}

async function patch(of: Service, path: string, body: Fields): Promise<void> {
  const { status, text } = await send(of, 'PATCH', path, { body });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status} ${text}`);
}

test('after a start with the demo catalog the folder contains every page, and nothing else', async () => {
  const demo = await openService({ demo: true });
  const skus: { id: number }[] = await read(demo, '/admin/skus/?per_page=1000');
  assert.ok(skus.length >= 20);
  await until('every page is there', () => faultsOf(demo.data).length === 0);
  const folder = folderOf(demo.data);
  for (const { id } of skus) assert.ok(folder.has(`skus/${id}.html`), `SKU ${id}`);
  await demo.stop();
});

test('a created SKU gets a page with its name, price, stock, SPU, brand and categories', async () => {
  const of = await createCatalog(server, 'Lamp');
  const fields = { name: 'Lamp, brass', price: 123456, market_price: 150000, stock: 7 };
  const { id } = await make(server, '/admin/skus/', {
    ...skuFields(of, { ...fields, caption: 'Warm light' }),
    specs: [of.silver, of.large],
  });
  const page = await pageWith(server, id, 'Lamp, brass');
  const shown = ['$1,234.56', '$1,500.00', '7 in stock', 'Warm light', 'Lamp Works', 'All of it.'];
  const more = ['A box.', 'Two years.', 'Lamp 1', 'Lamp 2', 'Lamp 3', 'Silver', 'Large', 'Colour'];
  for (const text of [...shown, ...more]) assert.ok(page.includes(text), text);
  assert.match(page, /<title>Lamp, brass · Catalog<\/title>/);
});

interface Change {
  readonly name: string;
  /** Creates what is changed later. @returns the change. */
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
    after: '>$1.00<',
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
    before: '>Rule</a>,',
    after: '>Telephone</a>,',
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
    after: 'by <bdi>Fab</bdi>',
  },
  {
    name: 'the brand of its SPU',
    async prepare({ spu }) {
      const { id } = await make(server, '/admin/brands/', { name: 'Others' });
      return () => patch(server, `/admin/goods/${spu}/`, { brand_id: id });
    },
    before: 'Rule Works',
    after: 'by <bdi>Others</bdi>',
  },
  ...[1, 2, 3].map((level) => ({
    name: `the name of the category on level ${level}`,
    prepare: change(({ chain }) => `/admin/categories/${chain[level - 1]}/`, { name: 'Shelf' }),
    before: `>Rule ${level}</a>`,
    after: '>Shelf</a>',
  })),
  {
    name: 'its category',
    async prepare(_, sku) {
      const chain = await makeChain(server, 'Other');
      return () => patch(server, `/admin/skus/${sku}/`, { category_id: chain[2] });
    },
    before: '>Rule 1</a>',
    after: '>Other 1</a>',
  },
  {
    name: 'the parent of its parent category',
    async prepare(_, sku) {
      const moved = await makeChain(server, 'Moved');
      const target = await makeChain(server, 'Target');
      await patch(server, `/admin/skus/${sku}/`, { category_id: moved[2] });
      await pageWith(server, sku, 'Moved 1');
      return () => patch(server, `/admin/categories/${moved[1]}/`, { parent_id: target[0] });
    },
    before: '>Moved 1</a>',
    after: '>Target 1</a>',
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
    name: 'its specification records by POST',
    prepare:
      async ({ black }, sku) =>
      () =>
        make(server, `/admin/skus/${sku}/specs/`, { ...black }),
    before: '<dd>Silver</dd>',
    after: '<dd>Black</dd>',
  },
  {
    name: 'its specification records by PATCH of the SKU',
    prepare:
      async ({ large }, sku) =>
      () =>
        patch(server, `/admin/skus/${sku}/`, { specs: [large] }),
    before: '<dd>Silver</dd></dl>',
    after: '<dt>Size</dt><dd>Large</dd>',
  },
  {
    name: 'its specification records by DELETE',
    async prepare({ black }, sku) {
      const { id } = await make(server, `/admin/skus/${sku}/specs/`, { ...black });
      await pageWith(server, sku, 'Black');
      return () => send(server, 'DELETE', `/admin/skus/${sku}/specs/${id}/`);
    },
    before: '<dd>Black</dd>',
    after: '<dd>Silver</dd>',
  },
];

/** Removes the white space between elements, which depends on the template. */
function packed(page: string): string {
  return page.replace(/>\s+</g, '><');
}

for (const { name, prepare, before, after } of CHANGES) {
  test(`a page is rendered again after a change of ${name}`, async () => {
    const of = await createCatalog(server, 'Rule');
    const specs = [of.silver];
    const body = { ...skuFields(of), specs };
    const { id } = await make(server, '/admin/skus/', body);
    const apply = await prepare(of, id);
    await until(`the page of SKU ${id} shows ${before}`, async () =>
      packed((await getPage(server, id)).text).includes(before),
    );
    assert.not.ok(packed((await getPage(server, id)).text).includes(after), 'the text is new');
    await apply();
    await until(`the page of SKU ${id} shows ${after}`, async () => {
      const page = packed((await getPage(server, id)).text);
      return page.includes(after) && !page.includes(before);
    });
  });
}

test('the lists on SPU and category pages reflect changes of their SKUs and categories', async () => {
  const of = await createCatalog(server, 'Listed');
  const [, second, third] = of.chain;
  for (const list of [`goods/${of.spu}.html`, `categories/${third}.html`]) {
    await pageSaying(list, '>Phone, silver</a>');
  }
  await patch(server, `/admin/skus/${of.sku}/`, { price: 4200, stock: 0, name: 'Listed anew' });
  for (const list of [`goods/${of.spu}.html`, `categories/${third}.html`]) {
    const page = await pageSaying(list, '>Listed anew</a>');
    assert.match(page, '$42.00');
    assert.match(page, 'Out of stock');
  }
  await patch(server, `/admin/skus/${of.sku}/`, { is_launched: false });
  for (const list of [`goods/${of.spu}.html`, `categories/${third}.html`]) {
    assert.not.match(await pageSaying(list, 'Off sale'), '42.00');
  }
  await patch(server, `/admin/categories/${third}/`, { name: 'Shelf three' });
  for (const list of ['index.html', `categories/${second}.html`, `goods/${of.spu}.html`]) {
    if (list !== 'index.html') await pageSaying(list, '>Shelf three</a>');
  }
  await pageSaying(`categories/${of.chain[0]}.html`, '>Shelf three</a>');
  await patch(server, `/admin/categories/${second}/`, { name: 'Shelf two' });
  await pageSaying('index.html', '>Shelf two</a>');
});

test("a SKU's page links to the other SKUs of its SPU by option, and reflects their changes", async () => {
  const of = await createCatalog(server, 'Chosen');
  const sku = async (...specs: readonly object[]) =>
    (await make(server, '/admin/skus/', { ...skuFields(of), specs })).id as number;
  const silver = await sku(of.silver);
  await sku(of.black);
  const link = (id: number, value: string) => `<a href="../skus/${id}.html">${value}</a>`;
  const black = await sku(of.black, of.large);
  await pageSaying(`skus/${silver}.html`, link(silver + 1, 'Black'));
  await pageSaying(`skus/${black}.html`, link(silver, 'Silver'));
  await patch(server, `/admin/options/${of.silver.option_id}/`, { value: 'Chrome' });
  await pageSaying(`skus/${black}.html`, link(silver, 'Chrome'));
  await patch(server, `/admin/skus/${silver}/`, { is_launched: false });
  await pageSaying(`skus/${black}.html`, 'class="unavailable">Chrome');
  await send(server, 'DELETE', `/admin/skus/${silver}/`);
  await until('nothing leads to the deleted one', async () => {
    return !(await getPage(server, black)).text.includes(`skus/${silver}.html`);
  });
});

test('a change of a brand or a category updates the pages of all SKUs below it', async () => {
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
  for (const sku of skus) await pageWith(server, sku, 'by <bdi>Renamed</bdi>');
  await patch(server, `/admin/categories/${of.chain[0]}/`, { name: 'Renamed shelf' });
  for (const sku of skus) await pageWith(server, sku, 'Renamed shelf');
});

test('the page of a SKU that moves to another SPU shows the new SPU and its later changes', async () => {
  const of = await createCatalog(server, 'Old home');
  const spu = (await make(server, '/admin/goods/', spuFields(of, { name: 'New home' }))).id;
  await pageWith(server, of.sku, '>Old home</a>,');
  await patch(server, `/admin/skus/${of.sku}/`, { spu_id: spu });
  const page = await pageWith(server, of.sku, '>New home</a>,');
  assert.not.ok(page.includes('>Old home</a>,'));
  // The page now reflects changes of the new SPU.
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

test('the page of a SKU off sale says so, and shows no price or stock until it is on sale again', async () => {
  const fields = { price: 777700, market_price: 888800, stock: 4321, is_launched: false };
  const { id } = await make(server, '/admin/skus/', skuFields(catalog, fields));
  const off = await pageWith(server, id, 'Off sale');
  assert.ok(off.includes('<h1>Phone, silver</h1>'));
  for (const hidden of [
    '7,777.00',
    '8,888.00',
    '7777',
    '8888',
    '4321',
    '4,321',
    'in stock',
    'Out of',
  ]) {
    assert.not.ok(off.includes(hidden), hidden);
  }
  await patch(server, `/admin/skus/${id}/`, { is_launched: true });
  const on = await pageWith(server, id, '4,321 in stock');
  assert.ok(on.includes('7,777.00'));
  assert.not.ok(on.includes('Off sale'));
});

test('the cost price is on no page, whether the SKU is on sale or not', async () => {
  for (const is_launched of [true, false]) {
    const fields = { name: 'Priced', cost_price: 918273645, market_price: 0, is_launched };
    const { id } = await make(server, '/admin/skus/', skuFields(catalog, fields));
    const page = await pageWith(server, id, 'Priced');
    for (const form of ['918273645', '9182736', '9,182,736.45', 'cost_price', '50200', '502.00']) {
      assert.not.ok(page.includes(form), form);
    }
  }
});

test('a write does not wait for the page file; before the file is written, readers get the new page', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  await fileWith(server, id, 'Phone, silver');
  const lock = new FileLock(join(server.data, 'pages.lock'));
  try {
    // While this test holds the pages' lock, no page can be written.
    await until('no page is being written', () => lock.tryLock());
    await patch(server, `/admin/skus/${id}/`, { name: 'Written meanwhile' });
    assert.is((await read(server, `/admin/skus/${id}/`)).name, 'Written meanwhile');
    assert.match((await getPage(server, id)).text, '<h1>Written meanwhile</h1>');
    const list = await send(server, 'GET', `/pages/goods/${catalog.spu}.html`, { token: null });
    assert.match(list.text, '>Written meanwhile</a>');
    assert.match(String(machineDisk.read(pageFile(server.data, id))), '<h1>Phone, silver</h1>');
    const { id: created } = await make(server, '/admin/skus/', skuFields(catalog));
    assert.match((await getPage(server, created)).text, '<h1>Phone, silver</h1>');
    await send(server, 'DELETE', `/admin/skus/${created}/`);
    assert.is((await getPage(server, created)).status, 404);
  } finally {
    lock.close();
  }
  await fileWith(server, id, 'Written meanwhile');
});

test('a page whose file is missing or is a folder is served, and its file is written again', async () => {
  const own = await openService();
  const of = await createCatalog(own);
  const path = pageFile(own.data, of.sku);
  for (const isFolder of [false, true]) {
    await own.pagesAtRest();
    rmSync(path);
    if (isFolder) mkdirSync(path);
    const { status, text } = await getPage(own, of.sku);
    assert.is(status, 200);
    assert.match(text, '<h1>Phone, silver</h1>');
    // The file may already exist again; a folder stays until it is removed.
    if (isFolder) rmSync(path, { recursive: true });
    await fileWith(own, of.sku, 'Phone, silver');
  }
  assert.is((await getPage(own, 999)).status, 404);
  await own.stop();
});

test('after a burst of changes to one SKU its page shows the last change', async () => {
  const { id } = await make(server, '/admin/skus/', skuFields(catalog));
  for (let stock = 1; stock <= 100; stock += 1)
    await patch(server, `/admin/skus/${id}/`, { stock });
  await pageWith(server, id, '>100 in stock<');
});

test('a page that cannot be written is logged in one line, and is written as soon as possible', async () => {
  const own = await openService();
  const of = await createCatalog(own);
  await fileWith(own, of.sku, 'Phone, silver');
  const path = pageFile(own.data, of.sku);
  const lock = new FileLock(join(own.data, 'pages.lock'));
  await until('no page is being written', () => lock.tryLock());
  rmSync(path);
  mkdirSync(path);
  await patch(own, `/admin/skus/${of.sku}/`, { name: 'In the way' });
  lock.close();
  await until('the failure is reported', () => own.log.length > 0);
  assert.match(own.log[0] ?? '', /^a page could not be written[^\n]*$/);
  // Other pages do not wait for the one that cannot be written.
  const { id } = await make(own, '/admin/skus/', skuFields(of, { name: 'Beside it' }));
  await pageWith(own, id, 'Beside it');
  rmdirSync(path);
  await fileWith(own, of.sku, 'In the way');
  await own.stop();
});

test.run();
