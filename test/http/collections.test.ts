/** spec 4.1 to 4.6: paging, sorting and filters of the collections. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { make, makeChain, skuFields, spuFields } from '../support/catalog.ts';
import { linksOf, type Received, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

type Scalar = string | number | boolean | null;
type Row = Readonly<Record<string, Scalar>> & { readonly id: number };

/** Every scalar attribute of every collection, from spec 1.5 to 1.8. */
const SCALARS: Readonly<Record<string, readonly string[]>> = {
  '/books/': ['id', 'name', 'pub_date', 'commentcount', 'readcount', 'image'],
  '/admin/goods/': [
    'id',
    'name',
    'brand',
    'brand_id',
    'category1_id',
    'category2_id',
    'category3_id',
    'sales',
    'comments',
    'desc_detail',
    'desc_pack',
    'desc_service',
  ],
  '/admin/skus/': [
    'id',
    'name',
    'goods',
    'goods_id',
    'caption',
    'category_id',
    'category',
    'price',
    'cost_price',
    'market_price',
    'stock',
    'sales',
    'is_launched',
    'code',
  ],
  '/admin/brands/': ['id', 'name', 'logo', 'first_letter'],
  '/admin/categories/': ['id', 'name', 'parent_id'],
  '/admin/specs/': ['id', 'name', 'goods', 'goods_id'],
  '/admin/options/': ['id', 'value', 'spec', 'spec_id'],
};
const COLLECTIONS = Object.keys(SCALARS);
const PAGED = COLLECTIONS.filter((path) => path !== '/books/');

let server: Service;

test.before(async () => {
  server = await openService({ demo: true });
  // Equal names, names on both sides of the surrogates, capitals and accents.
  for (const name of ['\u{1f600}', '\ufb00', 'emma', 'Emma', 'Émile', 'Emma', '\u{10000}', ' a']) {
    await make(server, '/books/', { name, pub_date: '1815-12-23' });
  }
});

test.after(closeServices);

const get = (path: string) => send(server, 'GET', path);

async function rows(path: string): Promise<Row[]> {
  const answer = await get(path);
  assert.is(answer.status, 200, `GET ${path}: ${answer.text}`);
  return answer.json;
}

/** The whole collection in the order in which the server lists it by default. */
const everything = (path: string) => rows(`${path}?limit=1000`);

const ids = (list: readonly Row[]) => list.map(({ id }) => id);

/** `Link` targets of other pages. */
function links(answer: Received): Record<string, string> {
  return Object.fromEntries(linksOf(answer).filter(([rel]) => !/^(?:service-|up$)/.test(rel)));
}

function compareCodePoints(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, character] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function compare(a: Scalar, b: Scalar): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === 'string') return compareCodePoints(a, String(b));
  return Number(a) - Number(b);
}

/** The order of spec 4.3, computed without the server. */
function sorted(list: readonly Row[], attribute: string, order: 'asc' | 'desc'): Row[] {
  const sign = order === 'asc' ? 1 : -1;
  return list.toSorted(
    (a, b) => sign * compare(a[attribute] ?? null, b[attribute] ?? null) || a.id - b.id,
  );
}

async function requireSorted(path: string, attributes: readonly string[], note: string) {
  const all = await everything(path);
  for (const attribute of attributes) {
    for (const order of ['asc', 'desc'] as const) {
      const listed = await rows(`${path}?limit=1000&sortby=${attribute}&order=${order}`);
      assert.equal(
        listed,
        sorted(all, attribute, order),
        `${note}: ${path} by ${attribute} ${order}`,
      );
    }
  }
}

async function change(path: string, body: object): Promise<void> {
  const answer = await send(server, 'PATCH', path, { body });
  assert.is(answer.status, 200, `PATCH ${path}: ${answer.text}`);
}

async function remove(path: string): Promise<void> {
  const answer = await send(server, 'DELETE', path);
  assert.is(answer.status, 204, `DELETE ${path}: ${answer.text}`);
}

