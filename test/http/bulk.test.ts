/** Bulk writes: all elements or none are written, in one commit, and errors name the element. */
import { join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../src/disk/disk.ts';
import { checkStore } from '../../src/store/check.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  filesOf,
  make,
  makeChain,
  pageWith,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { numbersTo } from '../support/numbers.ts';
import { closeServices, openService, type Service } from '../support/service.ts';

const UNKNOWN = 99999;
const SKUS = '/admin/skus/';
const OBJECTS = 'must be an object';

let server: Service;
let catalog: Catalog;
/** A second catalog: its rows cannot be combined with those of the first. */
let other: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
  other = await createCatalog(server, 'Lamp');
});

test.after(closeServices);

/** The bulk path of a collection. */
const bulkOf = (path: string) => `${path}bulk/`;

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(server, 'POST', bulkOf(path), { body, headers });

const patch = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(server, 'PATCH', bulkOf(path), { body, headers });

interface Collection {
  /** A valid element, distinguished from others by the text. */
  readonly element: (text: string) => Fields;
  /** A member that holds the text. */
  readonly text: string;
  /** A member, and a value that it must not have. */
  readonly invalid: readonly [name: string, value: unknown];
  /** A member that refers to an item that does not exist; null if there is none. */
  readonly broken: string | null;
}

const COLLECTIONS: Readonly<Record<string, Collection>> = {
  '/admin/brands/': {
    element: (name) => ({ name, logo: 'l.png' }),
    text: 'name',
    invalid: ['first_letter', 'AB'],
    broken: null,
  },
  '/admin/categories/': {
    element: (name) => ({ name, parent_id: catalog.chain[1] }),
    text: 'name',
    invalid: ['parent_id', '1'],
    broken: 'parent_id',
  },
  '/admin/goods/': {
    element: (name) => spuFields(catalog, { name }),
    text: 'name',
    invalid: ['brand_id', 1.5],
    broken: 'brand_id',
  },
  '/admin/specs/': {
    element: (name) => ({ name, spu_id: catalog.spu }),
    text: 'name',
    invalid: ['spu_id', null],
    broken: 'spu_id',
  },
  '/admin/options/': {
    element: (value) => ({ value, spec_id: catalog.silver.spec_id }),
    text: 'value',
    invalid: ['spec_id', true],
    broken: 'spec_id',
  },
  [SKUS]: {
    element: (name) => skuFields(catalog, { name, specs: [catalog.silver, catalog.large] }),
    text: 'name',
    invalid: ['price', -1],
    broken: 'category_id',
  },
};

const ADMIN = Object.entries(COLLECTIONS);

const idsOf = (list: readonly { readonly id: number }[]): number[] => list.map(({ id }) => id);

/** The committed change sets with their bytes. */
const changesOf = ({ data }: Service) => filesOf(join(data, 'changes'));

async function sizeOf(path: string): Promise<number> {
  const list = await send(server, 'GET', `${path}?limit=1`);
  return Number(list.headers.get('x-total-count'));
}

/** Creates an item to learn the next id of a collection. @returns the id, which is now used. */
async function nextId(path: string): Promise<number> {
  const { element } = COLLECTIONS[path] as Collection;
  return (await make(server, path, element('Probe'))).id;
}

/** Requires a 422 whose problems are exactly those of these fields. */
function assertInvalid(answer: Received, fields: readonly string[], what: string): void {
  assert.is(answer.status, 422, `${what}: ${answer.text}`);
  assert.equal(Object.keys(answer.json), ['error', 'fields'], what);
  assert.equal(Object.keys(answer.json.fields), fields, what);
  for (const field of fields) assert.ok(answer.json.error.includes(`${field}: `), answer.text);
}

/** Requires that requests leave the files, the count and the next id as if never sent. */
async function leavesNothing(path: string, run: () => Promise<void>): Promise<void> {
  const [id, count, files] = [await nextId(path), await sizeOf(path), changesOf(server)];
  await run();
  assert.is(await sizeOf(path), count, `${path} has as many rows as before`);
  assert.equal(changesOf(server), files, 'the files are as before');
  assert.is(await nextId(path), id + 1, `no id of ${path} is spent`);
}

