/** DECISIONS 8: `migrate`, and the demo catalog. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import demo from '../../data/demo.json' with { type: 'json' };
import { filesOf, make, read } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { type Finished, runCommand, startServer, type TestServer } from '../support/server.ts';

function migrate(data: string, ...flags: string[]): Promise<Finished> {
  return runCommand(['migrate', '--data', data, ...flags]);
}

function assertDone({ status, stderr }: Finished): void {
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
}

function assertFailed({ status, stderr }: Finished, ...says: readonly string[]): void {
  assert.is(status, 1, stderr);
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  for (const what of says) assert.match(stderr, what);
}

test('migrate creates an empty store, its directory and its parents, and says so', async () => {
  const data = join(temporaryDirectory(), 'a', 'b');
  const finished = await migrate(data);
  assertDone(finished);
  assert.is(finished.stdout, `created ${data} at schema version 1\n`);
  const base = JSON.parse(readFileSync(join(data, 'catalog.json'), 'utf8'));
  assert.is(base.schema, 1);
  assert.ok(Object.values(base.tables).every((rows) => Array.isArray(rows) && rows.length === 0));
  assert.is(statSync(data).mode & 0o077, 0, 'for its owner alone');
});

test('migrate on a store of the current version changes nothing', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data));
  const before = filesOf(data);
  const again = await migrate(data);
  assertDone(again);
  assert.match(again.stdout, 'nothing to do');
  assert.equal(filesOf(data), before);
});

test('migrate keeps what is in the store', async () => {
  const server = await startServer();
  const book = await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await server.stop();
  assertDone(await migrate(server.data));
  const again = await startServer({ data: server.data });
  assert.equal(await read(again, '/books/'), [book]);
  await again.stop();
});

test('migrate --demo fills a new store and says with what', async () => {
  const data = temporaryDirectory();
  const finished = await migrate(data, '--demo');
  assertDone(finished);
  assert.match(finished.stdout, `${demo.skus.length} SKUs`);
  assert.match(finished.stdout, `${demo.books.length} books`);
});

test('migrate --demo fills a store that is there and empty', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data));
  assertDone(await migrate(data, '--demo'));
});

test('migrate --demo refuses a filled store and leaves it byte for byte', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data, '--demo'));
  const before = filesOf(data);
  assertFailed(await migrate(data, '--demo'), data, 'not empty', '--data');
  assert.equal(filesOf(data), before);
  assertFailed(await migrate(data, '--demo', '--dry-run'), data, 'not empty');
  assert.equal(filesOf(data), before);
});

test('migrate --demo refuses a store with a single book of its own', async () => {
  const server = await startServer();
  await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await server.stop();
  const before = filesOf(server.data);
  assertFailed(await migrate(server.data, '--demo'), 'not empty');
  assert.equal(filesOf(server.data), before);
});

test('migrate --demo refuses a store whose ids have been used, for its own begin at 1', async () => {
  const server = await startServer();
  const { id } = await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await send(server, 'DELETE', `/books/${id}/`);
  await server.stop();
  assertFailed(await migrate(server.data, '--demo'));
});

test('migrate --dry-run makes nothing, not even the directory', async () => {
  const parent = temporaryDirectory();
  const data = join(parent, 'data');
  for (const flags of [['--dry-run'], ['--dry-run', '--demo']]) {
    const finished = await migrate(data, ...flags);
    assertDone(finished);
    assert.match(finished.stdout, `would create ${data}`);
    assert.equal(readdirSync(parent), []);
  }
});

test('migrate --dry-run on a store changes nothing and says that nothing would run', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data));
  const before = filesOf(data);
  const names = readdirSync(data).sort();
  for (const flags of [['--dry-run'], ['--dry-run', '--demo']]) {
    const finished = await migrate(data, ...flags);
    assertDone(finished);
    assert.match(finished.stdout, 'no migration would run');
  }
  assert.equal(filesOf(data), before);
  assert.equal(readdirSync(data).sort(), names);
});

test('migrate beside a running server refuses and says who holds the directory', async () => {
  const server = await startServer();
  assertFailed(await migrate(server.data), server.data, `process ${server.child.pid} `);
  assert.is((await send(server, 'GET', '/books/')).status, 200);
  await server.stop();
});

/** Gives a store another schema version, sealed as the program would seal it. */
function setSchema(data: string, schema: number): void {
  const path = join(data, 'catalog.json');
  const text = readFileSync(path, 'utf8').replace(/,"sha256":"[0-9a-f]{64}"\}\n$/, '');
  const other = text.replace('{"schema":1,', `{"schema":${schema},`);
  assert.is.not(other, text);
  const digest = createHash('sha256').update(other).digest('hex');
  writeFileSync(path, `${other},"sha256":"${digest}"}\n`);
}