test('every collection is an array of the same objects that its item paths return', async () => {
  for (const path of COLLECTIONS) {
    const all = await everything(path);
    assert.ok(all.length >= 3, path);
    for (const row of all) {
      assert.equal((await get(`${path}${row.id}/`)).json, row, path);
      const scalars = Object.keys(row).filter((name) => name !== 'specs');
      assert.equal(scalars, SCALARS[path], path);
    }
  }
});

test('every collection is sorted by ascending id by default', async () => {
  for (const path of COLLECTIONS) {
    const listed = ids(await everything(path));
    assert.equal(
      listed,
      listed.toSorted((a, b) => a - b),
      path,
    );
  }
});

test('X-Total-Count is the number of rows on all pages that match the filters', async () => {
  for (const path of COLLECTIONS) {
    const count = (await everything(path)).length;
    const page = await get(`${path}?per_page=2`);
    assert.is(page.headers.get('x-total-count'), String(count), path);
    assert.is(page.json.length, 2, path);
  }
  const launched = (await everything('/admin/skus/')).filter((row) => row['goods_id'] === 1);
  const page = await get('/admin/skus/?goods_id=1&limit=1');
  assert.is(page.headers.get('x-total-count'), String(launched.length));
});

test('a paged collection returns 20 rows a page by default', async () => {
  const all = ids(await everything('/admin/categories/'));
  assert.ok(all.length > 20);
  for (const query of ['', '?page=1', '?offset=0']) {
    const page = await get(`/admin/categories/${query}`);
    assert.equal(ids(page.json), all.slice(0, 20), query);
  }
  const second = await get('/admin/categories/?page=2');
  assert.equal(ids(second.json), all.slice(20, 40));
});

test('/books/ returns every book without a paging parameter, and a page with one', async () => {
  for (let count = (await rows('/books/')).length; count < 23; count += 1) {
    await make(server, '/books/', { name: `Book ${count}`, pub_date: '2001-02-03' });
  }
  for (const query of ['', '?sortby=name', '?order=desc']) {
    const all = await get(`/books/${query}`);
    assert.is(all.json.length, 23, query);
    assert.is(all.headers.get('x-total-count'), '23', query);
    assert.equal(links(all), {}, query);
  }
  for (const query of ['?page=1', '?offset=0', '?per_page=20', '?limit=20']) {
    const page = await get(`/books/${query}`);
    assert.is(page.json.length, 20, query);
    assert.is(page.headers.get('x-total-count'), '23', query);
  }
});

test('Link of a middle page has first, prev, next and last in the paging form of the request', async () => {
  const byPage = await get('/books/?page=3&per_page=5');
  assert.equal(links(byPage), {
    first: '/books/?page=1&per_page=5',
    prev: '/books/?page=2&per_page=5',
    next: '/books/?page=4&per_page=5',
    last: '/books/?page=5&per_page=5',
  });
  const byOffset = await get('/books/?limit=5&offset=10');
  assert.equal(links(byOffset), {
    first: '/books/?limit=5&offset=0',
    prev: '/books/?limit=5&offset=5',
    next: '/books/?limit=5&offset=15',
    last: '/books/?limit=5&offset=20',
  });
});

test('following next visits every row once, and following prev visits them all in reverse', async () => {
  for (const path of COLLECTIONS) {
    const all = ids(await everything(path));
    for (const start of ['?per_page=3', '?limit=3&sortby=id']) {
      const forth: number[] = [];
      const targets: string[] = [];
      let target: string | undefined = `${path}${start}`;
      while (target !== undefined) {
        const page: Received = await get(target);
        forth.push(...ids(page.json));
        targets.push(target);
        assert.ok(targets.length <= all.length, `${path}${start} never ends`);
        target = links(page)['next'];
      }
      assert.equal(forth, all, `${path}${start}`);

      const back: number[] = [];
      target = targets.at(-1);
      while (target !== undefined) {
        const page: Received = await get(target);
        back.unshift(...ids(page.json));
        target = links(page)['prev'];
      }
      assert.equal(back, all, `${path}${start}`);
    }
  }
});

