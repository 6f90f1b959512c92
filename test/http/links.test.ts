/** RFC 8288: from the base address every path can be found by following `Link`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { linksOf, type Received, type Sent, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const COLLECTIONS = [
  '/books/',
  '/admin/brands/',
  '/admin/categories/',
  '/admin/goods/',
  '/admin/specs/',
  '/admin/options/',
  '/admin/skus/',
];

/** Nested collections of the demo catalog, with an id that is in each. */
const NESTED: readonly (readonly [path: string, child: number])[] = [
  ['/admin/goods/1/skus/', 1],
  ['/admin/goods/1/specs/', 1],
  ['/admin/specs/1/options/', 1],
  ['/admin/categories/1/categories/', 4],
  ['/admin/brands/1/goods/', 1],
  ['/admin/skus/1/specs/', 1],
];

/** The prefixes of a path: none, a version, a base path, and both. */
const PREFIXES = ['', '/1.0', '/api', '/api/1.0'];

let bare: Service;
/** The same under `--base-path /api`. */
let moved: Service;

test.before(async () => {
  bare = await openService({ demo: true });
  moved = await openService({ demo: true, basePath: '/api' });
});

test.after(closeServices);

const at = (prefix: string) => (prefix.startsWith('/api') ? moved : bare);

const ask = (prefix: string, path: string, method = 'GET', sent: Sent = {}) =>
  send(at(prefix), method, `${prefix}${path}`, sent);

const PAGES = new Set(['first', 'prev', 'next', 'last']);

/** `Link` without the pages and the documentation. */
const waysOf = (answer: Received) =>
  linksOf(answer).filter(([rel]) => !PAGES.has(rel) && !rel.startsWith('service-'));

const serviceOf = (answer: Received) =>
  linksOf(answer).filter(([rel]) => rel.startsWith('service-'));

/** Requires that every target of the links is 200. */
async function assertReachable(prefix: string, answer: Received): Promise<void> {
  for (const [rel, target] of linksOf(answer)) {
    assert.match(target, /^\/(?!\/)/, `${rel} is an absolute path`);
    assert.is((await send(at(prefix), 'GET', target)).status, 200, `${rel} ${target}`);
  }
}

