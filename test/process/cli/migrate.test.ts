/** spec 8.4 and 8.5: `migrate` without a store and from earlier versions, and the demo catalog. */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import demo from '../../../data/demo.json' with { type: 'json' };
import { KIND_NAMES } from '../../../src/model/kind.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { acquireOwnership } from '../../../src/disk/lock.ts';
import { firstRecord, writeHostRecord } from '../../../src/store/hosts/host-record.ts';
import { type Fields, filesOf, make, read } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertDone } from '../../support/finished.ts';
import {
  type Finished,
  killServers,
  SECRET,
  startServer,
  type TestServer,
} from '../../support/server.ts';
import { callProgram } from '../../support/program.ts';
import { until } from '../../support/until.ts';
import { fixture } from '../../support/paths.ts';
import { writeChecksummed } from '../../support/reseal.ts';

test.after(killServers);

function migrate(data: string, ...flags: string[]): Promise<Finished> {
  return callProgram(['migrate', '--data', data, ...flags]);
}

function assertFailed({ status, stderr }: Finished, ...says: readonly string[]): void {
  assert.is(status, 1, stderr);
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  for (const what of says) assert.match(stderr, what);
}

test('migrate creates an empty store with its directory and parents, and prints the version', async () => {
  const data = join(temporaryDirectory(), 'a', 'b');
  const finished = await migrate(data);
  assertDone(finished);
  assert.is(finished.stdout, `created ${data} at schema version 5\n`);
  const base = JSON.parse(readFileSync(join(data, 'catalog.json'), 'utf8'));
  assert.is(base.schema, 5);
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

test('migrate on a store of the current version keeps its rows', async () => {
  const server = await startServer();
  const book = await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await server.stop();
  assertDone(await migrate(server.data));
  const again = await startServer({ data: server.data });
  assert.equal(await read(again, '/books/'), [book]);
  await again.stop();
});

test('migrate --demo creates a store and prints the numbers of SKUs and books', async () => {
  const data = temporaryDirectory();
  const finished = await migrate(data, '--demo');
  assertDone(finished);
  assert.match(finished.stdout, `${demo.skus.length} SKUs`);
  assert.match(finished.stdout, `${demo.books.length} books`);
});

test('migrate --demo fills an existing empty store with exactly the rows of the demo catalog', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data));
  assertDone(await migrate(data, '--demo'));
  assert.equal(stateOf(data).tables, { ...all([]), ...demo });
});

test('migrate --demo fails on a store that is not empty, and leaves its files unchanged', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data, '--demo'));
  const before = filesOf(data);
  assertFailed(await migrate(data, '--demo'), data, 'not empty', '--data');
  assert.equal(filesOf(data), before);
  assertFailed(await migrate(data, '--demo', '--dry-run'), data, 'not empty');
  assert.equal(filesOf(data), before);
});

test('migrate --demo fails on a store with a single book', async () => {
  const server = await startServer();
  await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await server.stop();
  const before = filesOf(server.data);
  assertFailed(await migrate(server.data, '--demo'), 'not empty');
  assert.equal(filesOf(server.data), before);
});

test('migrate --demo fails on an empty store in which ids were used', async () => {
  const server = await startServer();
  const { id } = await make(server, '/books/', { name: 'Emma', pub_date: '1815-12-23' });
  await send(server, 'DELETE', `/books/${id}/`);
  await server.stop();
  assertFailed(await migrate(server.data, '--demo'));
});

test('migrate --dry-run creates nothing, not even the directory', async () => {
  const parent = temporaryDirectory();
  const data = join(parent, 'data');
  for (const flags of [['--dry-run'], ['--dry-run', '--demo']]) {
    const finished = await migrate(data, ...flags);
    assertDone(finished);
    assert.match(finished.stdout, `would create ${data}`);
    assert.equal(readdirSync(parent), []);
  }
});

