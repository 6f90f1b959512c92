/** `/admin/page-builds/`: pages rebuilt on demand, and their progress (spec 7.6). */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import demo from '../../data/demo.json' with { type: 'json' };
import { FileLock } from '../../src/disk/lock.ts';
import { pagesLockPath } from '../../src/pages/refresh/pages-lock.ts';
import { make, pageWith, read, skuFields } from '../support/catalog.ts';
import { type Received, type Sent, send } from '../support/client.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const PATH = '/admin/page-builds/';
/** How many builds may be unfinished, and how many are remembered. */
const UNFINISHED = 16;
const REMEMBERED = 100;

let server: Service;
let total: number;

test.before(async () => {
  server = await openService({ demo: true });
  // When this build is finished, so is the comparison at the start.
  ({ total } = await built(await order({ stale: true })));
});

test.after(closeServices);

type Build = Received['json'];

/** Requests a build. @returns the build as it was accepted. */
async function order(body: object, from: Service = server): Promise<Build> {
  const { status, json, text } = await send(from, 'POST', PATH, { body });
  assert.is(status, 202, text);
  return json;
}

/** Waits until a build is finished. @returns the finished build. */
async function built({ id }: Build, from: Service = server): Promise<Build> {
  let build: Build;
  await until(`build ${id} is finished`, async () => {
    build = await read(from, `${PATH}${id}/`);
    return build.state === 'finished';
  });
  return build;
}

const countsOf = ({ written, unchanged, removed, failed }: Build) => ({
  written,
  unchanged,
  removed,
  failed,
});

function assertCounts(build: Build, counts: object): void {
  const none = { written: 0, unchanged: 0, removed: 0, failed: 0 };
  assert.equal(countsOf(build), { ...none, ...counts }, JSON.stringify(build));
}

const fileOf = (page: string, from: Service = server) => join(from.data, 'pages', page);

/** No page is built while `run` runs: builds stay queued. */
async function withoutPages<T>(run: () => Promise<T>, from: Service = server): Promise<T> {
  const lock = new FileLock(pagesLockPath(from.data));
  await until('no page is being made', () => lock.tryLock());
  try {
    return await run();
  } finally {
    lock.close();
  }
}

test('POST is 202 with the build and its Location, before any page is built', async () => {
  const build = await withoutPages(async () => {
    const answer = await send(server, 'POST', PATH, { body: {} });
    assert.is(answer.status, 202);
    const { json } = answer;
    assert.is(answer.headers.get('location'), `${PATH}${json.id}/`);
    assert.is(answer.headers.get('etag'), null);
    const { id, created_at, ...rest } = json;
    assert.ok(Number.isSafeInteger(id) && id > 0);
    assert.is(new Date(created_at).toISOString(), created_at);
    assert.equal(rest, {
      state: 'queued',
      stale: false,
      skus: null,
      total,
      written: 0,
      unchanged: 0,
      removed: 0,
      failed: 0,
      failures: [],
      finished_at: null,
    });
    assert.equal(await read(server, `${PATH}${id}/`), json, 'it waits');
    return json;
  });
  const finished = await built(build);
  assertCounts(finished, { written: total });
  assert.ok(finished.finished_at >= finished.created_at);
  assert.ok(total > demo.skus.length, 'there are pages of more than SKUs');
});

test('a build is queued, then running, then finished, and no count decreases', async () => {
  const { id } = await withoutPages(() => order({}));
  const states: string[] = [];
  let done = 0;
  await until('it is finished', async () => {
    const build = await read(server, `${PATH}${id}/`);
    const now = build.written + build.unchanged + build.failed;
    assert.ok(now >= done && now <= build.total, `${now} pages after ${done}`);
    done = now;
    if (build.state !== states.at(-1)) states.push(build.state);
    assert.is(build.finished_at === null, build.state !== 'finished');
    return build.state === 'finished';
  });
  assert.match(states.join(), /^(?:queued,)?(?:running,)?finished$/);
  assert.is(done, total);
});

test('a build with stale writes only the pages that are missing or differ', async () => {
  const before = statSync(fileOf('skus/3.html')).mtimeMs;
  rmSync(fileOf('skus/1.html'));
  writeFileSync(fileOf('skus/2.html'), 'an older page');
  writeFileSync(fileOf('index.html'), '');
  const build = await built(await order({ stale: true }));
  assertCounts(build, { written: 3, unchanged: total - 3 });
  assert.is(build.stale, true);
  assert.match(readFileSync(fileOf('skus/2.html'), 'utf8'), '<!doctype html>');
  assert.is(statSync(fileOf('skus/3.html')).mtimeMs, before, 'others are left alone');
});

