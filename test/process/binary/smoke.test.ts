/** The executable in an empty directory, with an empty environment, and among hostile files. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import demo from '../../../data/demo.json' with { type: 'json' };
import { version } from '../../../package.json' with { type: 'json' };
import { filesOf, pageWith } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { until } from '../../support/until.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  collect,
  type Finished,
  killServers,
  type Serving,
  serving,
} from '../../support/server.ts';
import { ROOT } from '../../support/paths.ts';
import { isUpToDate } from '../../../release/up-to-date.ts';

const BINARY = join(ROOT, 'dist', 'catalog-server');

test.before(() => {
  if (isUpToDate(BINARY)) return;
  const { status, stderr } = spawnSync(process.execPath, ['run', 'build'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`bun run build failed: ${stderr}`);
});

/** With `env -i`, so that it gets no environment variables. */
function start(cwd: string, ...args: readonly string[]): ChildProcess {
  return spawn('/usr/bin/env', ['-i', BINARY, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function run(cwd: string, ...args: readonly string[]): Promise<Finished> {
  return collect(start(cwd, ...args));
}

async function succeed(cwd: string, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run(cwd, ...args);
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
  return stdout;
}

test.after(killServers);

function serve(cwd: string, ...args: readonly string[]): Promise<Serving> {
  return serving(start(cwd, 'serve', '--port', '0', ...args));
}

test('--version and --help work in an empty directory and create no files', async () => {
  const cwd = temporaryDirectory();
  assert.is(await succeed(cwd, '--version'), `${version}\n`);
  assert.match(await succeed(cwd, '--help'), 'rebuild-pages');
  assert.equal(readdirSync(cwd), []);
});

test('wrong usage exits 2 and a failure 1, each with one line and no stack trace', async () => {
  const cwd = temporaryDirectory();
  for (const [status, ...args] of [
    [2, 'frobnicate'],
    [2, 'serve', '--port', 'x'],
    [2, 'restore'],
    [1, 'rebuild-pages'],
    [1, 'check'],
    [1, 'backup', '-'],
    [1, 'restore', 'none.json'],
  ] as const) {
    const finished = await run(cwd, ...args);
    assert.is(finished.status, status);
    assert.is(finished.stdout, '');
    assert.match(finished.stderr, /^catalog-server: [^\n]+\n$/);
  }
});

const COLLECTIONS = {
  '/books/': demo.books.length,
  '/admin/goods/': demo.goods.length,
  '/admin/skus/': demo.skus.length,
  '/admin/brands/': demo.brands.length,
  '/admin/categories/': demo.categories.length,
  '/admin/specs/': demo.specs.length,
  '/admin/options/': demo.options.length,
} as const;

test('the page thread runs from the executable, even if the directory has a file of that path', async () => {
  const cwd = temporaryDirectory();
  await succeed(cwd, 'migrate', '--demo');
  // The path of the thread's source: the file in the working directory must not be used.
  const decoy = join(cwd, 'src', 'pages', 'writer', 'thread.ts');
  mkdirSync(dirname(decoy), { recursive: true });
  writeFileSync(decoy, "throw new Error('decoy')");
  const server = await serve(cwd);
  const page = join(cwd, 'data', 'pages', 'skus', '1.html');
  await until('the thread has written a page', () => existsSync(page));
  const { status, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(stderr, '');
});

/** The settings of the engine in the environment of a process. */
function engineNumbers(pid: number | undefined): readonly string[] {
  const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  return variables
    .filter((variable) => /^(?:BUN_CONFIG|BUN_JSC|MIMALLOC|UV)_/.test(variable))
    .toSorted();
}

test('a server sets its engine settings, unless the environment already has one of them', async () => {
  const cwd = temporaryDirectory();
  await succeed(cwd, 'migrate');
  const child = start(cwd, 'serve', '--port', '0');
  const server = await serving(child);
  assert.equal(engineNumbers(child.pid), [
    'BUN_CONFIG_MAX_HTTP_REQUESTS=4096',
    'BUN_JSC_heapGrowthMaxIncrease=0.2',
    'BUN_JSC_largeHeapSize=25165824',
    'BUN_JSC_minEdenToOldGenerationRatio=0.13',
    'BUN_JSC_thresholdForFTLOptimizeAfterWarmUp=256000',
    'MIMALLOC_PURGE_DELAY=1000',
    'UV_THREADPOOL_SIZE=128',
  ]);
  const { status, stderr } = await server.stop();
  assert.equal([status, stderr], [0, '']);

  const own = 'BUN_JSC_heapGrowthMaxIncrease=1';
  const args = ['-i', own, BINARY, 'serve', '--port', '0'];
  const other = spawn('/usr/bin/env', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const told = await serving(other);
  assert.equal(engineNumbers(other.pid), [own]);
  assert.is((await told.stop()).status, 0);
});

test('the executable creates a store, issues a token, serves, writes, renders pages and stops', async () => {
  const cwd = temporaryDirectory();
  assert.match(await succeed(cwd, 'migrate', '--demo'), `${demo.skus.length} SKUs`);
  assert.equal(readdirSync(cwd), ['data']);
  const token = (await succeed(cwd, 'issue-token', '--subject', 'ann')).trim();
  const server = await serve(cwd);
  for (const [path, count] of Object.entries(COLLECTIONS)) {
    const { status, headers, json } = await send(server, 'GET', path, { token });
    assert.is(status, 200, path);
    assert.is(headers.get('x-total-count') ?? String(json.length), String(count), path);
    const anonymous = await send(server, 'GET', path, { token: null });
    assert.is(anonymous.status, path === '/books/' ? 200 : 401, path);
  }
  const sku = (await send(server, 'GET', '/admin/skus/1/', { token })).json;
  await pageWith(server, 1, 'Auralune');
  const body = { ...sku, name: 'Put by the executable', price: 123, specs: [] };
  const put = await send(server, 'PUT', '/admin/skus/1/', { token, body });
  assert.is(put.status, 200, put.text);
  await pageWith(server, 1, 'Put by the executable');
  const { status, stdout, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(stdout, `listening on ${server.url}\n`);
  assert.is(stderr, '');
  assert.match(await succeed(cwd, 'rebuild-pages', '--stale'), /^0 pages written, \d+ unchanged/);
  assert.equal(readdirSync(cwd), ['data']);
});

/** Runs the executable with bytes on standard input. */
function feed(cwd: string, input: Buffer, ...args: readonly string[]) {
  return spawnSync('/usr/bin/env', ['-i', BINARY, ...args], { cwd, input });
}

test('users add, keys rotate and users disable take effect while a server runs', async () => {
  const cwd = temporaryDirectory();
  await succeed(cwd, 'migrate');
  const added = spawnSync('/usr/bin/env', ['-i', BINARY, 'users', 'add', 'ann'], {
    cwd,
    input: 'correct horse\n',
    encoding: 'utf8',
  });
  assert.equal([added.status, added.stdout, added.stderr], [0, 'added ann as viewer\n', '']);
  const server = await serve(cwd);
  const body = { username: 'ann', password: 'correct horse' };
  const { status, json } = await send(server, 'POST', '/admin/tokens/', { body, token: null });
  assert.is(status, 201);
  const reading = async () =>
    (await send(server, 'GET', '/admin/skus/', { token: json.token })).status;
  assert.is(await reading(), 200);
  await succeed(cwd, 'keys', 'rotate');
  assert.is(await reading(), 200);
  await succeed(cwd, 'users', 'disable', 'ann');
  assert.is(await reading(), 401);
  assert.match(await succeed(cwd, 'users', 'list'), /^ann  viewer  disabled /);
  assert.is((await server.stop()).status, 0);
});

test('the executable checks a store, backs it up to a file and a pipe, and restores both', async () => {
  const cwd = temporaryDirectory();
  await succeed(cwd, 'migrate', '--demo');
  assert.match(await succeed(cwd, 'check'), /^\.\/data is in order: \d+ rows as of change set 1, /);
  assert.match(await succeed(cwd, 'backup', 'one.json'), /^backed up \.\/data to one\.json: /);
  assert.match(await succeed(cwd, 'backup'), /^backed up \.\/data to catalog-\d{8}T\d{6}Z\.json: /);
  const file = readFileSync(join(cwd, 'one.json'));
  const piped = feed(cwd, Buffer.alloc(0), 'backup', '-');
  assert.is(piped.status, 0, piped.stderr.toString());
  assert.ok(piped.stdout.equals(file));
  assert.is(JSON.parse(file.toString()).tables.skus.length, demo.skus.length);

  assert.match(await succeed(cwd, 'restore', 'one.json', '--data', 'two'), /^restored two: /);
  const fed = feed(cwd, file, 'restore', '-', '--data', 'three');
  assert.is(fed.status, 0, fed.stderr.toString());
  for (const data of ['two', 'three']) {
    assert.match(await succeed(cwd, 'check', '--data', data), `${data} is in order: `);
    assert.ok(readFileSync(join(cwd, data, 'catalog.json')).equals(file));
  }
  const again = await run(cwd, 'restore', 'one.json', '--data', 'two');
  assert.is(again.status, 1);
  assert.match(again.stderr, /^catalog-server: two is not empty, [^\n]+\n$/);

  const server = await serve(cwd, '--data', 'two');
  const books = (await send(server, 'GET', '/books/', { token: null })).json;
  assert.equal(books, demo.books);
  assert.match(await succeed(cwd, 'check', '--data', 'two'), 'two is in order: ');
  assert.is((await server.stop()).status, 0);

  writeFileSync(join(cwd, 'three', 'head.json'), '{}');
  const damaged = await run(cwd, 'check', '--data', 'three');
  assert.is(damaged.status, 1);
  assert.match(damaged.stdout, /^three\/head\.json is damaged: [^\n]+\n$/);
  assert.match(damaged.stderr, /^catalog-server: [^\n]+\n$/);
});

test('a store of version 1 is not served before it is migrated', async () => {
  const cwd = temporaryDirectory();
  const fixture = join(ROOT, 'test', 'fixtures', 'schema-1');
  cpSync(fixture, join(cwd, 'data'), { recursive: true });
  const refused = await run(cwd, 'serve', '--port', '0');
  assert.is(refused.status, 1);
  assert.match(refused.stderr, 'run: catalog-server migrate --data ./data\n');
  const plan = await succeed(cwd, 'migrate', '--dry-run');
  const done = await succeed(cwd, 'migrate');
  for (const [nth, to] of [2, 3].entries()) {
    const what = `./data to schema version ${to}: `;
    assert.ok(plan.split('\n')[nth]?.startsWith(`would migrate ${what}`), plan);
    assert.ok(done.split('\n')[nth]?.startsWith(`migrated ${what}`), done);
  }
  assert.equal(filesOf(join(cwd, 'data', 'migrated-from-1')), filesOf(fixture));
  assert.match(await succeed(cwd, 'check'), 'is in order: ');
  const server = await serve(cwd);
  const book = await send(server, 'GET', '/books/14/', { token: null });
  assert.is(book.json.name, 'Written after the base');
  assert.is((await send(server, 'GET', '/books/13/', { token: null })).status, 404);
  assert.is((await server.stop()).status, 0);
});

test('the executable contains the API description and the viewer with its scripts and styles', async () => {
  const cwd = temporaryDirectory();
  const server = await serve(cwd);
  const page = await send(server, 'GET', '/docs/', { token: null });
  assert.is(page.status, 200);
  const files = [...page.text.matchAll(/(?:src|href)="([\w.-]+\.(?:js|css))"/g)].map(
    ([, name]) => name,
  );
  assert.ok(files.length >= 3, files.join(' '));
  for (const file of files) {
    const { status, headers, text } = await send(server, 'GET', `/docs/${file}`, { token: null });
    assert.is(status, 200, file);
    const type = file?.endsWith('.js') ? 'text/javascript' : 'text/css';
    assert.ok(headers.get('content-type')?.startsWith(type), file);
    assert.ok(text.length > 100, file);
  }
  const description = await send(server, 'GET', '/openapi.json', { token: null });
  assert.is(description.json.info.version, version);
  assert.is((await server.stop()).status, 0);
});

/** Writes a `.env`, a `bunfig.toml` and others that would break a program that reads them. */
function plantHostileFiles(cwd: string): { marker: string } {
  const marker = join(cwd, 'marker');
  writeFileSync(
    join(cwd, '.env'),
    [
      'CATALOG_DATA=./elsewhere',
      'CATALOG_HOST=203.0.113.1',
      'CATALOG_BASE_PATH=/hostile',
      'CATALOG_JWT_SECRET=short',
      '',
    ].join('\n'),
  );
  for (const name of ['.env.local', '.env.production', '.env.development']) {
    writeFileSync(join(cwd, name), 'CATALOG_DATA=./elsewhere\n');
  }
  writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./preload.ts"]\n');
  writeFileSync(
    join(cwd, 'preload.ts'),
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(marker)}, '');\n`,
  );
  mkdirSync(join(cwd, 'node_modules'));
  writeFileSync(join(cwd, 'package.json'), '{"name":"hostile","version":"6.6.6"}');
  return { marker };
}

test('the hostile files take effect in plain Bun, which reads them', () => {
  const cwd = temporaryDirectory();
  const { marker } = plantHostileFiles(cwd);
  const script = join(cwd, 'main.ts');
  writeFileSync(script, 'process.stdout.write(process.env.CATALOG_DATA ?? "");');
  const { stdout } = spawnSync('/usr/bin/env', ['-i', process.execPath, script], {
    cwd,
    encoding: 'utf8',
  });
  assert.is(stdout, './elsewhere');
  assert.ok(existsSync(marker));
});

test('a hostile .env, bunfig.toml and tsconfig.json in the working directory are ignored', async () => {
  const cwd = temporaryDirectory();
  const { marker } = plantHostileFiles(cwd);
  writeFileSync(join(cwd, 'tsconfig.json'), '{"compilerOptions":{"paths":{"*":["./preload.ts"]}}}');
  const before = readdirSync(cwd);
  assert.is(await succeed(cwd, '--version'), `${version}\n`);
  await succeed(cwd, 'migrate', '--demo');
  await succeed(cwd, 'issue-token', '--subject', 'ann');
  const server = await serve(cwd);
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:/);
  assert.is((await send(server, 'GET', '/books/', { token: null })).status, 200);
  assert.is((await server.stop()).status, 0);
  await succeed(cwd, 'rebuild-pages');
  assert.not.ok(existsSync(marker), 'the preload ran');
  assert.equal(readdirSync(cwd).sort(), [...before, 'data'].sort());
});

test.run();
