/** Repeated requests: `Idempotency-Key` on POST, as clients see it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backup } from '../../src/cli/commands/backup/backup.ts';
import { restore } from '../../src/cli/commands/backup/restore.ts';
import { machineDisk } from '../../src/disk/disk.ts';
import { checkStore } from '../../src/store/check.ts';
import {
  type Catalog,
  createCatalog,
  type Fields,
  filesOf,
  make,
  read,
  skuFields,
  spuFields,
} from '../support/catalog.ts';
import { type Received, type Sent, send, tokenFor } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { closeServices, contextOf, openService, type Service } from '../support/service.ts';

const BRANDS = '/admin/brands/';
const BULK = `${BRANDS}bulk/`;
const UNKNOWN = 99999;

let server: Service;
let catalog: Catalog;

test.before(async () => {
  server = await openService();
  catalog = await createCatalog(server);
});

test.after(closeServices);

let keys = 0;

/** A key that no test has used. */
const fresh = () => `key-${(keys += 1)}`;

/** POST with a key. */
function post(path: string, key: string, body: unknown, more: Sent = {}, at = server) {
  const headers = { 'idempotency-key': key, ...more.headers };
  return send(at, 'POST', path, { body, ...more, headers });
}

const replayed = ({ headers }: Received) => headers.get('idempotent-replayed');

/** Requires the response to a request that was executed. */
function assertFirst(answer: Received, what = ''): void {
  assert.is(answer.status, 201, `${what} ${answer.text}`);
  assert.is(replayed(answer), null, what);
}

/** Requires the first response again, marked as a replay. */
function assertReplay(answer: Received, first: Received, what = ''): void {
  assert.is(answer.status, first.status, `${what} ${answer.text}`);
  assert.is(answer.text, first.text, what);
  for (const name of ['etag', 'location', 'content-type', 'content-length', 'vary', 'link']) {
    assert.is(answer.headers.get(name), first.headers.get(name), `${what} ${name}`);
  }
  assert.is(replayed(answer), 'true', what);
}

function assertReused(answer: Received, what: string): void {
  assert.is(answer.status, 422, `${what} ${answer.text}`);
  assert.equal(answer.json, {
    error: 'the Idempotency-Key was used with another request; choose a new one',
  });
  assert.is(replayed(answer), null, what);
}

async function countOf(path: string, at = server): Promise<number> {
  const { headers } = await send(at, 'GET', `${path}?limit=1`);
  return Number(headers.get('x-total-count'));
}

/** The committed change sets with their bytes. */
const changesOf = ({ data }: Service) => filesOf(join(data, 'changes'));

/** Every path that creates an object, and a body for it. */
const creations = (): Readonly<Record<string, Fields>> => ({
  '/books/': { name: 'Emma', pub_date: '1815-12-23' },
  [BRANDS]: { name: 'Quill' },
  '/admin/categories/': { name: 'Deep', parent_id: catalog.chain[1] },
  '/admin/goods/': spuFields(catalog),
  '/admin/specs/': { name: 'Weight', spu_id: catalog.spu },
  '/admin/options/': { value: 'Red', spec_id: catalog.silver.spec_id },
  '/admin/skus/': skuFields(catalog, { specs: [catalog.silver] }),
  [`/admin/skus/${catalog.sku}/specs/`]: catalog.large,
});

test('on every path the same key and body create once, and the first response is replayed', async () => {
  for (const [path, body] of Object.entries(creations())) {
    const key = fresh();
    const count = await countOf(path);
    const first = await post(path, key, body);
    assertFirst(first, path);
    assert.is(first.headers.get('location'), `${path}${first.json.id}/`);
    assert.ok(first.headers.get('etag'));
    const changes = changesOf(server);
    for (let again = 0; again < 3; again += 1)
      assertReplay(await post(path, key, body), first, path);
    assert.is(await countOf(path), count + 1, path);
    assert.equal(changesOf(server), changes, 'sending again commits nothing');
    // A replay does not use an id.
    const next = await post(path, fresh(), body);
    assertFirst(next, path);
    assert.is(next.json.id, first.json.id + 1, path);
  }
});