test('a build with skus builds the pages of these SKUs once each, and no others', async () => {
  for (const sku of [1, 2, 3]) writeFileSync(fileOf(`skus/${sku}.html`), 'an older page');
  const build = await built(await order({ skus: [3, 1, 3] }));
  assert.equal(build.skus, [3, 1]);
  assert.is(build.total, 2);
  assertCounts(build, { written: 2 });
  assert.is(readFileSync(fileOf('skus/2.html'), 'utf8'), 'an older page');
  const stale = await built(await order({ stale: true, skus: [1, 2, 3] }));
  assertCounts(stale, { written: 1, unchanged: 2 });
});

test('skus: null and unknown members are ignored', async () => {
  const build = await built(await order({ skus: null, stale: true, id: 7, state: 'finished' }));
  assert.is(build.total, total);
  assert.is.not(build.id, 7);
});

test('a page without an item is removed by a build of all pages, and by no other build', async () => {
  const orphan = fileOf('skus/987654.html');
  const foreign = fileOf('skus/notes.txt');
  for (const file of [orphan, foreign]) writeFileSync(file, 'left behind');
  assertCounts(await built(await order({ skus: [1] })), { written: 1 });
  assert.ok(existsSync(orphan));
  const build = await built(await order({ stale: true }));
  assertCounts(build, { unchanged: total, removed: 1 });
  assert.is(build.total, total, 'what is removed is not among the pages to be made');
  assert.not.ok(existsSync(orphan));
  assert.ok(existsSync(foreign), 'what is no page is left alone');
  rmSync(foreign);
});

const INVALID: readonly (readonly [body: unknown, fields: readonly string[]])[] = [
  [[], []],
  ['"all"', []],
  ['null', []],
  [{ stale: 'yes' }, ['stale']],
  [{ stale: null }, ['stale']],
  [{ stale: 1, skus: [0] }, ['stale', 'skus.0']],
  [{ skus: [] }, ['skus']],
  [{ skus: 1 }, ['skus']],
  [{ skus: ['1'] }, ['skus.0']],
  [{ skus: [1.5] }, ['skus.0']],
  [{ skus: [-1] }, ['skus.0']],
  [{ skus: [null] }, ['skus.0']],
  [{ skus: [[1]] }, ['skus.0']],
  [{ skus: { 0: 1, length: 1 } }, ['skus']],
  [{ skus: [1, 987654] }, ['skus']],
];

for (const [body, fields] of INVALID) {
  test(`the scope ${JSON.stringify(body).slice(0, 40)} is 422, and no build starts`, async () => {
    const before = (await read(server, PATH)).map(({ id }: Build) => id);
    const answer = await send(server, 'POST', PATH, { body });
    assert.is(answer.status, 422, answer.text);
    assert.equal(Object.keys(answer.json.fields), fields);
    assert.equal(
      (await read(server, PATH)).map(({ id }: Build) => id),
      before,
    );
  });
}

test('the error names an unknown SKU, and no page of the other SKUs is built', async () => {
  writeFileSync(fileOf('skus/1.html'), 'an older page');
  const { json } = await send(server, 'POST', PATH, { body: { skus: [1, 987654] } });
  assert.equal(json.fields, { skus: ['there is no SKU 987654'] });
  assert.is(readFileSync(fileOf('skus/1.html'), 'utf8'), 'an older page');
  await built(await order({ stale: true }));
});

const REFUSED: readonly (readonly [what: string, sent: Sent, status: number])[] = [
  ['without a body', {}, 400],
  ['with a body that is not JSON', { body: '{"stale"' }, 400],
  ['with another Content-Type', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415],
  ['with a body of two MiB', { body: `{"x":"${'x'.repeat(2 ** 21)}"}` }, 413],
  ['with 10,001 SKUs', { body: { skus: Array.from({ length: 10_001 }, () => 1) } }, 413],
  ['with If-Match', { body: {}, headers: { 'if-match': '"x"' } }, 412],
  ['without a token', { body: {}, token: null }, 401],
  ['with a bad token', { body: {}, token: 'a.b.c' }, 401],
];

for (const [what, sent, status] of REFUSED) {
  test(`POST ${what} is ${status}`, async () => {
    const answer = await send(server, 'POST', PATH, sent);
    assert.is(answer.status, status, answer.text);
    assert.type(answer.json.error, 'string');
  });
}