test('a page past the end is an empty array, and its prev is the last page', async () => {
  for (const query of ['page=100&per_page=5', 'limit=5&offset=495']) {
    const page = await get(`/books/?${query}`);
    assert.is(page.status, 200, query);
    assert.is(page.text, '[]', query);
    assert.is(page.headers.get('x-total-count'), '23', query);
    const { next, prev, last } = links(page);
    assert.is(next, undefined, query);
    assert.is(prev, last, query);
    assert.is((await rows(last ?? '')).length, 3, query);
  }
  // One row after the last.
  assert.is((await get('/books/?limit=5&offset=23')).text, '[]');
  assert.is((await get('/books/?page=99999999999999999999')).text, '[]');
});

test('an empty result has no rows, a count of 0, and links to one page', async () => {
  const none = await get('/admin/skus/?goods_id=9999&per_page=5');
  assert.is(none.text, '[]');
  assert.is(none.headers.get('x-total-count'), '0');
  assert.equal(links(none), {
    first: '/admin/skus/?goods_id=9999&page=1&per_page=5',
    last: '/admin/skus/?goods_id=9999&page=1&per_page=5',
  });
});

test('a page size from 1 to 1000 is accepted; any other is 400', async () => {
  for (const path of ['/books/', '/admin/skus/']) {
    for (const parameter of ['limit', 'per_page']) {
      for (const size of [1, 2, 999, 1000]) {
        const page = await get(`${path}?${parameter}=${size}`);
        assert.is(page.status, 200, `${path} ${parameter} ${size}`);
        const count = Number(page.headers.get('x-total-count'));
        assert.is(page.json.length, Math.min(size, count));
      }
      for (const size of ['0', '1001', '-1', '99999999999999999999']) {
        assert.is((await get(`${path}?${parameter}=${size}`)).status, 400, `${parameter} ${size}`);
      }
    }
  }
});

for (const path of COLLECTIONS) {
  test(`${path} sorts by every scalar attribute in both orders, equal values by ascending id`, async () => {
    await requireSorted(path, SCALARS[path] ?? [], 'demo');
  });
}

test('strings are sorted by code point, not by code unit or language', async () => {
  const all = await rows('/books/?sortby=name');
  const names = all.map(({ name }) => name).filter((name) => !String(name).startsWith('Book '));
  const own = names.filter((name) =>
    ['\u{1f600}', '\ufb00', 'emma', 'Emma', 'Émile', '\u{10000}', ' a'].includes(String(name)),
  );
  assert.equal(own, [' a', 'Emma', 'Emma', 'emma', 'Émile', '\ufb00', '\u{10000}', '\u{1f600}']);
});

test('null sorts first and false before true; descending order reverses both', async () => {
  const first = await rows('/admin/categories/?sortby=parent_id&limit=1');
  assert.is(first[0]?.['parent_id'], null);
  const last = await rows('/admin/categories/?sortby=parent_id&order=desc&limit=1000');
  assert.is(last.at(-1)?.['parent_id'], null);

  const off = await rows('/admin/skus/?sortby=is_launched&limit=1000');
  const flags = off.map((row) => row['is_launched']);
  assert.ok(flags.includes(true) && flags.includes(false));
  assert.is(flags.indexOf(true), flags.lastIndexOf(false) + 1);
  const on = await rows('/admin/skus/?sortby=is_launched&order=desc&limit=1000');
  assert.is(on[0]?.['is_launched'], true);
  assert.is(on.at(-1)?.['is_launched'], false);
});

test('equal values are sorted by ascending id across pages, in both orders', async () => {
  for (const order of ['asc', 'desc'] as const) {
    const wanted = ids(sorted(await everything('/books/'), 'pub_date', order));
    const got: number[] = [];
    for (let page = 1; got.length < wanted.length; page += 1) {
      const part = ids(
        await rows(`/books/?sortby=pub_date&order=${order}&page=${page}&per_page=4`),
      );
      assert.ok(part.length > 0);
      got.push(...part);
    }
    assert.equal(got, wanted, order);
  }
});