test('a bulk POST with a key creates once, and the array is replayed', async () => {
  const paths = Object.entries(creations()).filter(([path]) => /^\/admin\/\w+\/$/.test(path));
  assert.is(paths.length, 6);
  for (const [path, element] of paths) {
    const key = fresh();
    const count = await countOf(path);
    const bulk = `${path}bulk/`;
    const first = await post(bulk, key, [element, element]);
    assertFirst(first, path);
    assert.is(first.json.length, 2);
    assert.is(first.headers.get('location'), null);
    assert.is(first.headers.get('etag'), null);
    assertReplay(await post(bulk, key, [element, element]), first, path);
    assertReused(await post(bulk, key, [element]), path);
    assertReused(await post(path, key, element), path);
    assert.is(await countOf(path), count + 2, path);
  }
});

test('without a key, or with another one, the same body creates again', async () => {
  const body = { name: 'Repeated' };
  const answers = [
    await post(BRANDS, fresh(), body),
    await post(BRANDS, fresh(), body),
    await send(server, 'POST', BRANDS, { body }),
    await send(server, 'POST', BRANDS, { body }),
  ];
  for (const answer of answers) assertFirst(answer);
  assert.is(new Set(answers.map(({ json }) => json.id)).size, 4);
});

test('the first response is replayed even if the object has been changed or deleted', async () => {
  const [key, body] = [fresh(), { name: 'Before' }];
  const first = await post(BRANDS, key, body);
  const path = first.headers.get('location') ?? '';
  assert.is((await send(server, 'PATCH', path, { body: { name: 'After' } })).status, 200);
  assertReplay(await post(BRANDS, key, body), first, 'changed');
  assert.is((await read(server, path)).name, 'After');
  assert.is((await send(server, 'DELETE', path)).status, 204);
  assertReplay(await post(BRANDS, key, body), first, 'deleted');
  assert.is((await send(server, 'GET', path)).status, 410);
});

test('bodies are compared as JSON values, regardless of formatting, Content-Type and Accept', async () => {
  const key = fresh();
  const first = await post(BRANDS, key, '{"name":"Written","logo":"\\u0041"}');
  assertFirst(first);
  const headers = { 'content-type': 'application/merge-patch+json; charset=utf-8' };
  assertReplay(
    await post(BRANDS, key, ' { "name" : "Written",\n"logo":"A" } ', { headers }),
    first,
  );
  const accept = 'application/vnd.catalog+json; version=1.0';
  const typed = await post(BRANDS, key, { name: 'Written', logo: 'A' }, { headers: { accept } });
  assert.is(typed.headers.get('content-type'), accept);
  assert.is(typed.text, first.text);
  assert.is(replayed(typed), 'true');
});

test('the same path with a version is a replay, and Location has the version', async () => {
  const [key, body] = [fresh(), { name: 'Versioned' }];
  const first = await post(BRANDS, key, body);
  const again = await post(`/1.0${BRANDS}`, key, body);
  assert.is(again.status, 201);
  assert.is(replayed(again), 'true');
  assert.is(again.text, first.text);
  assert.is(again.headers.get('location'), `/1.0${first.headers.get('location')}`);
});

test('another body with the same key is 422, and creates nothing', async () => {
  const [key, body] = [fresh(), { name: 'One', logo: 'l' }];
  const first = await post(BRANDS, key, body);
  const count = await countOf(BRANDS);
  const changes = changesOf(server);
  for (const another of [
    { name: 'Two', logo: 'l' },
    { name: 'One' },
    { name: 'One', logo: 'l', unknown: 1 },
    [body],
    [],
    {},
    'null',
  ]) {
    const answer = await post(BRANDS, key, another);
    assert.is(answer.status, 422, JSON.stringify(another));
    assert.is(replayed(answer), null);
    if (!Array.isArray(another) || another.length > 0) continue;
    assert.equal(answer.json.fields, {}, 'a body that could never be is told as such');
  }
  assertReused(await post(BRANDS, key, { name: 'Two' }), 'another name');
  assert.is(await countOf(BRANDS), count);
  assert.equal(changesOf(server), changes);
  assertReplay(await post(BRANDS, key, body), first, 'and the first is still known');
});