for (const [path, { element, text, invalid, broken }] of ADMIN) {
  test(`POST to ${bulkOf(path)} creates the objects in order, with consecutive ids`, async () => {
    const [before, count] = [await nextId(path), await sizeOf(path)];
    const texts = ['Zeta', 'alpha', 'Zeta', 'Ünal', '\u{1f600}'];
    const created = await post(path, texts.map(element));
    assert.is(created.status, 201, created.text);
    assert.equal(
      created.json.map((object: Fields) => object[text]),
      texts,
    );
    assert.equal(
      idsOf(created.json),
      texts.map((_, index) => before + 1 + index),
    );
    assert.is(created.headers.get('location'), null);
    assert.is(created.headers.get('etag'), null);
    assert.is(created.headers.get('content-type'), 'application/json');
    assert.is(await sizeOf(path), count + texts.length);
    for (const object of created.json) {
      assert.equal(await read(server, `${path}${object.id}/`), object);
    }
  });

  test(`POST of one element to ${bulkOf(path)} returns an array of one object`, async () => {
    const created = await post(path, [element('Alone')]);
    assert.is(created.status, 201);
    assert.is(created.json.length, 1);
    const single = await make(server, path, element('Alone'));
    assert.equal({ ...created.json[0], id: single.id }, single);
  });

  test(`POST to ${bulkOf(path)} writes nothing if one element is invalid, at any position`, async () => {
    const [name, value] = invalid;
    await leavesNothing(path, async () => {
      for (const place of [0, 2, 4]) {
        const body: Fields[] = numbersTo(5).map((index) => element(`Never ${index}`));
        body[place] = { ...body[place], [name]: value };
        assertInvalid(await post(path, body), [`${place}.${name}`], `${place} of ${path}`);
        if (broken === null) continue;
        body[place] = { ...element('Never'), [broken]: UNKNOWN };
        const refused = await post(path, body);
        assert.is(refused.status, 422, refused.text);
        assert.equal(refused.json, {
          error: `database error: ${place}.${broken}: ${UNKNOWN} does not exist`,
        });
      }
    });
  });

  test(`PATCH of ${bulkOf(path)} changes only the named members, and responds in request order`, async () => {
    const made = (await post(path, ['A', 'B', 'C', 'D'].map(element))).json;
    const [a, b, c, d] = idsOf(made);
    const tags = await Promise.all(idsOf(made).map((id) => etagOf(path, id)));
    const changed = await patch(path, [
      { id: d, [text]: 'Fourth' },
      { id: a, [text]: 'First' },
      { id: c },
    ]);
    assert.is(changed.status, 200, changed.text);
    assert.equal(changed.json, [
      { ...made[3], [text]: 'Fourth' },
      { ...made[0], [text]: 'First' },
      made[2],
    ]);
    assert.is(changed.headers.get('etag'), null);
    assert.is(changed.headers.get('content-type'), 'application/json');
    for (const object of changed.json) {
      assert.equal(await read(server, `${path}${object.id}/`), object);
    }
    assert.equal(await read(server, `${path}${b}/`), made[1]);
    const after = await Promise.all(idsOf(made).map((id) => etagOf(path, id)));
    assert.equal(
      after.map((tag, index) => tag === tags[index]),
      [false, true, true, false],
      'the entity tags of what has changed, and of nothing else, are new',
    );
  });

  test(`PATCH of ${bulkOf(path)} writes nothing if one element is invalid, at any position`, async () => {
    const made = (await post(path, ['A', 'B', 'C'].map(element))).json;
    const ids = idsOf(made);
    const deleted = (await post(path, [element('Gone')])).json[0].id;
    assert.is((await send(server, 'DELETE', `${path}${deleted}/`)).status, 204);
    const none = (id: number) => new RegExp(`^there is no [A-Za-z]+ ${id}$`);
    const bad: readonly (readonly [what: Fields, field: string, says: string | RegExp])[] = [
      [{ id: UNKNOWN }, 'id', none(UNKNOWN)],
      [{ id: deleted, [text]: 'X' }, 'id', none(deleted)],
      [{ id: 0 }, 'id', none(0)],
      [{ id: -1 }, 'id', none(-1)],
      [{ [text]: 'X' }, 'id', 'is required'],
      [{ id: '1' }, 'id', 'must be an integer, not a string'],
      [{ id: 1.5 }, 'id', 'must be an integer, not a fraction'],
      [{ id: null }, 'id', 'must be an integer, not null'],
      [{ id: [1] }, 'id', 'must be an integer, not an array'],
      [{ id: 2 ** 53 }, 'id', /./],
      [{ id: ids[0], [text]: 'X' }, 'id', `${ids[0]} occurs twice`],
      [{ id: ids[1], [invalid[0]]: invalid[1] }, invalid[0], /./],
      [{ id: ids[1], [text]: '' }, text, /./],
    ];
    const files = changesOf(server);
    for (const [wrong, field, says] of bad) {
      const good: Fields[] = [0, 2].map((index) => ({ id: ids[index], [text]: 'Never' }));
      for (const place of [0, 1, 2]) {
        const body = good.toSpliced(place, 0, wrong);
        const answer = await patch(path, body);
        // If an id occurs twice, the second element is reported.
        const named = `${wrong['id'] === ids[0] ? Math.max(place, 1) : place}.${field}`;
        assertInvalid(answer, [named], JSON.stringify(body));
        assert.match(answer.json.fields[named][0], says);
      }
    }
    const without = await patch(path, [{ [text]: 'X' }, { id: '1', [text]: 'X' }, { [text]: 'X' }]);
    assertInvalid(without, ['0.id', '1.id', '2.id'], 'elements without an id are not the same');
    assert.equal(without.json.fields['2.id'], ['is required']);
    const twice = await patch(path, [{ id: 0 }, { id: 0, [text]: '' }]);
    assertInvalid(twice, ['1.id', `1.${text}`], 'the same id twice, although no object has it');
    if (broken !== null) {
      const body = [
        { id: ids[0], [text]: 'Never' },
        { id: ids[1], [broken]: UNKNOWN },
      ];
      assert.equal((await patch(path, body)).json, {
        error: `database error: 1.${broken}: ${UNKNOWN} does not exist`,
      });
    }
    assert.equal(changesOf(server), files, 'the files are as before');
    for (const object of made) assert.equal(await read(server, `${path}${object.id}/`), object);
  });

  test(`POST and PATCH of ${bulkOf(path)} reject an empty array and elements that are not objects`, async () => {
    const files = changesOf(server);
    for (const method of ['POST', 'PATCH']) {
      const empty = await send(server, method, bulkOf(path), { body: [] });
      assert.is(empty.status, 422, method);
      assert.equal(empty.json.fields, {}, method);
      assert.match(empty.json.error, 'empty', method);
      const body = [null, true, 1, 'name', [], [element('X')]];
      const answer = await send(server, method, bulkOf(path), { body });
      assertInvalid(answer, ['0', '1', '2', '3', '4', '5'], method);
      for (const messages of Object.values(answer.json.fields)) assert.equal(messages, [OBJECTS]);
      const half = [{ ...element('X'), id: 1 }, null];
      const mixed = await send(server, method, bulkOf(path), { body: half });
      assertInvalid(mixed, ['1'], method);
    }
    assert.equal(changesOf(server), files);
  });

  test(`a body that is not an array is 422 for ${bulkOf(path)}, and an array is 422 for ${path}`, async () => {
    for (const body of ['{}', JSON.stringify({ ...element('X'), id: 1 }), 'null', '1', '"x"']) {
      for (const answer of [await patch(path, body), await post(path, body)]) {
        assert.is(answer.status, 422, body);
        assert.equal(answer.json, {
          error: 'the body must be a JSON array of objects',
          fields: {},
        });
      }
    }
    for (const body of [[], [element('X')], [element('X'), element('Y')]]) {
      const answer = await send(server, 'POST', path, { body });
      assert.is(answer.status, 422);
      assert.equal(answer.json, { error: 'the body must be a JSON object', fields: {} });
    }
    assert.is((await patch(path, '[{"id":1}')).status, 400);
    assert.is((await patch(path, '')).status, 400);
    assert.is((await patch(path, '[]', { 'content-type': 'text/plain' })).status, 415);
  });
}