test('order without sortby sorts by id', async () => {
  for (const path of COLLECTIONS) {
    const all = ids(await everything(path));
    assert.equal(ids(await rows(`${path}?limit=1000&order=asc`)), all, path);
    assert.equal(ids(await rows(`${path}?limit=1000&order=desc`)), all.toReversed(), path);
  }
});

test('every attribute that ends in _id is a filter', async () => {
  for (const path of COLLECTIONS) {
    const all = await everything(path);
    for (const attribute of SCALARS[path] ?? []) {
      if (!attribute.endsWith('_id')) continue;
      const values = new Set(all.map((row) => row[attribute] ?? null));
      assert.ok(values.size > 1, `${path} ${attribute}`);
      for (const value of values) {
        assert.equal(
          await rows(`${path}?limit=1000&${attribute}=${value}`),
          all.filter((row) => row[attribute] === value),
          `${path}?${attribute}=${value}`,
        );
      }
      assert.equal(await rows(`${path}?${attribute}=987654321`), [], `${path} ${attribute}`);
    }
  }
});

test('spu_id and goods_id are the same filter of SKUs and of specifications', async () => {
  for (const path of ['/admin/skus/', '/admin/specs/']) {
    const bySpu = await rows(`${path}?spu_id=1`);
    assert.ok(bySpu.length > 0, path);
    assert.equal(bySpu, await rows(`${path}?goods_id=1`), path);
    assert.equal(await rows(`${path}?spu_id=1&goods_id=1`), bySpu, path);
    assert.equal(await rows(`${path}?spu_id=1&goods_id=2`), [], path);
  }
});

test('parent_id=null selects the first level; null is 400 for other references', async () => {
  const all = await everything('/admin/categories/');
  const first = all.filter((row) => row['parent_id'] === null);
  assert.ok(first.length > 0 && first.length < all.length);
  assert.equal(await rows('/admin/categories/?parent_id=null&limit=1000'), first);
  assert.is((await get('/admin/goods/?brand_id=null')).status, 400);
  assert.is((await get('/admin/skus/?goods_id=null')).status, 400);
});

test('a keyword may contain any character, and + means a space', async () => {
  const { spu, chain } = await spuOfOurOwn('Keyword');
  const name = 'A+B & C=D %41 ?#é\u{1f600}';
  const sku = await make(server, '/admin/skus/', skuFields({ spu, chain }, { name }));
  const found = await get(`/admin/skus/?keyword=${encodeURIComponent(name)}&per_page=1`);
  assert.equal(ids(found.json), [sku.id]);
  const link = links(found)['first'] ?? '';
  assert.equal(ids(await rows(link)), [sku.id], link);
  const plus = encodeURIComponent(name).replaceAll('%20', '+');
  assert.equal(ids(await rows(`/admin/skus/?keyword=${plus}`)), [sku.id]);
});

test('filters are combined with AND, and are applied before sorting and paging', async () => {
  const all = await everything('/admin/skus/');
  const [{ goods_id, category_id, name } = { goods_id: 0, category_id: 0, name: '' }] = all;
  const both = all.filter(
    (row) => row['goods_id'] === goods_id && row['category_id'] === category_id,
  );
  const query = `goods_id=${goods_id}&category_id=${category_id}`;
  assert.equal(await rows(`/admin/skus/?${query}`), both);
  assert.equal(
    await rows(`/admin/skus/?${query}&sortby=price&order=desc`),
    sorted(both, 'price', 'desc'),
  );
  assert.equal(
    await rows(`/admin/skus/?${query}&sortby=price&order=desc&limit=1&offset=1`),
    sorted(both, 'price', 'desc').slice(1, 2),
  );
  const keyword = encodeURIComponent(String(name));
  assert.equal(
    await rows(`/admin/skus/?${query}&keyword=${keyword}`),
    both.filter((row) => row['name'] === name),
  );
  const other = all.find((row) => row['goods_id'] !== goods_id)?.['goods_id'];
  assert.equal(await rows(`/admin/skus/?goods_id=${other}&keyword=${keyword}`), []);
});