test('a long body that differs only in an unknown member is another body', async () => {
  const key = fresh();
  const body = (fill: string) => ({ name: 'Long', logo: '', unknown: fill.repeat(5000) });
  const first = await post(BRANDS, key, body('x'));
  assertFirst(first);
  assertReused(await post(BRANDS, key, body('y')), 'another value');
  const { unknown, ...known } = body('x');
  assertReused(await post(BRANDS, key, { ...known, other: unknown }), 'another name');
  assertReplay(await post(BRANDS, key, body('x')), first);
});

test('the same key and body for another collection is 422', async () => {
  const [key, body] = [fresh(), { name: 'Shared' }];
  const first = await post(BRANDS, key, body);
  const count = await countOf('/admin/categories/');
  assertReused(await post('/admin/categories/', key, body), 'categories');
  const many = fresh();
  assertFirst(await post(BULK, many, [body]));
  assertReused(await post('/admin/categories/bulk/', many, [body]), 'several categories');
  assert.is(await countOf('/admin/categories/'), count);
  assertReplay(await post(BRANDS, key, body), first);
});

test('the same key and body for another parent is 422', async () => {
  const key = fresh();
  const sibling = await make(server, '/admin/skus/', skuFields(catalog));
  const path = `/admin/skus/${catalog.sku}/specs/`;
  const first = await post(path, key, catalog.black);
  assertFirst(first);
  assertReused(await post(`/admin/skus/${sibling.id}/specs/`, key, catalog.black), 'parent');
  assert.equal(await read(server, `/admin/skus/${sibling.id}/specs/`), []);
  assertReplay(await post(path, key, catalog.black), first);
});

test('a key belongs to the subject of the token, regardless of its role and jti', async () => {
  const [key, body] = [fresh(), { name: 'Mine' }];
  const [ann, bob] = [
    await tokenFor('admin', { sub: 'ann' }),
    await tokenFor('admin', { sub: 'bob' }),
  ];
  const first = await post(BRANDS, key, body, { token: ann });
  assertFirst(first);
  const hers = await post(BRANDS, key, { name: 'His' }, { token: bob });
  assertFirst(hers, 'bob');
  const other = await tokenFor('editor', { sub: 'ann', jti: 'another' });
  assertReplay(await post(BRANDS, key, body, { token: other }), first, 'ann again');
  assertReplay(await post(BRANDS, key, { name: 'His' }, { token: bob }), hers, 'bob again');
  assertReused(await post(BRANDS, key, { name: 'His' }, { token: ann }), 'ann');
});

test('subjects and keys that only resemble each other are different', async () => {
  const body = { name: 'Alike' };
  const pairs = [
    ['a', 'b'],
    ['a","b', 'c'],
    ['a', 'b\\",\\"c'],
    ['null', 'x'],
    ['A', 'b'],
    ['a', 'B'],
    ['a ', 'b'],
    ['a', 'b '],
    ['\u00e4', 'b'],
    ['a\u0308', 'b'],
  ] as const;
  const mark = fresh();
  for (const [sub, key] of pairs) {
    const token = await tokenFor('editor', { sub });
    assertFirst(await post(BRANDS, `"${mark}${key}"`, body, { token }), `${sub} ${key}`);
  }
});