test('the list of builds and a single build accept exactly the methods in Allow', async () => {
  const { id } = await built(await order({ skus: [1] }));
  for (const [path, allow] of [
    [PATH, 'GET, HEAD, POST, OPTIONS'],
    [`${PATH}${id}/`, 'GET, HEAD, OPTIONS'],
  ] as const) {
    const options = await send(server, 'OPTIONS', path, { token: null });
    assert.is(options.status, 200);
    assert.is(options.headers.get('allow'), allow);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const refused = await send(server, method, path, { body: {} });
      assert.is(refused.status, 405);
      assert.is(refused.headers.get('allow'), allow);
    }
    assert.is((await send(server, 'HEAD', path)).status, 200);
    const html = { headers: { accept: 'text/html' } };
    assert.is((await send(server, 'GET', path, html)).status, 406);
  }
  const { attributes } = (await send(server, 'OPTIONS', PATH, { token: null })).json;
  assert.equal(Object.keys(attributes), ['stale', 'skus']);
});

test('the Location of a build has the version of the requested path', async () => {
  const answer = await send(server, 'POST', `/1.0${PATH}`, { body: { skus: [1] } });
  const { id } = answer.json;
  assert.is(answer.headers.get('location'), `/1.0${PATH}${id}/`);
  await built(await read(server, `/1.0${PATH}${id}/`));
});

test('a page that cannot be written is reported without a path of the host, and is retried', async () => {
  const own = await openService({ demo: true });
  await built(await order({ stale: true }, own), own);
  const path = fileOf('skus/3.html', own);
  for (const scope of [{}, { stale: true }, { skus: [1, 3] }]) {
    rmSync(path);
    mkdirSync(path);
    const build = await built(await order(scope, own), own);
    assert.is(build.failed, 1);
    assert.equal(build.failures, [
      { page: 'skus/3.html', error: 'the page could not be written: EISDIR' },
    ]);
    assert.is(build.written + build.unchanged, build.total - 1, 'the others are made');
    const advice = `skus/3.html: ${path} is a directory where a file is expected: move it away`;
    await until('the log tells of it', () => own.log.join().includes(advice));
    rmdirSync(path);
    // No request is needed: a failed page is retried.
    await until('the page is made', () => existsSync(path));
    // Otherwise a build that starts now could get the outcome of this page.
    await own.pagesAtRest();
    own.log.splice(0);
  }
  await own.stop();
});

test('if a folder cannot be listed, its pages fail, and the server continues', async () => {
  const own = await openService({ demo: true });
  await built(await order({ stale: true }, own), own);
  const folder = fileOf('skus', own);
  renameSync(folder, `${folder}.aside`);
  writeFileSync(folder, 'in the way');
  const build = await built(await order({}, own), own);
  assert.is(build.failed, demo.skus.length + 1);
  const named = build.failures.map(({ page }: { page: string }) => page);
  assert.ok(named.includes('./'), named.join());
  const { error } = build.failures[named.indexOf('./')];
  assert.is(error, 'the folder could not be listed');
  assert.not.match(JSON.stringify(build), own.data);
  await until('the log tells of it', () => own.log.join().includes('./: ENOTDIR'));
  rmSync(folder);
  renameSync(`${folder}.aside`, folder);
  assert.is((await built(await order({}, own), own)).failed, 0);
  await own.stop();
});

test('removed folders are created again by a build and by a change', async () => {
  const own = await openService({ demo: true });
  const { total: all } = await built(await order({ stale: true }, own), own);
  rmSync(fileOf('', own), { recursive: true });
  const build = await built(await order({ stale: true }, own), own);
  assert.equal([build.written, build.failed], [all, 0], JSON.stringify(build.failures));
  rmSync(fileOf('skus', own), { recursive: true });
  await send(own, 'PATCH', '/admin/skus/3/', { body: { stock: 3 } });
  await own.pagesAtRest();
  assert.ok(existsSync(fileOf('skus/3.html', own)));
  assert.equal(own.log, []);
  await own.stop();
});

test('a SKU that is deleted while its build is queued is listed as a failure', async () => {
  const { goods_id, category_id } = await read(server, '/admin/skus/1/');
  const body = skuFields({ spu: goods_id, chain: [0, 0, category_id] });
  const { id } = await make(server, '/admin/skus/', body);
  const build = await withoutPages(async () => {
    const ordered = await order({ skus: [id, 1] });
    assert.is((await send(server, 'DELETE', `/admin/skus/${id}/`)).status, 204);
    return ordered;
  });
  const finished = await built(build);
  assertCounts(finished, { written: 1, failed: 1 });
  assert.equal(finished.failures, [{ page: `skus/${id}.html`, error: 'there is no such SKU' }]);
  assert.not.ok(existsSync(fileOf(`skus/${id}.html`)));
});