const REFUSED: readonly (readonly [what: string, queries: readonly string[]])[] = [
  [
    'a malformed number',
    ['page', 'per_page', 'limit', 'offset'].flatMap((name) =>
      ['x', '1.5', '1e2', '-1', '0x10', '%2B1', '+1', '1,000', '1%20', '%D9%A1', 'null'].map(
        (value) => `${name}=${value}`,
      ),
    ),
  ],
  ['a page or a size below 1', ['page=0', 'per_page=0', 'limit=0']],
  [
    'an empty value',
    [
      'page=',
      'per_page=',
      'limit=',
      'offset=',
      'offset',
      'sortby=',
      'order=',
      'goods_id=',
      'spu_id',
    ],
  ],
  [
    'an order that is neither asc nor desc',
    ['order=ASC', 'order=up', 'sortby=id&order=descending'],
  ],
  [
    'an unknown sortby',
    [
      'sortby=colour',
      'sortby=specs',
      'sortby=spu_id',
      'sortby=ID',
      'sortby=__proto__',
      'sortby=-id',
    ],
  ],
  ['a malformed reference', ['goods_id=x', 'category_id=-1', 'goods_id=1.0', 'spu_id=1%202']],
  [
    'an unknown filter that ends in _id',
    ['brand_id=1', 'colour_id=1', 'sku_id=1', 'parent_id=null', 'colour_id='],
  ],
  [
    'a parameter given twice',
    [
      'page=1&page=1',
      'limit=1&limit=2',
      'sortby=id&sortby=id',
      'order=asc&order=asc',
      'keyword=a&keyword=a',
      'keyword=&keyword=a',
      'goods_id=1&goods_id=1',
      'goods%5Fid=1&goods_id=2',
    ],
  ],
  [
    'both paging forms',
    ['page=1&limit=1', 'page=1&offset=0', 'per_page=5&limit=5', 'per_page=5&offset=0'],
  ],
  ['a value that is not percent-encoded UTF-8', ['keyword=%ff', 'keyword=%', 'keyword=%zz']],
];
for (const [what, queries] of REFUSED) {
  test(`${what} is 400 with an error`, async () => {
    for (const query of queries) {
      const answer = await get(`/admin/skus/?${query}`);
      assert.is(answer.status, 400, query);
      assert.equal(Object.keys(answer.json), ['error'], query);
      assert.type(answer.json.error, 'string');
      assert.ok(answer.json.error.length > 0, query);
      assert.is(answer.headers.get('content-type'), 'application/json', query);
    }
  });
}

test('an invalid query parameter is 400 in every collection, including /books/', async () => {
  for (const path of COLLECTIONS) {
    for (const query of ['page=x', 'page=1&limit=1', 'sortby=nothing', 'nothing_id=1', 'order=']) {
      assert.is((await get(`${path}?${query}`)).status, 400, `${path}?${query}`);
    }
  }
});

test('an unknown parameter is 400, and the error suggests a known one', async () => {
  for (const path of [...PAGED, '/books/', '/admin/goods/1/skus/']) {
    for (const query of ['colour=red', 'per_pag=2', 'id=1', 'name=x', '=', 'x=%ff', 'q_=1']) {
      const answer = await get(`${path}?${query}`);
      assert.is(answer.status, 400, `${path}?${query}`);
      assert.match(answer.json.error, /did you mean \w+\?$/);
    }
  }
  // Only SKUs have the filter keyword.
  assert.is((await get('/books/?keyword=nothing')).status, 400);
});

test('parameters that begin with utm_ or _ are ignored, and are not in the links', async () => {
  for (const path of [...PAGED, '/books/']) {
    const plain = await get(path);
    const answer = await get(`${path}?utm_source=mail&_=17&utm_source=x&&_x=%ff`);
    assert.is(answer.status, 200, answer.text);
    assert.is(answer.text, plain.text, path);
    assert.is(answer.headers.get('link'), plain.headers.get('link'), path);
  }
});