test('the keys of /books/ are shared by all clients, regardless of their tokens', async () => {
  const [key, body] = [fresh(), { name: 'Emma', pub_date: '1815-12-23' }];
  const first = await post('/books/', key, body, { token: null });
  assertFirst(first);
  assertReplay(await post('/books/', key, body, { token: null }), first, 'no token');
  const token = await tokenFor('admin', { sub: 'ann' });
  assertReplay(await post('/books/', key, body, { token }), first, 'a token');
  assertReplay(await post('/books/', key, body, { token: 'nonsense' }), first, 'a bad token');
  // A subject can use the same key, even one that is called "null".
  const named = await tokenFor('admin', { sub: 'null' });
  assertFirst(await post(BRANDS, key, { name: 'N' }, { token: named }));
});

test('a replay is 401 without a valid token, and 403 for a viewer', async () => {
  const [key, body] = [fresh(), { name: 'Guarded' }];
  const first = await post(BRANDS, key, body);
  assert.is((await post(BRANDS, key, body, { token: null })).status, 401);
  const expired = await tokenFor('admin', { exp: 1 });
  assert.is((await post(BRANDS, key, body, { token: expired })).status, 401);
  const viewer = await tokenFor('viewer');
  assert.is((await post(BRANDS, key, body, { token: viewer })).status, 403);
  assertReplay(await post(BRANDS, key, body), first);
});

test('a failed request is not remembered, and its key can be used for another request', async () => {
  const records = `/admin/skus/${UNKNOWN}/specs/`;
  const viewer = await tokenFor('viewer');
  const failures: readonly (readonly [status: number, path: string, body: unknown, more?: Sent])[] =
    [
      [422, BRANDS, { name: '' }],
      [422, BULK, []],
      [422, BULK, [{ name: 'Good' }, { name: '' }]],
      [422, '/admin/specs/', { name: 'X', spu_id: UNKNOWN }],
      [422, '/admin/specs/bulk/', [{ name: 'X', spu_id: UNKNOWN }]],
      [404, records, catalog.silver],
      [404, '/admin/nowhere/', {}],
      [405, `${BRANDS}${catalog.brand}/`, {}],
      [400, BRANDS, '{'],
      [401, BRANDS, { name: 'X' }, { token: null }],
      [403, BRANDS, { name: 'X' }, { token: viewer }],
      [412, BRANDS, { name: 'X' }, { headers: { 'if-match': '"x"' } }],
      [413, BRANDS, 'x'.repeat(1024 * 1024 + 1)],
      [415, BRANDS, '{}', { headers: { 'content-type': 'text/plain' } }],
    ];
  const key = fresh();
  const changes = changesOf(server);
  for (const [status, path, body, more] of failures) {
    for (let again = 0; again < 2; again += 1) {
      const answer = await post(path, key, body, more);
      assert.is(answer.status, status, `${path} ${answer.text}`);
      assert.is(replayed(answer), null);
    }
  }
  assert.equal(changesOf(server), changes);
  assertFirst(await post(BRANDS, key, { name: 'Corrected' }));
});

test('a request that was rejected for a missing reference succeeds once the reference exists', async () => {
  const key = fresh();
  const { id } = await make(server, BRANDS, { name: 'Last' });
  const body = spuFields(catalog, { brand_id: id + 1 });
  assert.is((await post('/admin/goods/', key, body)).status, 422);
  assert.is((await make(server, BRANDS, { name: 'Lacking' })).id, id + 1);
  const first = await post('/admin/goods/', key, body);
  assertFirst(first);
  assertReplay(await post('/admin/goods/', key, body), first);
});

test('of concurrent identical requests one is executed, and all get its response', async () => {
  for (const [path, body] of [
    [BRANDS, { name: 'Hasty' }],
    ['/admin/skus/', skuFields(catalog, { specs: [catalog.silver] })],
    [BULK, [{ name: 'Hasty' }, { name: 'Hastier' }]],
    ['/books/', { name: 'Emma', pub_date: '1815-12-23' }],
  ] as const) {
    const key = fresh();
    const collection = path.replace('bulk/', '');
    const count = await countOf(collection);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(path, key, body)));
    const firsts = answers.filter((answer) => replayed(answer) === null);
    assert.is(firsts.length, 1, path);
    for (const answer of answers) {
      assert.is(answer.status, 201, answer.text);
      assert.is(answer.text, firsts[0]?.text);
      assert.is(answer.headers.get('location'), firsts[0]?.headers.get('location'));
    }
    assert.is(await countOf(collection), count + (Array.isArray(body) ? body.length : 1));
  }
});