test('migrate --dry-run on a current store changes nothing and prints that no migration would run', async () => {
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

test('migrate fails on a damaged store, names the file and changes nothing', async () => {
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

test('the demo catalog has at least the rows that spec 8.5 promises, with ids from 1', async () => {
  const server = await startServer({ demo: true });
  await assertPromised(server);
  await server.stop();
});

/** The minimum number of rows by path (spec 8.5). */
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

test('the demo catalog has three levels of categories, and specifications and options for each SPU', () => {
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

test('a PUT of any row of the demo catalog, as it was read, changes nothing', async () => {
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

test('migrate --demo writes the demo catalog as one change set', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data));
  assert.equal(readdirSync(join(data, 'changes')), []);
  assertDone(await migrate(data, '--demo'));
  assert.equal(readdirSync(join(data, 'changes')), ['000000000001.json']);
});

const FIXTURE = fixture(1);

/** The files of a store of schema version 1 by name. */
const VERSION_1 = filesOf(FIXTURE);

/** A copy of a store that an earlier schema version wrote. */
function earlier(version: number): string {
  const data = join(temporaryDirectory(), 'data');
  cpSync(fixture(version), data, { recursive: true });
  return data;
}

const version1 = () => earlier(1);

interface State {
  readonly schema: number;
  readonly sequence: number;
  readonly digest: string;
  readonly time: unknown;
  readonly lastIds: Readonly<Record<string, number>>;
  /** Rows by table, by ascending id. */
  readonly tables: Readonly<Record<string, readonly Fields[]>>;
}

/** The content of a sealed file. @throws if the digest is not that of the bytes before it. */
function unsealed(path: string): { digest: string; value: Record<string, never> } {
  const bytes = readFileSync(path);
  const body = bytes.subarray(0, -78);
  const digest = createHash('sha256').update(body).digest('hex');
  assert.is(bytes.toString('latin1', bytes.length - 78), `,"sha256":"${digest}"}\n`, path);
  return { digest, value: JSON.parse(`${body.toString()}}`) };
}

const all = <T>(value: T) => Object.fromEntries(KIND_NAMES.map((name) => [name, value]));

/** The state in a directory, read according to docs/storage.md, without the program. */
function stateOf(data: string): State {
  const { schema, time, ...base } = unsealed(join(data, 'catalog.json')).value;
  let { sequence, previous }: { sequence: number; previous: string } = base as never;
  // Tables that an earlier version did not have are empty.
  const lastIds: Record<string, number> = { ...all(0) };
  Object.assign(lastIds, base['last_ids']);
  const byId = Object.entries<Fields[]>(base['tables'] ?? {}).map(
    ([name, rows]) => [name, new Map(rows.map((row) => [row['id'], row]))] as const,
  );
  const tables = Object.fromEntries(byId);
  for (const name of readdirSync(join(data, 'changes')).sort()) {
    const { digest, value } = unsealed(join(data, 'changes', name));
    assert.is(name, `${String(value['sequence']).padStart(12, '0')}.json`);
    assert.is(value['sequence'], (sequence += 1));
    assert.is(value['previous'], previous);
    previous = digest;
    Object.assign(lastIds, value['last_ids']);
    for (const [table, rows] of Object.entries<Fields[]>(value['put'] ?? {})) {
      for (const row of rows) tables[table]?.set(row['id'], row);
    }
    for (const [table, ids] of Object.entries<number[]>(value['delete'] ?? {})) {
      for (const id of ids) tables[table]?.delete(id);
    }
  }
  const sorted = Object.entries(tables).map(([name, rows]) => [
    name,
    [...rows.values()].sort((a, b) => Number(a['id']) - Number(b['id'])),
  ]);
  const rest = { lastIds, tables: { ...all([]), ...Object.fromEntries(sorted) } };
  return { schema: schema as never, time, sequence, digest: previous, ...rest };
}

const keptIn = (data: string, version = 1) => join(data, `migrated-from-${version}`);

/** The steps of a migration from each earlier version; each prints a line. */
const STEPS: readonly (readonly [from: number, to: readonly number[]])[] = [
  [1, [2, 3, 4, 5]],
  [2, [3, 4, 5]],
  [3, [4, 5]],
  [4, [5]],
];

/** The rows of an earlier version in the current form: `code` is null if it was missing. */
function withCodes(tables: State['tables']): State['tables'] {
  const skus = tables['skus'] ?? [];
  return { ...tables, skus: skus.map((sku) => ({ ...sku, code: sku['code'] ?? null })) };
}

/** The ids that were assigned and have no row. */
function missingFrom({ lastIds, tables }: State): string[] {
  return Object.entries(tables).flatMap(([name, rows]) => {
    const ids = new Set(rows.map(({ id }) => id));
    const used = Array.from({ length: lastIds[name] ?? 0 }, (_, index) => index + 1);
    return used.filter((id) => !ids.has(id)).map((id) => `${name} ${id}`);
  });
}

test('the fixture of version 1 is valid and has the rows on which these tests rely', () => {
  const state = stateOf(FIXTURE);
  assert.is(state.schema, 1);
  assert.is(state.sequence, 8);
  assert.not.ok(existsSync(join(FIXTURE, 'head.json')));
  assert.equal(missingFrom(state), [
    'books 13',
    'brands 7',
    'brands 8',
    'skus 2',
    'sku_specs 3',
    'sku_specs 4',
  ]);
});

test('the fixture of version 2 is valid and has the rows on which these tests rely', () => {
  const state = stateOf(fixture(2));
  assert.is(state.schema, 2);
  assert.is(state.sequence, 8);
  assert.equal(unsealed(join(fixture(2), 'head.json')).value, {
    sequence: 8,
    digest: state.digest,
  });
  assert.equal(missingFrom(state), [
    'books 13',
    'brands 7',
    'skus 2',
    'sku_specs 3',
    'sku_specs 4',
  ]);
  assert.is(state.tables['idempotency_keys']?.length, 2);
  const written = ['catalog.json', ...readdirSync(join(fixture(2), 'changes'))].map((name) =>
    readFileSync(join(fixture(2), name === 'catalog.json' ? name : `changes/${name}`), 'utf8'),
  );
  assert.is(written.length, 8);
  assert.not.ok(written.some((text) => text.includes('audits')));
});

test('the fixture of version 3 is valid and has the rows on which these tests rely', () => {
  const state = stateOf(fixture(3));
  assert.is(state.schema, 3);
  assert.is(state.sequence, 8);
  assert.equal(missingFrom(state).slice(0, 2), ['books 13', 'brands 7']);
  assert.ok((state.tables['audits']?.length ?? 0) > 4);
  assert.not.ok(state.tables['skus']?.some((sku) => 'code' in sku));
});

test('the fixture of version 4 is valid and has the rows on which these tests rely', () => {
  const state = stateOf(fixture(4));
  assert.is(state.schema, 4);
  assert.is(state.sequence, 8);
  assert.equal(missingFrom(state).slice(0, 2), ['books 13', 'brands 7']);
  assert.is(state.tables['skus']?.find(({ id }) => id === 1)?.['code'], 'ALPHA-1');
});

for (const [from, steps] of STEPS) {
  test(`migrate from version ${from} to 5 prints every step and leaves exactly the expected files`, async () => {
    const data = earlier(from);
    const finished = await migrate(data);
    assertDone(finished);
    const lines = finished.stdout.split('\n');
    for (const [nth, to] of steps.entries()) {
      assert.ok(lines[nth]?.startsWith(`migrated ${data} to schema version ${to}: `), lines[nth]);
    }
    if (steps.includes(4)) assert.match(lines[steps.indexOf(4)] ?? '', 'article number');
    assert.match(lines[steps.indexOf(5)] ?? '', 'webhooks');
    assert.equal(lines.slice(steps.length), [
      `the previous files are kept in ${keptIn(data, from)} until the next checkpoint`,
      '',
    ]);
    assert.equal(readdirSync(data).sort(), [
      'catalog.json',
      'changes',
      'head.json',
      'lock',
      `migrated-from-${from}`,
      'outline.json',
    ]);
    assert.equal(readdirSync(join(data, 'changes')), []);
    const { value } = unsealed(join(data, 'head.json'));
    const { sequence, digest } = stateOf(fixture(from));
    assert.equal(value, { sequence, digest });
    for (const name of ['catalog.json', 'head.json']) {
      assert.is(statSync(join(data, name)).mode & 0o077, 0, name);
    }
    const checked = await callProgram(['check', '--data', data]);
    assert.is(checked.status, 0, checked.stdout);
  });

  test(`migrate from version ${from} keeps the rows, the last ids, the sequence and the digest`, async () => {
    const data = earlier(from);
    const before = stateOf(data);
    assertDone(await migrate(data));
    const last = unsealed(join(fixture(from), 'changes', '000000000008.json')).value;
    const tables = withCodes(before.tables);
    assert.equal(stateOf(data), { ...before, tables, schema: 5, time: last['time'] });
  });

  test(`migrate --dry-run on version ${from} prints what it would do and changes nothing`, async () => {
    const data = earlier(from);
    const finished = await migrate(data, '--dry-run');
    assertDone(finished);
    const lines = finished.stdout.split('\n');
    for (const [nth, to] of steps.entries()) {
      const would = `would migrate ${data} to schema version ${to}: `;
      assert.ok(lines[nth]?.startsWith(would), lines[nth]);
    }
    const kept = keptIn(data, from);
    assert.equal(lines.slice(steps.length), [
      `would keep the files as they are in ${kept} until the next checkpoint`,
      '',
    ]);
    assert.equal(filesOf(data), filesOf(fixture(from)));
    assert.equal(readdirSync(data).sort(), readdirSync(fixture(from)).sort());
  });

  test(`migrated-from-${from} has the unchanged old files, and is a store of version ${from}`, async () => {
    const data = earlier(from);
    assertDone(await migrate(data));
    const kept = keptIn(data, from);
    const files = filesOf(fixture(from));
    assert.equal(filesOf(kept), files);
    assert.equal(stateOf(kept), stateOf(fixture(from)));
    const moved = join(temporaryDirectory(), 'data');
    cpSync(kept, moved, { recursive: true });
    assert.match((await migrate(moved, '--dry-run')).stdout, 'would migrate');
  });
}

test('the files of the earlier version are kept until the next checkpoint, and then removed', async () => {
  const data = version1();
  assertDone(await migrate(data));
  assertDone(await migrate(data));
  await (await startServer({ data })).stop();
  const server = await startServer({ data });
  assert.equal(filesOf(keptIn(data)), VERSION_1);
  const baseIsOld = () => sequenceOfBase(data) === 8;
  // Together these exceed 4 MiB, at which a checkpoint of a small store begins.
  const text = 'x'.repeat(65_536);
  const body = { desc_detail: text, desc_pack: text, desc_service: text };
  for (let write = 0; write < 28; write += 1) {
    const kept = existsSync(keptIn(data));
    assert.ok(kept || !baseIsOld(), 'they went before the checkpoint');
    assert.is((await send(server, 'PATCH', '/admin/goods/1/', { body })).status, 200);
  }
  await until('the kept files are gone', () => !existsSync(keptIn(data)));
  assert.not.ok(baseIsOld());
  await server.stop();
  const checked = await callProgram(['check', '--data', data]);
  assert.is(checked.status, 0, checked.stdout);
});

function sequenceOfBase(data: string): number {
  return unsealed(join(data, 'catalog.json')).value['sequence'] ?? -1;
}

test('migrate removes the leftovers of an interrupted migration, and completes', async () => {
  const data = version1();
  const left = join(keptIn(data), 'changes');
  mkdirSync(left, { recursive: true });
  writeFileSync(join(keptIn(data), 'catalog.json'), '{"half":');
  writeFileSync(join(left, '000000000003.json'), 'of an earlier attempt');
  writeFileSync(join(data, '.0123456789abcdef.tmp'), '{"half":');
  // The head is written before the base; change sets in the base are removed after it.
  const whole = version1();
  assertDone(await migrate(whole));
  copyFileSync(join(whole, 'head.json'), join(data, 'head.json'));
  const first = join(data, 'changes', '000000000004.json');
  copyFileSync(first, join(data, 'changes', '000000000002.json'));
  const before = stateOf(FIXTURE);
  assertDone(await migrate(data));
  assert.equal(filesOf(keptIn(data)), VERSION_1);
  assert.equal(stateOf(data).tables, withCodes(before.tables));
  assert.equal(readdirSync(data).sort(), [
    'catalog.json',
    'changes',
    'head.json',
    'lock',
    'migrated-from-1',
    'outline.json',
  ]);
});

test('a second migrate prints that there is nothing to do, and changes nothing', async () => {
  const data = version1();
  assertDone(await migrate(data));
  const before = filesOf(data);
  const again = await migrate(data);
  assertDone(again);
  assert.is(again.stdout, `${data} is at schema version 5; nothing to do\n`);
  assert.equal(filesOf(data), before);
});

test('migrate --demo fails on a store of version 1 that is not empty, and does not migrate it', async () => {
  const data = version1();
  for (const flags of [['--demo'], ['--demo', '--dry-run']]) {
    const finished = await migrate(data, ...flags);
    assertFailed(finished, data, 'not empty');
    assert.is(finished.stdout, '');
    assert.equal(filesOf(data), VERSION_1);
  }
});

test('migrate refuses an older store with a row that check would refuse, and changes nothing', async () => {
  const data = version1();
  const path = join(data, 'catalog.json');
  const { value } = unsealed(path);
  const { books, ...tables } = value['tables'] as unknown as State['tables'];
  const wrong = books?.map((book, at) => (at < 2 ? { ...book, pub_date: '2023-02-29' } : book));
  writeChecksummed(path, { ...value, tables: { books: wrong, ...tables } });
  const before = filesOf(data);
  for (const flags of [[], ['--dry-run']]) {
    const finished = await migrate(data, ...flags);
    const says = 'book 1: pub_date: must be a date that exists';
    assertFailed(finished, `${data} is damaged: ${says}`, 'and 1 more; nothing was changed');
    assert.is(finished.stdout, '');
    assert.equal(filesOf(data), before);
  }
});

test('migrate --demo migrates an empty store of version 1 and fills it', async () => {
  const data = temporaryDirectory();
  const base = {
    schema: 1,
    sequence: 0,
    previous: 'a'.repeat(64),
    last_ids: all(0),
    tables: all([]),
  };
  writeChecksummed(join(data, 'catalog.json'), base);
  mkdirSync(join(data, 'changes'));
  const finished = await migrate(data, '--demo');
  assertDone(finished);
  assert.match(finished.stdout, `migrated ${data} to schema version 5`);
  assert.match(finished.stdout, `${demo.skus.length} SKUs`);
  assert.is(stateOf(data).tables['skus']?.length, demo.skus.length);
});

test('migrate of a directory in use fails, names the holder and changes nothing', async () => {
  const data = version1();
  const lock = acquireOwnership(data, 'lock', 'serve');
  try {
    const finished = await migrate(data);
    assertFailed(finished, data, `catalog-server serve, process ${process.pid} on `);
    assert.is(finished.stdout, '');
    assert.equal(filesOf(data), VERSION_1);
    assertDone(await migrate(data, '--dry-run'));
  } finally {
    lock.close();
  }
  assertDone(await migrate(data));
});

const REFUSING = [
  ['serve', '--port', '0'],
  ['rebuild-pages'],
  ['check'],
  ['backup', '-'],
  ['backup', join(temporaryDirectory(), 'backup.json')],
] as const;

for (const [from, [command, ...args]] of [1, 2].flatMap((version) =>
  REFUSING.map((call) => [version, call] as const),
)) {
  const shown = [command, ...args.map((arg) => arg.replace(/.*\//, ''))].join(' ');
  test(`${shown} on version ${from} fails, names the migrate command and changes nothing`, async () => {
    const data = earlier(from);
    const finished = await callProgram([command, '--data', data, ...args], {
      env: { CATALOG_JWT_SECRET: SECRET },
    });
    const call = `catalog-server migrate --data ${data}`;
    if (command === 'check') {
      assertFailed(finished, data);
      assert.match(finished.stdout, /^[^\n]+\n$/);
      assert.ok(finished.stdout.includes(call), finished.stdout);
    } else {
      assertFailed(finished, `schema version ${from}`, 'has 5', call);
      assert.is(finished.stdout, '');
    }
    assert.equal(filesOf(data), filesOf(fixture(from)));
    for (const arg of args) assert.not.ok(existsSync(arg), 'no backup is left');
  });
}

test('a server on a migrated store has the same rows and deleted ids, and new rows get new ids', async () => {
  const data = version1();
  const { tables, lastIds } = stateOf(data);
  assertDone(await migrate(data));
  const server = await startServer({ data });
  for (const path of Object.keys(PROMISED)) {
    const table = path.split('/').at(-2) ?? '';
    const shown: Fields[] = await read(server, `${path}?per_page=1000`);
    const stored = tables[table] ?? [];
    assert.ok(stored.length > 0, table);
    const same = stored.map((row, index) => ({ ...shown[index], ...row }));
    assert.equal(shown, same, table);
  }
  await assertRecords(server, tables['sku_specs'] ?? []);
  // spec 3.5 and 3.6: a deleted row is 410; a deleted book is 404.
  for (const [path, status] of [
    ['/books/13/', 404],
    ['/admin/skus/2/', 410],
    ['/admin/brands/7/', 410],
    ['/admin/brands/8/', 410],
    ['/admin/brands/9/', 404],
  ] as const) {
    assert.is((await send(server, 'GET', path)).status, status, path);
  }
  const [sku] = tables['skus'] ?? [];
  const body = { ...sku, specs: [{ spec_id: 1, option_id: 1 }] };
  const created = await make(server, '/admin/skus/', body);
  assert.is(created.id, (lastIds['skus'] ?? 0) + 1);
  const [record] = await read(server, `/admin/skus/${created.id}/specs/`);
  assert.is(record.id, (lastIds['sku_specs'] ?? 0) + 1);
  assert.is((await make(server, '/books/', { name: 'New', pub_date: '2000-01-01' })).id, 15);
  assert.is((await make(server, '/admin/brands/', { name: 'New' })).id, 9);
  await server.stop();
  const checked = await callProgram(['check', '--data', data]);
  assert.is(checked.status, 0, checked.stdout);
});

test('after a migration from version 2 the audit trail is empty and begins with the next write', async () => {
  const data = earlier(2);
  assertDone(await migrate(data));
  const server = await startServer({ data });
  const trail: Fields[] = await read(server, '/admin/audits/');
  assert.equal(trail, []);
  assert.is((await make(server, '/admin/brands/', { name: 'New' })).id, 9);
  const [entry, ...more]: Fields[] = await read(server, '/admin/audits/');
  assert.equal(more, []);
  assert.equal([entry?.['id'], entry?.['resource_id']], [1, 9]);
  await assertRecords(server, stateOf(fixture(2)).tables['sku_specs'] ?? []);
  await server.stop();
  const checked = await callProgram(['check', '--data', data]);
  assert.is(checked.status, 0, checked.stdout);
});

/** A store of an earlier version whose keys of idempotent requests are as old as now. */
function withRecentKeys(version: number): string {
  const data = earlier(version);
  const { sequence, digest, lastIds, tables } = stateOf(data);
  const { idempotency_keys: keys = [], ...others } = tables;
  rmSync(join(data, 'changes'), { recursive: true });
  mkdirSync(join(data, 'changes'));
  writeChecksummed(join(data, 'head.json'), { sequence, digest });
  writeChecksummed(join(data, 'catalog.json'), {
    ...unsealed(join(data, 'catalog.json')).value,
    sequence,
    previous: digest,
    last_ids: lastIds,
    tables: { ...others, idempotency_keys: keys.map((key) => ({ ...key, time: Date.now() })) },
  });
  return data;
}

for (const version of [2, 3, 4]) {
  test(`after a migration from version ${version} a repeated request gets the response of the first one`, async () => {
    const data = withRecentKeys(version);
    assertDone(await migrate(data));
    const server = await startServer({ data });
    const last: Fields = (await read(server, '/books/')).at(-1);
    const body = { name: last['name'], pub_date: last['pub_date'] };
    const headers = { 'Idempotency-Key': 'b7' };
    const again = await send(server, 'POST', '/books/', { token: null, headers, body });
    assert.equal([again.status, again.json], [201, last]);
    assert.is(again.headers.get('idempotent-replayed'), 'true');
    const other = { ...body, name: 'Another' };
    const reused = await send(server, 'POST', '/books/', { token: null, headers, body: other });
    assert.is(reused.status, 422);
    await server.stop();
  });
}

/** Checks that each SKU shows its specification records. */
async function assertRecords(server: TestServer, records: readonly Fields[]): Promise<void> {
  const skus: { id: number; specs: Fields[] }[] = await read(server, '/admin/skus/?per_page=1000');
  const pair = ({ spec_id, option_id }: Fields) => ({ spec_id, option_id });
  for (const { id, specs } of skus) {
    const own = records.filter(({ sku_id }) => sku_id === id);
    assert.equal(specs.map(pair), own.map(pair), `SKU ${id}`);
  }
}

for (const [which, why, mark] of [
  [
    'of a log',
    'only serve --log may write',
    async (data: string) => writeFileSync(join(data, 'cluster.json'), '{}'),
  ],
  [
    'that follows another host',
    'follows http://p',
    (data: string) =>
      writeHostRecord(machineDisk, data, {
        ...firstRecord(),
        role: 'follower',
        primary: 'http://p',
      }),
  ],
] as const) {
  test(`migrate updates the store of a host ${which}, but neither creates nor fills one for it`, async () => {
    const data = earlier(4);
    await mark(data);
    const migrated = await migrate(data);
    assertDone(migrated);
    assert.match(migrated.stdout, 'to schema version 5');
    const again = await migrate(data);
    assertDone(again);
    assert.match(again.stdout, 'nothing to do');
    assertFailed(await migrate(data, '--demo'), 'not empty');
    for (const name of ['catalog.json', 'head.json']) rmSync(join(data, name));
    assertFailed(await migrate(data), data);
    const empty = temporaryDirectory();
    assertDone(await migrate(empty));
    await mark(empty);
    const before = filesOf(empty);
    assertFailed(await migrate(empty, '--demo'), empty, why);
    assert.equal(filesOf(empty), before);
  });
}

test('migrate fails on a newer schema version with any flags, and changes nothing', async () => {
  const data = temporaryDirectory();
  assertDone(await migrate(data, '--demo'));
  const path = join(data, 'catalog.json');
  writeChecksummed(path, { ...unsealed(path).value, schema: 6 });
  const before = filesOf(data);
  for (const flags of [[], ['--dry-run'], ['--demo'], ['--demo', '--dry-run']]) {
    const finished = await migrate(data, ...flags);
    assertFailed(finished, data, 'schema version 6', 'newer catalog-server');
    assert.is(finished.stdout, '');
  }
  assert.equal(filesOf(data), before);
});

test.run();