for (const prefix of PREFIXES) {
  const where = prefix === '' ? 'without a prefix' : `with the prefix ${prefix}`;

  test(`${where}, the index links to each collection, and has no link up`, async () => {
    const index = await ask(prefix, '/');
    const base = prefix.startsWith('/api') ? '/api' : '';
    const items = waysOf(index);
    assert.ok(items.every(([rel]) => rel === 'item'));
    assert.equal(
      items.map(([, target]) => target).toSorted(),
      [...COLLECTIONS, '/admin/audits/'].map((path) => `${base}${path}`).toSorted(),
    );
    assert.equal(
      items.map(([, target]) => target).toSorted(),
      Object.values<string>(index.json.collections).toSorted(),
      'the same as in the body',
    );
    await assertReachable(prefix, index);
  });

  test(`${where}, a collection links up to the index with that prefix`, async () => {
    for (const path of COLLECTIONS) {
      for (const query of ['', '?per_page=1', '?limit=1&offset=1', '?sortby=id&_x=%2F..%2F']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await ask(prefix, `${path}${query}`, method);
          assert.is(answer.status, 200);
          assert.equal(waysOf(answer), [['up', `${prefix}/`]], `${method} ${path}${query}`);
        }
      }
    }
    await assertReachable(prefix, await ask(prefix, '/admin/skus/?per_page=2&page=2'));
  });

  test(`${where}, a nested collection links up to its parent`, async () => {
    for (const [path] of NESTED) {
      const answer = await ask(prefix, path);
      const parent = path.replace(/\w+\/$/, '');
      assert.equal(waysOf(answer), [['up', `${prefix}${parent}`]], path);
      await assertReachable(prefix, answer);
    }
  });

  test(`${where}, an item links to the collection in its path as collection and as up`, async () => {
    const items = [
      ...COLLECTIONS.map((path) => [path, 1] as const),
      ...NESTED.map(([path, child]) => [path, child] as const),
    ];
    for (const [path, id] of items) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask(prefix, `${path}${id}/`, method);
        assert.is(answer.status, 200, path);
        assert.equal(
          waysOf(answer),
          [
            ['collection', `${prefix}${path}`],
            ['up', `${prefix}${path}`],
          ],
          `${method} ${path}${id}/`,
        );
        await assertReachable(prefix, answer);
      }
    }
  });

  test(`${where}, the responses to PUT and PATCH have the links of the item`, async () => {
    const path = '/admin/brands/2/';
    const wanted = waysOf(await ask(prefix, path));
    for (const method of ['PUT', 'PATCH']) {
      const answer = await ask(prefix, path, method, { body: { name: 'Renamed' } });
      assert.is(answer.status, 200);
      assert.equal(waysOf(answer), wanted, method);
    }
  });

  test(`${where}, all collections can be reached by links, and a new item by its Location`, async () => {
    const seen = new Set<string>();
    const waiting = [`${prefix}/`];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const answer = await send(at(prefix), 'GET', path);
      assert.is(answer.status, 200, path);
      waiting.push(...linksOf(answer).map(([, target]) => target));
    }
    const base = prefix.startsWith('/api') ? '/api' : '';
    for (const path of [...COLLECTIONS, '/openapi.json', '/docs/']) {
      assert.ok(seen.has(`${base}${path}`), path);
    }
    const created = await ask(prefix, '/admin/brands/', 'POST', { body: { name: 'Found' } });
    const location = created.headers.get('location') ?? '';
    assert.ok(location.startsWith(`${prefix}/admin/brands/`), location);
    await assertReachable(prefix, await send(at(prefix), 'GET', location));
  });

  test(`${where}, every response links once to the documentation`, async () => {
    const wanted = [
      ['service-desc', `${prefix}/openapi.json`],
      ['service-doc', `${prefix}/docs/`],
    ];
    for (const [path, method, status, sent] of [
      ['/', 'GET', 200],
      ['/admin/skus/1/', 'GET', 200],
      ['/admin/skus/?per_page=1', 'GET', 200],
      ['/admin/brands/bulk/', 'POST', 201, { body: [{ name: 'A' }] }],
      ['/admin/brands/bulk/', 'PATCH', 200, { body: [{ id: 1 }] }],
      ['/admin/brands/bulk/', 'PATCH', 422, { body: [] }],
      ['/admin/skus/1/', 'GET', 304, { headers: { 'if-none-match': '*' } }],
      ['/admin/skus/1/', 'GET', 401, { token: null }],
      ['/admin/skus/9999/', 'GET', 404],
      ['/nowhere/', 'GET', 404],
      ['/docs/', 'GET', 200],
    ] as const) {
      const answer = await ask(prefix, path, method, sent);
      assert.is(answer.status, status, `${method} ${path}`);
      assert.equal(serviceOf(answer), wanted, `${method} ${path}`);
    }
  });
}

test('Link is a valid list of RFC 8288 for any query', async () => {
  const value = /^<[^<>\s"]*>(?:; \w+(?:-\w+)*="[^"<>]*")+$/;
  for (const query of [
    '',
    'keyword=%3E%3B%20rel%3D%22up%22%2C%20%3C',
    'keyword=%22%3E%2C%3Chttp%3A%2F%2Fevil.example%3E',
    'keyword=a,b;c&per_page=1',
    "keyword='()*!~",
    '_=%22%3E%2C%3Chttp%3A%2F%2Fevil.example%3E',
  ]) {
    const answer = await send(bare, 'GET', `/admin/skus/?${query}`);
    assert.is(answer.status, 200, query);
    for (const each of (answer.headers.get('link') ?? '').split(', ')) {
      assert.match(each, value, query);
    }
    for (const [rel, target] of linksOf(answer)) {
      assert.ok(target.startsWith('/') && !target.startsWith('//'), `${rel} ${target}`);
    }
    const rels = linksOf(answer).map(([rel]) => rel);
    assert.is(new Set(rels).size, rels.length, 'no relation twice');
  }
});

test('a response without an item or a page links only to the documentation', async () => {
  for (const [path, method, sent] of [
    ['/openapi.json', 'GET'],
    ['/docs/', 'GET'],
    ['/admin/skus/1/', 'OPTIONS'],
    ['/admin/skus/bulk/', 'PATCH', { body: [{ id: 1 }] }],
    ['/admin/skus/9999/', 'GET'],
    ['/admin/skus/', 'DELETE'],
  ] as const) {
    assert.equal(waysOf(await send(bare, method, path, sent)), [], `${method} ${path}`);
  }
});

test.run();