test('of concurrent requests with one key one is executed, and those with another body are 422', async () => {
  const key = fresh();
  const count = await countOf(BRANDS);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post(BRANDS, key, { name: `Racer ${index % 4}` })),
  );
  const done = answers.filter(({ status }) => status === 201);
  assert.is(done.filter((answer) => replayed(answer) === null).length, 1);
  assert.is(done.length, 5);
  assert.is(new Set(done.map(({ text }) => text)).size, 1);
  for (const answer of answers) if (answer.status !== 201) assertReused(answer, 'a loser');
  assert.is(await countOf(BRANDS), count + 1);
});

test('a malformed key is 400, the error says what a key is, and nothing is created', async () => {
  const count = await countOf(BRANDS);
  const answer = await post(BRANDS, '"', { name: 'X' });
  assert.is(answer.status, 400);
  assert.equal(answer.json, {
    error: 'Idempotency-Key must be 1 to 255 visible ASCII characters, with or without quotes',
  });
  assert.is(await countOf(BRANDS), count);
});

test('quotes and the backslashes that escape are not part of the key', async () => {
  const body = { name: 'Quoted' };
  const mark = fresh();
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const plain = visible.filter((character) => !'"\\'.includes(character)).join('');
  for (const [one, same] of [
    [`${mark}a`, `"${mark}a"`],
    [`"${mark}b"`, `${mark}b`],
    [`${mark}${plain}`, `"${mark}${plain}"`],
    [`"${mark} c \\" \\\\"`, `"${mark} c \\" \\\\"`],
    [mark.padEnd(255, 'd'), `"${mark.padEnd(255, 'd')}"`],
    [`"${mark}${'\\"'.repeat(255 - mark.length)}"`, `"${mark}${'\\"'.repeat(255 - mark.length)}"`],
  ] as const) {
    const first = await post(BRANDS, one, body);
    assertFirst(first, one);
    assertReplay(await post(BRANDS, same, body), first, same);
  }
  assertFirst(await post(BRANDS, `"${mark}A"`, body), 'the case counts');
});

test('methods other than POST ignore a key, even a malformed one', async () => {
  const item = `${BRANDS}${catalog.brand}/`;
  const used = fresh();
  await post(BRANDS, used, { name: 'Used' });
  for (const key of [used, fresh(), 'not a key']) {
    const headers = { 'idempotency-key': key };
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      for (const path of [BRANDS, item]) {
        const answer = await send(server, method, path, { headers });
        assert.is(answer.status, 200, `${method} ${path} ${key}`);
        assert.is(replayed(answer), null);
      }
    }
    for (const name of ['One', 'Two']) {
      for (const [method, path, body] of [
        ['PUT', item, { name }],
        ['PATCH', item, { name }],
        ['PATCH', BULK, [{ id: catalog.brand, name }]],
      ] as const) {
        const answer = await send(server, method, path, { headers, body });
        assert.is(answer.status, 200, `${method} ${path} ${key}`);
        assert.is(replayed(answer), null);
        assert.is((await read(server, item)).name, name);
      }
    }
    const { id } = await make(server, BRANDS, { name: 'Doomed' });
    const path = `${BRANDS}${id}/`;
    assert.is((await send(server, 'DELETE', path, { headers })).status, 204);
    assert.is((await send(server, 'DELETE', path, { headers })).status, 404);
  }
});