test('item requests and writes ignore the query', async () => {
  const query = '?colour=red&page=x&page=x';
  const created = await send(server, 'POST', `/admin/brands/${query}`, { body: { name: 'Q' } });
  assert.is(created.status, 201, created.text);
  const path = `/admin/brands/${created.json.id}/${query}`;
  assert.is((await get(path)).status, 200);
  assert.is((await send(server, 'PATCH', path, { body: { name: 'R' } })).status, 200);
  assert.is((await send(server, 'DELETE', path)).status, 204);
});

test('sorts and filters reflect creates, updates and deletes', async () => {
  const { spu, chain, brand } = await spuOfOurOwn('Followed');
  const price = (value: number, name = 'Followed') =>
    make(server, '/admin/skus/', skuFields({ spu, chain }, { name, price: value }));
  const listed = async (query: string) => ids(await rows(`/admin/skus/?spu_id=${spu}&${query}`));

  const [a, b, c] = [await price(300), await price(100), await price(200)];
  assert.equal(await listed('sortby=price'), [b.id, c.id, a.id]);
  await change(`/admin/skus/${b.id}/`, { price: 400 });
  assert.equal(await listed('sortby=price'), [c.id, a.id, b.id]);
  await change(`/admin/skus/${c.id}/`, { price: 300 });
  assert.equal(await listed('sortby=price'), [a.id, c.id, b.id]);
  assert.equal(await listed('sortby=price&order=desc'), [b.id, a.id, c.id]);

  await change(`/admin/skus/${a.id}/`, { name: 'Renamed and found' });
  assert.equal(await listed('keyword=Followed'), [b.id, c.id]);
  assert.equal(ids(await rows('/admin/skus/?keyword=Renamed+and+found')), [a.id]);

  await remove(`/admin/skus/${c.id}/`);
  assert.equal(await listed('sortby=price'), [a.id, b.id]);
  assert.equal(await listed('keyword=Followed'), [b.id]);
  assert.is((await get(`/admin/skus/?spu_id=${spu}`)).headers.get('x-total-count'), '2');

  const elsewhere = await make(server, '/admin/goods/', spuFields({ brand, chain }));
  await change(`/admin/skus/${b.id}/`, { spu_id: elsewhere.id });
  assert.equal(await listed('sortby=price'), [a.id]);
  assert.equal(ids(await rows(`/admin/skus/?goods_id=${elsewhere.id}`)), [b.id]);
  await requireSorted('/admin/skus/', SCALARS['/admin/skus/'] ?? [], 'after the changes');
});

test('a failed write does not change sorts and filters', async () => {
  const before = await Promise.all(['name', 'price', 'goods'].map(sortedSkus));
  const refused = await send(server, 'PATCH', '/admin/skus/1/', {
    body: { name: 'Never', price: 0, spu_id: 987_654_321 },
  });
  assert.is(refused.status, 422);
  assert.equal(await Promise.all(['name', 'price', 'goods'].map(sortedSkus)), before);
  assert.equal(await rows('/admin/skus/?keyword=Never'), []);
});

const sortedSkus = (attribute: string) => rows(`/admin/skus/?limit=1000&sortby=${attribute}`);

/** Every sort by a joined name, of every collection that has one. */
async function requireJoinedSorts(note: string): Promise<void> {
  await requireSorted('/admin/skus/', ['goods', 'goods_id', 'category', 'category_id'], note);
  await requireSorted('/admin/goods/', ['brand', 'brand_id'], note);
  await requireSorted('/admin/specs/', ['goods'], note);
  await requireSorted('/admin/options/', ['spec'], note);
}

