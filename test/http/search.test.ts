/** spec 4.7 and 4.8: search, and filters by ranges. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, make, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

let server: Service;
let named: Readonly<Record<string, number>>;

const NAMES = [
  'Auralune Phone 12, silver, 128 GB',
  'Crème Brûlée Torch',
  'Straßenkarte',
  '智能手机 手机壳',
  'هاتف ذكي',
  'ガラスケース',
];

test.before(async () => {
  server = await openService();
  const catalog = await createCatalog(server, 'Lantern');
  await send(server, 'DELETE', `/admin/skus/${catalog.sku}/`);
  const entries: [string, number][] = [];
  for (const [index, name] of NAMES.entries()) {
    const fields = skuFields(catalog, {
      name,
      caption: `Caption ${index}`,
      price: 100 * (index + 1),
      stock: index,
      is_launched: index % 2 === 0,
    });
    entries.push([name, (await make(server, '/admin/skus/', fields)).id]);
  }
  named = Object.fromEntries(entries);
});

test.after(closeServices);

async function found(search: string, path = '/admin/skus/'): Promise<number[]> {
  const answer = await send(server, 'GET', `${path}?per_page=1000&${search}`);
  assert.is(answer.status, 200, answer.text);
  const ids = (answer.json as { id: number }[]).map(({ id }) => id);
  assert.is(Number(answer.headers.get('x-total-count')), ids.length);
  return ids;
}

const search = (q: string) => found(`q=${encodeURIComponent(q)}`);
const all = () => Object.values(named);

const SEARCHES: readonly (readonly [q: string, names: readonly number[]])[] = [
  ['phone', [0]],
  ['PHONE silver', [0]],
  ['uralu', [0]],
  ['128 gb', [0]],
  // A word of a search does not match across two words of a text.
  ['128GB', []],
  ['creme brulee', [1]],
  ['STRASSE', [2]],
  ['手机', [3]],
  ['手机壳 智能', [3]],
  ['ذكي', [4]],
  ['ガラス', [5]],
  ['ｃａｐｔｉｏｎ', [0, 1, 2, 3, 4, 5]],
  // The names of the SPU and of the category are searched too.
  ['lantern', [0, 1, 2, 3, 4, 5]],
  ['lantern torch', [1]],
  // A word does not match across two attributes.
  ['torchcaption', []],
  ['nothing-like-it', []],
  ['', [0, 1, 2, 3, 4, 5]],
  [' \u3000 ', [0, 1, 2, 3, 4, 5]],
  ['\u0301', [0, 1, 2, 3, 4, 5]],
];

for (const [q, indexes] of SEARCHES) {
  test(`q=${JSON.stringify(q)} finds ${indexes.length} SKUs`, async () => {
    const wanted = indexes.map((index) => named[NAMES[index] ?? '']);
    assert.equal(await search(q), wanted);
  });
}

test('a search reflects the last commit, also in the names of other items', async () => {
  const { id } = await make(server, '/admin/brands/', { name: 'Ephemeral' });
  assert.equal(await found('q=ephem', '/admin/brands/'), [id]);
  await send(server, 'PATCH', `/admin/brands/${id}/`, { body: { name: 'Lasting' } });
  assert.equal(await found('q=ephem', '/admin/brands/'), []);
  assert.equal(await found('q=LASTING', '/admin/brands/'), [id]);
  const { brand, chain, spu, sku, silver } = await createCatalog(server, 'Joined');
  for (const [lender, path, borrower] of [
    [`/admin/goods/${spu}/`, '/admin/skus/', sku],
    [`/admin/categories/${chain[2]}/`, '/admin/skus/', sku],
    [`/admin/brands/${brand}/`, '/admin/goods/', spu],
    [`/admin/goods/${spu}/`, '/admin/specs/', silver.spec_id],
    [`/admin/specs/${silver.spec_id}/`, '/admin/options/', silver.option_id],
  ] as const) {
    assert.equal(await found('q=sextant', path), [], `${path} before ${lender}`);
    await send(server, 'PATCH', lender, { body: { name: 'Sextant' } });
    assert.ok((await found('q=SEXTANT', path)).includes(borrower), `${path} after ${lender}`);
    await send(server, 'PATCH', lender, { body: { name: 'Compass' } });
    assert.equal(await found('q=sextant', path), [], `${path} after ${lender} is named anew`);
  }
  assert.is((await send(server, 'DELETE', `/admin/skus/${sku}/`)).status, 204);
});

test('a search can be combined with filters, sorting and paging, and links keep it', async () => {
  const answer = await send(
    server,
    'GET',
    '/admin/skus/?q=caption&is_launched=true&price_min=200&sortby=price&order=desc&per_page=1',
  );
  assert.is(answer.json[0].price, 500);
  assert.is(answer.headers.get('x-total-count'), '2');
  assert.match(answer.headers.get('link') ?? '', /q=caption&is_launched=true&price_min=200/);
});

test('every collection accepts q, including nested ones', async () => {
  for (const path of [
    '/books/',
    '/admin/goods/',
    '/admin/brands/',
    '/admin/categories/',
    '/admin/specs/',
    '/admin/options/',
    '/admin/audits/',
    '/admin/goods/1/skus/',
  ]) {
    assert.equal(await found('q=nothing-like-it', path), [], path);
  }
  assert.equal(await found('q=torch', '/admin/goods/1/skus/'), [named['Crème Brûlée Torch']]);
});

for (const [what, q] of [
  ['more than 200 characters', 'a'.repeat(201)],
  ['more than 10 words', 'a b c d e f g h i j k'],
  ['more than 10 words, some of them equal', 'a b c d e f g h i j a'],
]) {
  test(`a search of ${what} is 400`, async () => {
    const { status, json } = await send(
      server,
      'GET',
      `/admin/skus/?q=${encodeURIComponent(q ?? '')}`,
    );
    assert.is(status, 400);
    assert.match(json.error, /query parameter q must have at most/);
  });
}

test('a search may have 200 characters beyond the basic plane, or 10 words', async () => {
  assert.equal(await search('😀'.repeat(200)), []);
  assert.equal(await search('a b c d e f g h i j'), []);
});

test('ranges of price and stock include both bounds', async () => {
  const byIndex = (...indexes: number[]) => indexes.map((index) => all()[index]);
  assert.equal(await found('price_min=200&price_max=400'), byIndex(1, 2, 3));
  assert.equal(await found('stock_min=4'), byIndex(4, 5));
  assert.equal(await found('stock_max=0'), byIndex(0));
  assert.equal(await found('price_min=400&price_max=200'), []);
  assert.equal(await found('price_min=300&stock_max=3&order=desc'), byIndex(3, 2));
});

test('is_launched filters by true and false', async () => {
  const launched = await found('is_launched=true');
  const others = await found('is_launched=false');
  assert.equal(
    [...launched, ...others].sort((a, b) => a - b),
    all(),
  );
  assert.is(launched.length, 3);
});

test('a malformed bound is 400, and a bound in another collection is an unknown parameter', async () => {
  for (const query of [
    'price_min=',
    'price_max=-1',
    'stock_min=1.5',
    'is_launched=yes',
    'is_launched=',
  ]) {
    const { status, json } = await send(server, 'GET', `/admin/skus/?${query}`);
    assert.is(status, 400, query);
    assert.match(json.error, new RegExp(`query parameter ${query.split('=')[0]} must be`));
  }
  const { status, json } = await send(server, 'GET', '/admin/brands/?price_min=1');
  assert.is(status, 400);
  assert.match(json.error, /no query parameter "price_min"/);
});

test.run();