test('a response is still replayed after a restart', async () => {
  const own = await openService();
  const [first, second] = [fresh(), fresh()];
  const body = { name: 'Durable' };
  const one = await post(BRANDS, first, body, {}, own);
  const two = await post(BULK, second, [body, body], {}, own);
  await own.stop();
  const again = await openService({ data: own.data });
  assertReplay(await post(BRANDS, first, body, {}, again), one, 'one');
  assertReplay(await post(BULK, second, [body, body], {}, again), two, 'an array');
  assertReused(await post(BRANDS, first, { name: 'Other' }, {}, again), 'another request');
  assert.is(await countOf(BRANDS, again), 3);
  await again.stop();
  assert.equal(checkStore(machineDisk, own.data).findings, []);
});

test('a response is still replayed after a checkpoint, and from a restored backup', async () => {
  const context = contextOf();
  const own = await openService();
  const of = await createCatalog(own);
  const [key, body] = [fresh(), { name: 'Carried' }];
  const first = await post(BRANDS, key, body, {}, own);
  // More bytes of change sets than a small base may have, so that a checkpoint is made.
  const long = '\u{1f315}'.repeat(65_536);
  const filler = spuFields(of, { desc_detail: long, desc_pack: long, desc_service: long });
  for (let count = 0; count < 6; count += 1) await make(own, '/admin/goods/', filler);
  const file = join(temporaryDirectory(), 'backup.json');
  await backup({ data: own.data, file }, context);
  await own.stop();
  const base = JSON.parse(readFileSync(join(own.data, 'catalog.json'), 'utf8'));
  assert.is(base.tables.idempotency_keys.length, 1, 'a checkpoint has taken the key in');

  const again = await openService({ data: own.data });
  assertReplay(await post(BRANDS, key, body, {}, again), first, 'behind a checkpoint');
  await again.stop();

  const data = temporaryDirectory();
  await restore({ data, file }, context);
  const restored = await openService({ data });
  assertReplay(await post(BRANDS, key, body, {}, restored), first, 'restored');
  assertReused(await post(BRANDS, key, { name: 'Other' }, {}, restored), 'restored');
  assertFirst(await post(BRANDS, fresh(), body, {}, restored), 'a new key');
  await restored.stop();
  assert.equal(checkStore(machineDisk, data).findings, []);
});

test('in any sequence of requests each subject and key creates at most once', async () => {
  const subject = fc.constantFrom('ann', 'bob');
  const key = fc.constantFrom('a', 'b', 'c');
  const body = fc.constantFrom('One', 'Two', '');
  const path = fc.constantFrom(BRANDS, '/admin/categories/');
  const request = fc.record({ subject, key, body, path, together: fc.boolean() });
  const tokens = {
    ann: await tokenFor('admin', { sub: 'ann' }),
    bob: await tokenFor('admin', { sub: 'bob' }),
  };
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 12 }), async (requests) => {
      const mark = fresh();
      const known = new Map<string, { readonly what: string; readonly text: string }>();
      for (const { subject: sub, key: name, body: text, path: at, together } of requests) {
        const token = tokens[sub];
        const sendIt = () => post(at, `${mark}${name}`, { name: text }, { token });
        const answers = together ? await Promise.all([sendIt(), sendIt()]) : [await sendIt()];
        const whose = `${sub} ${name}`;
        const before = known.get(whose);
        const what = `${at} ${text}`;
        for (const answer of answers) {
          const fits = before === undefined || before.what === what;
          assert.is(answer.status, text !== '' && fits ? 201 : 422, answer.text);
          if (answer.status !== 201) continue;
          if (!known.has(whose)) known.set(whose, { what, text: answer.text });
          assert.is(answer.text, known.get(whose)?.text);
        }
        const news = answers.filter((each) => each.status === 201 && replayed(each) === null);
        assert.is(news.length, before === undefined && text !== '' ? 1 : 0);
      }
    }),
    { numRuns: 25 },
  );
});

test('the store check has no findings after all of these tests', async () => {
  await server.stop();
  assert.equal(checkStore(machineDisk, server.data).findings, []);
});

test.run();