test(`${UNFINISHED} builds may be unfinished; one more is 429 with Retry-After until one finishes`, async () => {
  await withoutPages(async () => {
    const waiting: Build[] = [];
    while (waiting.length < UNFINISHED) waiting.push(await order({ skus: [1] }));
    const refused = await send(server, 'POST', PATH, { body: { skus: [1] } });
    assert.is(refused.status, 429, refused.text);
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(refused.json.error, `${UNFINISHED} page builds are not finished yet`);
    const listed = (await read(server, PATH)).slice(0, UNFINISHED);
    assert.equal(
      listed.map(({ id }: Build) => id),
      waiting.map(({ id }) => id).reverse(),
      'the latest first',
    );
    for (const { state } of listed) assert.is(state, 'queued');
    // Other work continues.
    assert.is((await send(server, 'PATCH', '/admin/skus/2/', { body: { stock: 5 } })).status, 200);
  });
  await until('there is room for another', async () => {
    const { status, json } = await send(server, 'POST', PATH, { body: { skus: [1] } });
    if (status === 202) await built(json);
    return status === 202;
  });
});

test(`the latest ${REMEMBERED} builds are remembered, each with a unique id`, async () => {
  const oldest = await built(await order({ skus: [1] }));
  const ids = new Set<number>([oldest.id]);
  for (let round = 0; round < REMEMBERED / 10; round += 1) {
    const some = await Promise.all(Array.from({ length: 10 }, () => order({ skus: [1] })));
    for (const build of some) ids.add((await built(build)).id);
  }
  assert.is(ids.size, REMEMBERED + 1);
  const listed = (await read(server, PATH)).map(({ id }: Build) => id);
  assert.equal(listed, [...ids].toSorted((a, b) => b - a).slice(0, REMEMBERED));
  const forgotten = await send(server, 'GET', `${PATH}${oldest.id}/`);
  assert.is(forgotten.status, 404);
});

test('a malformed id, an unknown id and the id of a build before a restart are 404', async () => {
  const own = await openService({ demo: true });
  const { id } = await built(await order({ skus: [1] }, own), own);
  for (const other of ['0', '1', String(id + 1), '9'.repeat(30), 'x', '-1', `${id}.0`]) {
    const answer = await send(own, 'GET', `${PATH}${other}/`);
    assert.is(answer.status, 404, other);
    assert.type(answer.json.error, 'string');
  }
  await own.stop();
  const again = await openService({ data: own.data });
  assert.equal(await read(again, PATH), []);
  assert.is((await send(again, 'GET', `${PATH}${id}/`)).status, 404);
  const next = await order({ skus: [1] }, again);
  assert.ok(next.id > id, 'an id never names another build');
  await built(next, again);
  await again.stop();
});

test('builds during writes do not restore old pages: in the end all pages are current', async () => {
  const builds: Build[] = [];
  for (let stock = 100; stock < 140; stock += 1) {
    const patched = await send(server, 'PATCH', '/admin/skus/bulk/', {
      body: [1, 2, 3].map((id) => ({ id, stock, is_launched: true })),
    });
    assert.is(patched.status, 200);
    if (stock % 5 === 0) builds.push(await order(stock % 2 === 0 ? {} : { skus: [1, 2, 3] }));
  }
  for (const build of builds) assert.is((await built(build)).failed, 0);
  for (const sku of [1, 2, 3]) await pageWith(server, sku, '>139 in stock<');
  assertCounts(await built(await order({ stale: true })), { unchanged: total });
});

test('an Idempotency-Key is ignored: every request starts a build', async () => {
  const before = await send(server, 'GET', '/pages/skus/1.html', { token: null });
  const ids: number[] = [];
  for (const key of ['"one"', '"one"', 'not a key, \u00e9']) {
    const headers = { 'idempotency-key': key };
    const answer = await send(server, 'POST', PATH, { body: { skus: [1] }, headers });
    assert.is(answer.status, 202, key);
    assert.is(answer.headers.get('idempotent-replayed'), null);
    ids.push((await built(answer.json)).id);
  }
  assert.is(new Set(ids).size, 3);
  const after = await send(server, 'GET', '/pages/skus/1.html', { token: null });
  assert.is(after.headers.get('etag'), before.headers.get('etag'));
  // Another path can still use the key.
  const sent = { body: { name: 'Acme' }, headers: { 'idempotency-key': '"one"' } };
  const created = await send(server, 'POST', '/admin/brands/', sent);
  assert.is(created.status, 201);
  assert.is(created.headers.get('idempotent-replayed'), null);
});

test('builds leave no entry in the audit trail, and nothing in the log', async () => {
  const entries = await read(server, '/admin/audits/?per_page=1000');
  const told = new Set(entries.map(({ resource }: { resource: string }) => resource));
  assert.equal(told, new Set(['skus', 'brands']));
  await server.stop();
  assert.equal(server.log, []);
});

test.run();