const VERSIONS = [
  { schema: 0, advice: 'catalog-server migrate --data' },
  { schema: 2, advice: 'newer catalog-server' },
] as const;

for (const { schema, advice } of VERSIONS) {
  test(`serve and rebuild-pages refuse schema version ${schema} and name the way out`, async () => {
    const data = temporaryDirectory();
    assertDone(await migrate(data, '--demo'));
    setSchema(data, schema);
    const before = filesOf(data);
    const env = { CATALOG_JWT_SECRET: 'x'.repeat(32) };
    const serve = await runCommand(['serve', '--data', data, '--port', '0'], { env });
    assertFailed(serve, `schema version ${schema}`, 'has 1', advice, data);
    const rebuild = await runCommand(['rebuild-pages', '--data', data]);
    assertFailed(rebuild, `schema version ${schema}`, advice);
    assert.equal(filesOf(data), before);
  });
}

test('migrate refuses a store of a newer schema version and leaves it byte for byte', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data, '--demo'));
  setSchema(data, 2);
  const before = filesOf(data);
  for (const flags of [[], ['--dry-run'], ['--demo']]) {
    assertFailed(await migrate(data, ...flags), 'schema version 2', 'newer catalog-server');
  }
  assert.equal(filesOf(data), before);
});

test('migrate refuses a damaged store, names the file and leaves it byte for byte', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data, '--demo'));
  const path = join(data, 'catalog.json');
  writeFileSync(path, '{"half":');
  const before = filesOf(data);
  for (const flags of [[], ['--dry-run'], ['--demo']]) {
    assertFailed(await migrate(data, ...flags), path, 'damaged');
  }
  assert.equal(filesOf(data), before);
});

test('the demo catalog is served with as much of everything as is promised, ids from 1', async () => {
  const server = await startServer({ demo: true });
  await assertPromised(server);
  await server.stop();
});

/** DECISIONS 8. */
const PROMISED = {
  '/admin/brands/': 3,
  '/admin/categories/': 3,
  '/admin/goods/': 6,
  '/admin/specs/': 1,
  '/admin/options/': 2,
  '/admin/skus/': 20,
  '/books/': 6,
} as const;

async function assertPromised(server: TestServer): Promise<void> {
  for (const [path, least] of Object.entries(PROMISED)) {
    const rows: { id: number }[] = await read(server, `${path}?per_page=1000`);
    assert.ok(rows.length >= least, `${path} ${rows.length}`);
    assert.equal(
      rows.map(({ id }) => id),
      rows.map((_, index) => index + 1),
      path,
    );
  }
  const created = await make(server, '/admin/brands/', { name: 'Next' });
  assert.is(created.id, demo.brands.length + 1, 'a new row goes on behind the demo');
}

test('the demo catalog has three levels of categories, and each SPU specifications and options', () => {
  const parents = new Map(demo.categories.map(({ id, parent_id }) => [id, parent_id]));
  const level = (id: number | null): number =>
    id === null ? 0 : 1 + level(parents.get(id) ?? null);
  assert.equal(
    [...new Set(demo.categories.map(({ id }) => level(id)))].sort((a, b) => a - b),
    [1, 2, 3],
    'three levels',
  );
  for (const { id, name } of demo.goods) {
    const specs = demo.specs.filter(({ goods_id }) => goods_id === id);
    assert.ok(specs.length > 0, name);
    for (const spec of specs) {
      assert.ok(
        demo.options.some(({ spec_id }) => spec_id === spec.id),
        spec.name,
      );
    }
  }
  assert.ok(
    demo.skus.some(({ is_launched }) => !is_launched),
    'one is off sale',
  );
  const names = demo.skus.map(({ name }) => name);
  assert.is(new Set(names).size, names.length, 'no two SKUs have one name');
  assert.ok(names.every((name) => !/lorem|test|foo|sku \d/i.test(name)));
});

test('each row of the demo catalog can be put back as it was read', async () => {
  const server = await startServer({ demo: true });
  for (const path of Object.keys(PROMISED)) {
    const rows: { id: number; specs?: unknown }[] = await read(server, `${path}?per_page=1000`);
    for (const row of rows) {
      const body = 'specs' in row ? { ...row, specs: [] } : row;
      const { status, text } = await send(server, 'PUT', `${path}${row.id}/`, { body });
      assert.is(status, 200, `${path}${row.id}/ ${text}`);
    }
    assert.equal(await read(server, `${path}?per_page=1000`), rows);
  }
  await server.stop();
});

test('the demo catalog is one change set: a kill leaves all of it or nothing', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data));
  assert.equal(readdirSync(join(data, 'changes')), []);
  assertDone(await migrate(data, '--demo'));
  assert.equal(readdirSync(join(data, 'changes')), ['000000000001.json']);
});

test.run();