async function etagOf(path: string, id: number): Promise<string | null> {
  const { headers } = await send(server, 'GET', `${path}${id}/`);
  assert.ok(headers.get('etag'));
  return headers.get('etag');
}

test('every invalid element is reported, and nothing is written unless all are valid', async () => {
  const good = fc.constant<readonly string[]>([]);
  const bad = fc.subarray(['name', 'spu_id', 'price', 'stock'], { minLength: 1 });
  const element = fc.oneof({ arbitrary: good, weight: 4 }, { arbitrary: bad, weight: 1 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(element, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (elements, changing) => {
        const of = changing
          ? (
              await post(
                SKUS,
                elements.map(() => skuFields(catalog)),
              )
            ).json
          : [];
        const count = await sizeOf(SKUS);
        const body = elements.map((wrong, index) => ({
          ...(changing ? { id: of[index].id, caption: 'Changed' } : skuFields(catalog)),
          ...Object.fromEntries(wrong.map((name) => [name, null])),
        }));
        const answer = await send(server, changing ? 'PATCH' : 'POST', bulkOf(SKUS), { body });
        const named = elements.flatMap((wrong, index) => wrong.map((name) => `${index}.${name}`));
        const done = named.length === 0;
        assert.is(answer.status, done ? (changing ? 200 : 201) : 422, answer.text);
        if (!done) assert.equal(Object.keys(answer.json.fields), named);
        assert.is(await sizeOf(SKUS), done && !changing ? count + elements.length : count);
        for (const { id } of of) {
          const { caption } = await read(server, `${SKUS}${id}/`);
          assert.is(caption, done ? 'Changed' : 'Light');
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a database error of a bulk POST names the element that causes it', async () => {
  const { silver, black, large } = catalog;
  const sku = (changes: Fields) => skuFields(catalog, changes);
  const lamp = other.silver.spec_id;
  const cases: readonly (readonly [path: string, bad: Fields, place: number, says: RegExp])[] = [
    [SKUS, sku({ specs: [silver, { ...black, option_id: UNKNOWN }] }), 3, /^3\.option_id: 99999 /],
    [SKUS, sku({ specs: [{ ...silver, spec_id: UNKNOWN }] }), 0, /^0\.spec_id: 99999 /],
    [
      SKUS,
      sku({ specs: [{ ...silver, option_id: large.option_id }] }),
      1,
      /^1\.option_id: option /,
    ],
    [SKUS, sku({ specs: [{ ...other.silver }] }), 2, new RegExp(`^2\\.spec_id: .*${lamp}`)],
    [SKUS, sku({ category_id: catalog.chain[0] }), 2, /^2\.category_id: /],
    [SKUS, sku({ spu_id: UNKNOWN }), 11, /^11\.spu_id: 99999 does not exist$/],
    [
      '/admin/goods/',
      spuFields(catalog, { category2_id: other.chain[1] }),
      1,
      /^1\.category[123]_id: /,
    ],
    ['/admin/categories/', { name: 'Too deep', parent_id: catalog.chain[2] }, 4, /^4\.parent_id: /],
  ];
  for (const [path, bad, place, says] of cases) {
    await leavesNothing(path, async () => {
      const { element } = COLLECTIONS[path] as Collection;
      const body: Fields[] = numbersTo(place + 2).map(() => element('Never'));
      body[place] = bad;
      const answer = await post(path, body);
      assert.is(answer.status, 422, answer.text);
      assert.equal(Object.keys(answer.json), ['error']);
      assert.ok(answer.json.error.startsWith('database error: '), answer.text);
      assert.match(answer.json.error.slice('database error: '.length), says);
    });
  }
});

test('if several elements cause a database error, only the first is named', async () => {
  const brand_id = UNKNOWN;
  const good = spuFields(catalog);
  const body = [good, good, spuFields(catalog, { brand_id }), good, { ...good, brand_id: 88888 }];
  const { json } = await post('/admin/goods/', body);
  assert.equal(json, { error: `database error: 2.brand_id: ${UNKNOWN} does not exist` });
});

test('an element may refer to an object that the same array creates, in either order', async () => {
  const path = '/admin/categories/';
  const id = (await nextId(path)) + 1;
  const forward = await post(path, [{ name: 'Parent' }, { name: 'Child', parent_id: id }]);
  assert.is(forward.status, 201, forward.text);
  assert.is(forward.json[1].parent_id, forward.json[0].id);
  const back = await post(path, [{ name: 'Child', parent_id: id + 3 }, { name: 'Parent' }]);
  assert.is(back.status, 201, back.text);
  assert.is(back.json[0].parent_id, back.json[1].id);
});

test('up to 100 problems of an array are listed, in the order of the elements', async () => {
  const two = await post('/admin/brands/', [{ name: null, logo: [] }, { name: 'Good' }, {}]);
  assert.equal(two.json, {
    error:
      '0.name: must be a string, not null; 0.logo: must be a string, not an array; 2.name: is required',
    fields: {
      '0.name': ['must be a string, not null'],
      '0.logo': ['must be a string, not an array'],
      '2.name': ['is required'],
    },
  });
  const deep = await post(SKUS, [skuFields(catalog), skuFields(catalog, { specs: [{}, 7] })]);
  assertInvalid(deep, ['1.specs.0.spec_id', '1.specs.0.option_id', '1.specs.1'], 'specs');
  for (const method of ['POST', 'PATCH']) {
    const body = `[${'0,'.repeat(9_999)}0]`;
    const many = await send(server, method, bulkOf('/admin/brands/'), { body });
    assertInvalid(many, numbersTo(100).map(String), method);
  }
});

test('books, nested collections and items do not accept an array', async () => {
  const book = { name: 'Emma', pub_date: '1815-12-23' };
  const books = (await send(server, 'GET', '/books/')).text;
  const records = `${SKUS}${catalog.sku}/specs/`;
  for (const [path, element] of [
    ['/books/', book],
    [records, catalog.silver],
  ] as const) {
    for (const body of [[element], [element, element], []]) {
      const answer = await send(server, 'POST', path, { body });
      assert.is(answer.status, 422, path);
      assert.equal(answer.json, { error: 'the body must be a JSON object', fields: {} });
    }
    const refused = await send(server, 'PATCH', path, { body: [{ ...element, id: 1 }] });
    assert.is(refused.status, 405, path);
    assert.is(refused.headers.get('allow'), 'GET, HEAD, POST, OPTIONS');
  }
  for (const [path, method] of [
    [`/admin/goods/${catalog.spu}/skus/`, 'POST'],
    [`/admin/goods/${catalog.spu}/skus/`, 'PATCH'],
    [`/admin/brands/${catalog.brand}/goods/`, 'PATCH'],
  ] as const) {
    const answer = await send(server, method, path, { body: [{}] });
    assert.is(answer.status, 405, `${method} ${path}`);
    assert.is(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
  }
  for (const method of ['PUT', 'PATCH']) {
    const item = `${SKUS}${catalog.sku}/`;
    assert.is((await send(server, method, item, { body: [{ stock: 1 }] })).status, 422, method);
  }
  assert.is((await send(server, 'GET', '/books/')).text, books);
  assert.equal(await read(server, records), []);
});

test('spec 9.1: a bulk path has POST, PATCH and OPTIONS; the collection itself has no PATCH', async () => {
  for (const path of Object.keys(COLLECTIONS)) {
    const options = await send(server, 'OPTIONS', bulkOf(path), { token: null });
    assert.is(options.headers.get('allow'), 'POST, PATCH, OPTIONS', path);
    const one = await send(server, 'OPTIONS', path, { token: null });
    assert.equal(options.json, one.json, 'the attributes of an element');
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const refused = await send(server, method, bulkOf(path), {});
      assert.is(refused.status, 405, `${method} ${path}`);
      assert.is(refused.headers.get('allow'), 'POST, PATCH, OPTIONS', path);
    }
    const refused = await send(server, 'PATCH', path, { body: [{ id: 1 }] });
    assert.is(refused.status, 405, path);
    assert.is(refused.headers.get('allow'), 'GET, HEAD, POST, OPTIONS', path);
    const slash = await send(server, 'POST', bulkOf(path).slice(0, -1), { body: [] });
    assert.is(slash.status, 404);
    assert.match(slash.json.error, `did you mean ${bulkOf(path)} ?`);
  }
});

test('spec 9.1: books, the audit trail and nested collections have no bulk path', async () => {
  for (const path of [
    '/books/',
    '/admin/audits/',
    `/admin/goods/${catalog.spu}/skus/`,
    `${SKUS}${catalog.sku}/specs/`,
  ]) {
    for (const method of ['GET', 'POST', 'PATCH']) {
      const body = method === 'GET' ? {} : { body: [] };
      assert.is((await send(server, method, bulkOf(path), body)).status, 404, `${method} ${path}`);
    }
  }
});

test('a bulk PATCH ignores read-only and unknown members, and does not store them', async () => {
  const [first, second] = (await post(SKUS, [skuFields(catalog), skuFields(catalog)])).json;
  const extra = { sales: 9, goods: 'X', category: 'X', colour: 'red', __proto__x: 1 };
  const changed = await patch(SKUS, [
    { id: second.id, ...extra },
    { ...first, ...extra, specs: [], stock: 1 },
  ]);
  assert.is(changed.status, 200, changed.text);
  assert.equal(changed.json, [second, { ...first, stock: 1 }]);
  const since = Number(changed.headers.get('catalog-sequence')) - 1;
  for (const { id, before, after } of await read(server, `/admin/changes/?since=${since}`)) {
    assert.equal(after, id === first.id ? { ...before, stock: 1 } : before);
  }
});

test('goods_id means spu_id in an element; if they differ, it is 422', async () => {
  const { id } = await make(server, SKUS, skuFields(catalog));
  const moved = await patch(SKUS, [{ id, goods_id: other.spu }]);
  assert.is(moved.json[0].goods_id, other.spu);
  const both = await patch(SKUS, [{ id: catalog.sku }, { id, spu_id: 1, goods_id: 2 }]);
  assertInvalid(both, ['1.spu_id'], 'both');
});

test('in a bulk POST or PATCH each element of specs adds a record, all or none', async () => {
  const { silver, black, large } = catalog;
  const made = await post(SKUS, [
    skuFields(catalog, { specs: [silver] }),
    skuFields(catalog),
    skuFields(catalog, { specs: [black, large] }),
  ]);
  const specs = (answer: Received) => answer.json.map((each: Fields) => each['specs']);
  assert.equal(specs(made), [[silver], [], [black, large]]);
  const [one, two, three] = idsOf(made.json);
  const changed = await patch(SKUS, [
    { id: three, specs: [silver] },
    { id: one, specs: [] },
    { id: two, specs: [large, silver] },
  ]);
  assert.equal(specs(changed), [[black, large, silver], [silver], [large, silver]]);
  const refused = await patch(SKUS, [
    { id: one, specs: [large] },
    { id: two, specs: [{ ...silver, option_id: large.option_id }] },
  ]);
  assert.is(refused.status, 422);
  assert.match(refused.json.error, /^database error: 1\.option_id: /);
  assert.equal((await read(server, `${SKUS}${one}/`)).specs, [silver]);
  const records = await read(server, `${SKUS}${three}/specs/`);
  assert.equal(
    records.map(({ option_id }: Fields) => option_id),
    [black.option_id, large.option_id, silver.option_id],
  );
});

test('elements that are valid only together are accepted, in either order', async () => {
  const path = '/admin/categories/';
  const parentOf = async (id: number) => (await read(server, `${path}${id}/`)).parent_id;
  for (const turned of [false, true]) {
    const order = <T>(list: readonly T[]) => (turned ? list.toReversed() : [...list]);
    // Parent and child are swapped: the first element alone would make a cycle.
    const [upper] = (await post(path, [{ name: 'Upper' }])).json;
    const lower = await make(server, path, { name: 'Lower', parent_id: upper.id });
    assert.is((await patch(path, [{ id: upper.id, parent_id: lower.id }])).status, 422);
    const swapped = await patch(
      path,
      order([
        { id: upper.id, parent_id: lower.id },
        { id: lower.id, parent_id: null },
      ]),
    );
    assert.is(swapped.status, 200, swapped.text);
    assert.is(await parentOf(upper.id), lower.id);
    assert.is(await parentOf(lower.id), null);

    // A category moves to the third level: without the other element its child would be too deep.
    const [, second] = await makeChain(server, 'Deep');
    const branch = await make(server, path, { name: 'Branch' });
    const leaf = await make(server, path, { name: 'Leaf', parent_id: branch.id });
    assert.is((await patch(path, [{ id: branch.id, parent_id: second }])).status, 422);
    const moved = await patch(
      path,
      order([
        { id: branch.id, parent_id: second },
        { id: leaf.id, parent_id: second },
      ]),
    );
    assert.is(moved.status, 200, moved.text);
  }
});

test('elements that are valid alone but not together are 422, and the first of them is named', async () => {
  const path = '/admin/categories/';
  const [a, b] = idsOf((await post(path, [{ name: 'A' }, { name: 'B' }])).json);
  const body = [
    { id: a, parent_id: b },
    { id: b, parent_id: a },
  ];
  const files = changesOf(server);
  const refused = await patch(path, body);
  assert.is(refused.status, 422);
  assert.match(refused.json.error, /^database error: 0\.parent_id: /);
  assert.equal(changesOf(server), files);
  for (const element of body) {
    assert.is((await patch(path, [element])).status, 200);
    assert.is((await patch(path, [{ id: element.id, parent_id: null }])).status, 200);
  }
});

test('if a change would break an object that refers to the item, the error names both', async () => {
  const { chain, spu } = await createCatalog(server, 'Relied');
  const path = '/admin/categories/';
  const free = await make(server, path, { name: 'Free' });
  const refused = await patch(path, [
    { id: free.id, name: 'Freed' },
    { id: chain[1], parent_id: null },
  ]);
  assert.is(refused.status, 422, refused.text);
  assert.match(refused.json.error, new RegExp(`^database error: element 1: .* of SPU ${spu}: `));
  assert.is((await read(server, `${path}${free.id}/`)).name, 'Free');
});

test('a bulk path has no entity tag: If-Match with any tag is 412 before the body is read', async () => {
  const { id } = await make(server, '/admin/brands/', { name: 'Guarded' });
  const etag = (await etagOf('/admin/brands/', id)) ?? '';
  for (const match of [etag, '"x"', '""', `W/${etag}`, 'nonsense', '']) {
    for (const body of [[{ id, name: 'Changed' }], '[', []]) {
      const answer = await patch('/admin/brands/', body, { 'if-match': match });
      assert.is(answer.status, 412, match);
      assert.equal(Object.keys(answer.json), ['error']);
    }
  }
  assert.is((await read(server, `/admin/brands/${id}/`)).name, 'Guarded');
  const any = await patch('/admin/brands/', [{ id, name: 'Changed' }], { 'if-match': '*' });
  assert.is(any.status, 200);
});

test('after a bulk PATCH, If-Match with the earlier tag is 412 for an item that was changed', async () => {
  const made = (await post('/admin/brands/', [{ name: 'A' }, { name: 'B' }])).json;
  const tags = await Promise.all(idsOf(made).map((id) => etagOf('/admin/brands/', id)));
  await patch('/admin/brands/', [{ id: made[0].id, name: 'Changed' }]);
  const write = (index: number) =>
    send(server, 'PATCH', `/admin/brands/${made[index].id}/`, {
      body: { logo: 'x' },
      headers: { 'if-match': tags[index] ?? '' },
    });
  assert.is((await write(0)).status, 412);
  assert.is((await write(1)).status, 200);
});

test('a bulk response has the media type of Accept, or JSON if Accept excludes both types', async () => {
  const accept = 'application/vnd.catalog+json; version=1.0';
  const created = await post('/admin/brands/', [{ name: 'Typed' }], { accept });
  assert.is(created.headers.get('content-type'), accept);
  const changed = await patch('/admin/brands/', [{ id: created.json[0].id }], { accept });
  assert.is(changed.headers.get('content-type'), accept);
  const html = await patch('/admin/brands/', [{ id: created.json[0].id }], { accept: 'text/html' });
  assert.is(html.status, 200);
  assert.is(html.headers.get('content-type'), 'application/json');
});

test('the ids of concurrent bulk POSTs do not interleave, and a failed one leaves no gap', async () => {
  const path = '/admin/specs/';
  const before = await nextId(path);
  const { element } = COLLECTIONS[path] as Collection;
  const bad = { ...element('Never'), spu_id: UNKNOWN };
  const answers = await Promise.all(
    numbersTo(12).map((nth) => {
      const good = numbersTo(20).map(() => element(`Of ${nth}`));
      return post(path, nth % 3 === 1 ? [...good, bad] : good);
    }),
  );
  const done = answers.filter(({ status }) => status === 201);
  assert.is(done.length, 8);
  for (const { json } of done) {
    const [first = 0] = idsOf(json);
    assert.equal(
      idsOf(json),
      numbersTo(20).map((index) => first + index),
    );
  }
  assert.equal(
    done.flatMap(({ json }) => idsOf(json)).toSorted((a, b) => a - b),
    numbersTo(160).map((index) => before + 1 + index),
  );
});

test('after a bulk PATCH the page of every affected SKU is rendered again', async () => {
  const { spu, chain, silver, black } = await createCatalog(server, 'Paged');
  const fields = (name: string, pair: object) => skuFields({ spu, chain }, { name, specs: [pair] });
  const made = await post(SKUS, [fields('Paged one', silver), fields('Paged two', black)]);
  const [one = 0, two = 0] = idsOf(made.json);
  await pageWith(server, one, 'Paged one');
  await pageWith(server, two, 'Paged two');
  await patch(SKUS, [
    { id: two, name: 'Second name' },
    { id: one, name: 'First name' },
  ]);
  await pageWith(server, one, 'First name');
  await pageWith(server, two, 'Second name');
  await patch('/admin/options/', [
    { id: silver.option_id, value: 'Moonlight' },
    { id: black.option_id, value: 'Midnight' },
  ]);
  await pageWith(server, one, 'Moonlight');
  await pageWith(server, two, 'Midnight');
});

test('bulk writes survive a restart, and the store check has no findings', async () => {
  const created = await post(
    SKUS,
    numbersTo(30).map(() => skuFields(catalog, { specs: [catalog.silver] })),
  );
  const changed = await patch(
    SKUS,
    idsOf(created.json).map((id) => ({ id, price: id })),
  );
  await server.stop();
  assert.equal(checkStore(machineDisk, server.data).findings, []);
  server = await openService({ data: server.data });
  for (const object of changed.json)
    assert.equal(await read(server, `${SKUS}${object.id}/`), object);
});

test.run();