test('a sort by a joined name reflects renames, moves and deletions of the rows', async () => {
  const a = await spuOfOurOwn('M joined a');
  const z = await spuOfOurOwn('M joined z');
  const skus = [a, z, a, z].map((of) => make(server, '/admin/skus/', skuFields(of)));
  const [one, two] = await Promise.all(skus);
  await requireJoinedSorts('as made');

  await change(`/admin/goods/${a.spu}/`, { name: '~ last of all' });
  assert.is((await rows('/admin/skus/?sortby=goods&order=desc&limit=1'))[0]?.['goods_id'], a.spu);
  await requireJoinedSorts('SPU renamed');
  await change(`/admin/goods/1/`, { name: '! first of all' });
  assert.is((await rows('/admin/skus/?sortby=goods&limit=1'))[0]?.['goods_id'], 1);
  await requireJoinedSorts('SPU of the demo renamed');

  await change(`/admin/categories/${z.chain[2]}/`, { name: '! first category' });
  const [least] = await rows('/admin/skus/?sortby=category&limit=1');
  assert.is(least?.['category_id'], z.chain[2]);
  await requireJoinedSorts('category renamed');

  await change('/admin/brands/1/', { name: '~ last brand' });
  await requireJoinedSorts('brand renamed');
  const spec = await make(server, '/admin/specs/', { name: 'Weave', spu_id: a.spu });
  await make(server, '/admin/options/', { value: 'Twill', spec_id: spec.id });
  await change(`/admin/specs/${spec.id}/`, { name: '! first specification' });
  await requireJoinedSorts('specification renamed');

  await change(`/admin/skus/${one.id}/`, { spu_id: z.spu, category_id: z.chain[2] });
  await requireJoinedSorts('SKU moved to another SPU and category');
  const under = await make(server, '/admin/categories/', { name: 'Moved', parent_id: z.chain[0] });
  const third = await make(server, '/admin/categories/', { name: 'M', parent_id: under.id });
  await change(`/admin/skus/${two.id}/`, { category_id: third.id });
  await change(`/admin/categories/${third.id}/`, { parent_id: z.chain[1], name: '~~' });
  await requireJoinedSorts('category moved');

  for (const sku of await rows(`/admin/skus/?spu_id=${z.spu}&limit=1000`)) {
    await remove(`/admin/skus/${sku.id}/`);
  }
  await requireJoinedSorts('SKUs deleted');
  await remove(`/admin/goods/${z.spu}/`);
  await requireJoinedSorts('SPU deleted');
  await remove(`/admin/categories/${third.id}/`);
  await requireJoinedSorts('category deleted');
});

test('every sort and every filter returns the same rows after a restart', async () => {
  const sorts = COLLECTIONS.flatMap((path) =>
    (SCALARS[path] ?? []).map((attribute) => `${path}?limit=1000&sortby=${attribute}&order=desc`),
  );
  const filters = [
    '/admin/categories/?limit=1000&parent_id=null',
    '/admin/skus/?limit=1000&is_launched=true&price_min=2&stock_max=50',
    '/admin/skus/?keyword=Renamed+and+found',
    '/admin/skus/?q=renamed',
  ];
  for (const path of PAGED) {
    const all = await everything(path);
    for (const attribute of SCALARS[path] ?? []) {
      const value = all.map((row) => row[attribute]).findLast((each) => each !== null);
      const isFilter = attribute.endsWith('_id') || attribute === 'code';
      if (isFilter) filters.push(`${path}?limit=1000&${attribute}=${value}`);
    }
  }
  const queries = [...sorts, ...filters];
  const before = await Promise.all(queries.map(rows));
  for (const [index, list] of before.entries()) assert.ok(list.length > 0, queries[index]);
  await server.stop();
  server = await openService({ data: server.data });
  assert.equal(await Promise.all(queries.map(rows)), before);
});

/** A brand, a chain of categories and an SPU that no other test touches. */
async function spuOfOurOwn(name: string) {
  const brand = (await make(server, '/admin/brands/', { name })).id as number;
  const chain = await makeChain(server, name);
  const spu = await make(server, '/admin/goods/', spuFields({ brand, chain }, { name }));
  return { brand, chain, spu: spu.id as number };
}

test.run();
