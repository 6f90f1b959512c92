/** spec 7.4 and 8.7: `rebuild-pages`, with and without a running server. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../src/disk/disk.ts';
import { FileLock } from '../../../src/disk/lock.ts';
import { PageList } from '../../../src/pages/shop/page-list.ts';
import { createWriter } from '../../../src/pages/writer/create-writer.ts';
import { pagesLockPath } from '../../../src/pages/refresh/pages-lock.ts';
import { rebuildPages } from '../../../src/pages/refresh/rebuild.ts';
import { readSnapshot } from '../../../src/store/directory.ts';
import { createCatalog, filesOf, make, skuFields } from '../../support/catalog.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import {
  collect,
  type Finished,
  killServers,
  runCommand,
  startServer,
} from '../../support/server.ts';
import { faultsOf, folderOf, SETTINGS, wantedFolder } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { stopAtRest } from './rest.ts';

let ALL = 0;

test.before(async () => {
  const data = await demoStore();
  ALL = wantedFolder(data).size;
});

test.after(killServers);

function rebuild(data: string, ...args: readonly string[]): Promise<Finished> {
  return runCommand(['rebuild-pages', '--data', data, ...args]);
}

const isHidden = (name: string): boolean => name.startsWith('.');

interface Counts {
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly failed: number;
}

/** Checks for a single summary line on standard output, without a progress bar. */
function countsOf({ stdout }: Finished): Counts {
  const line =
    /^(1 page|(?!1 )\d+ pages) written, (\d+) unchanged, (\d+) removed, (\d+) failed in \d+\.\d s\n$/;
  const [, written, unchanged, removed, failed] = (line.exec(stdout) ?? []).map((text) =>
    Number.parseInt(text, 10),
  );
  if (failed === undefined) throw new Error(`no summary line: ${JSON.stringify(stdout)}`);
  return { written: written ?? 0, unchanged: unchanged ?? 0, removed: removed ?? 0, failed };
}

function assertCounts(finished: Finished, expected: Partial<Counts>): void {
  assert.is(finished.status, 0, finished.stderr);
  assert.is(finished.stderr, '');
  const none = { written: 0, unchanged: 0, removed: 0, failed: 0 };
  assert.equal(countsOf(finished), { ...none, ...expected });
}

async function demoStore(): Promise<string> {
  const data = temporaryDirectory();
  const { status, stderr } = await runCommand(['migrate', '--data', data, '--demo']);
  assert.is(status, 0, stderr);
  return data;
}

function folder(data: string): string {
  return join(data, 'pages');
}

function pageFile(data: string, sku: number): string {
  return join(folder(data), 'skus', `${sku}.html`);
}

function plant(data: string, name: string): void {
  const path = join(folder(data), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'x');
}

test('rebuild-pages renders every page', async () => {
  const data = await demoStore();
  assertCounts(await rebuild(data), { written: ALL });
  assert.equal(faultsOf(data), []);
  const kinds = new Set([...folderOf(data).keys()].map((name) => name.replace(/\d+/, 'N')));
  assert.equal([...kinds].toSorted(), [
    'categories/N.html',
    'goods/N.html',
    'index.html',
    'skus/N.html',
    'style.css',
  ]);
  assertCounts(await rebuild(data), { written: ALL });
});

test('with --public-url a sitemap is written, and without it the sitemap is removed', async () => {
  const data = await demoStore();
  const address = ['--public-url', 'https://shop.example/'];
  assertCounts(await rebuild(data, ...address), { written: ALL + 4 });
  assert.match(folderOf(data).get('sitemap.xml') ?? '', 'https://shop.example/sitemap-skus-1.xml');
  assertCounts(await rebuild(data, ...address, '--stale'), { unchanged: ALL + 4 });
  // Without it all pages lose their canonical link, but the style sheet does not change.
  assertCounts(await rebuild(data, '--stale'), { written: ALL - 1, unchanged: 1, removed: 4 });
  assert.equal(faultsOf(data), []);
});

test('rebuild-pages does not change the store', async () => {
  const data = await demoStore();
  const before = filesOf(data);
  await rebuild(data);
  rmSync(join(data, 'pages'), { recursive: true });
  rmSync(join(data, 'pages.manifest'));
  assert.equal(filesOf(data), before);
});

test('--stale writes only pages that are stale, empty, truncated or missing', async () => {
  const data = await demoStore();
  assertCounts(await rebuild(data, '--stale'), { written: ALL });
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL });
  const whole = readFileSync(pageFile(data, 1));
  const untouched = statSync(pageFile(data, 5)).mtimeMs;
  writeFileSync(pageFile(data, 1), 'stale');
  writeFileSync(pageFile(data, 2), '');
  writeFileSync(pageFile(data, 3), readFileSync(pageFile(data, 3)).subarray(0, 500));
  rmSync(pageFile(data, 4));
  assertCounts(await rebuild(data, '--stale'), { written: 4, unchanged: ALL - 4 });
  assert.equal(readFileSync(pageFile(data, 1)), whole);
  assert.is(statSync(pageFile(data, 5)).mtimeMs, untouched);
});

test('only the named SKUs are rendered, each once', async () => {
  const data = await demoStore();
  assertCounts(await rebuild(data, '3', '1', '3'), { written: 2 });
  assert.equal([...folderOf(data).keys()].toSorted(), ['skus/1.html', 'skus/3.html']);
  assertCounts(await rebuild(data, '--stale', '1', '2'), { written: 1, unchanged: 1 });
});

test('an unknown SKU exits 1 and is named; the other SKUs are rendered', async () => {
  const data = await demoStore();
  const finished = await rebuild(data, '4711', '1', '4712');
  assert.is(finished.status, 1);
  assert.match(finished.stderr, /^catalog-server: skus\/471[12]\.html: [^\n]*\n$/);
  for (const id of ['4711', '4712']) assert.match(finished.stderr, `skus/${id}.html: `);
  assert.equal(countsOf(finished), { written: 1, unchanged: 0, removed: 0, failed: 2 });
  assert.equal([...folderOf(data).keys()], ['skus/1.html']);
});

test('the error for 25 unknown SKUs names 10 and counts the rest', async () => {
  const data = await demoStore();
  const ids = Array.from({ length: 25 }, (_, index) => String(5000 + index));
  const { status, stderr } = await rebuild(data, ...ids);
  assert.is(status, 1);
  // They are named in the order in which they fail, which depends on the disk.
  assert.is(new Set(stderr.match(/skus\/50\d\d\.html: /g)).size, 10, stderr);
  assert.match(stderr, /; and 15 more\n$/);
});

test('a malformed id exits 2 before anything is written', async () => {
  const data = await demoStore();
  const { status, stdout, stderr } = await rebuild(data, '1', 'x');
  assert.is(status, 2);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]*'x'[^\n]*\n$/);
  assert.not.ok(existsSync(join(data, 'pages')));
});

const ORPHANS = [
  'skus/4711.html',
  'goods/4711.html',
  'categories/4711.html',
  'goods/1/2.html',
  'goods/1/3.html',
  'goods/4711/2.html',
  'categories/1/7.html',
  'index/2.html',
  'index/30.html',
  'sitemap.xml',
  'sitemap-skus-1.xml',
  'sitemap-goods-9.xml',
];

test('orphaned pages and half-written files are removed, unknown files are kept', async () => {
  const data = await demoStore();
  await rebuild(data);
  const strangers = ['robots.txt', 'skus/robots.txt', 'skus/01.html', 'goods/1/1.html', 'x/1.html'];
  const halves = ['', 'skus/', 'goods/1/'].map((where) => `${where}.0123456789abcdef.tmp`);
  for (const name of [...ORPHANS, ...strangers, ...halves]) plant(data, name);
  // The second part of a list includes the parts after it.
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL, removed: ORPHANS.length });
  assert.equal(faultsOf(data), strangers.map((name) => `${name} is an orphan`).toSorted());
  for (const name of halves) assert.not.ok(existsSync(join(folder(data), name)), name);
  plant(data, 'skus/4711.html');
  assertCounts(await rebuild(data, '1'), { written: 1 });
  assert.ok(existsSync(pageFile(data, 4711)), 'named SKUs alone are looked at');
});

test('parts of the sitemap where earlier versions put them are removed', async () => {
  const data = await demoStore();
  const former = join(data, 'pages', 'sitemaps');
  mkdirSync(former, { recursive: true });
  for (const name of ['skus-1.xml', 'goods-12.xml', 'own.xml']) {
    writeFileSync(join(former, name), '<urlset/>');
  }
  assertCounts(await rebuild(data), { written: ALL });
  assert.equal(readdirSync(former), ['own.xml']);
});

test('without a store rebuild-pages exits 1 and writes nothing', async () => {
  const data = join(temporaryDirectory(), 'none');
  const { status, stderr } = await rebuild(data);
  assert.is(status, 1);
  assert.match(stderr, 'migrate');
  assert.not.ok(existsSync(data));
});

test('a page that cannot be written exits 1 and is named; the others are written', async () => {
  const data = await demoStore();
  const page = pageFile(data, 2);
  mkdirSync(page, { recursive: true });
  writeFileSync(join(page, 'notes.txt'), '');
  const finished = await rebuild(data);
  assert.is(finished.status, 1);
  assert.is(
    finished.stderr,
    `catalog-server: skus/2.html: ${page} is a directory where a file is expected: move it away\n`,
  );
  assert.equal(countsOf(finished), { written: ALL - 1, unchanged: 0, removed: 0, failed: 1 });
  assert.equal(readdirSync(page), ['notes.txt']);
  assert.equal(readdirSync(dirname(page)).filter(isHidden), [], 'nothing half-written is left');
  rmSync(page, { recursive: true });
  assertCounts(await rebuild(data, '--stale'), { written: 1, unchanged: ALL - 1 });
});

test('a directory in place of a page that is to be removed is named and kept', async () => {
  const data = await demoStore();
  const orphan = pageFile(data, 999);
  mkdirSync(orphan, { recursive: true });
  const { status, stderr } = await rebuild(data);
  assert.is(status, 1);
  assert.is(
    stderr,
    `catalog-server: skus/999.html: ${orphan} is a directory where a file is expected: move it away\n`,
  );
  assert.equal(readdirSync(orphan), []);
});

test('a directory in place of the manifest is named, and a server starts beside it', async () => {
  const data = await demoStore();
  const manifest = join(data, 'pages.manifest');
  mkdirSync(manifest);
  const { status, stderr } = await rebuild(data);
  assert.is(status, 1);
  assert.is(
    stderr,
    `catalog-server: ${manifest} is a directory where a file is expected: move it away\n`,
  );
  assert.equal(readdirSync(data).filter(isHidden), []);
  const server = await startServer({ data });
  assert.is((await server.stop()).status, 0);
  rmSync(manifest, { recursive: true });
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL });
});

test('rebuild-pages without flags uses the page settings of the last server', async () => {
  const data = await demoStore();
  const flags = ['--public-url', 'https://shop.example', '--currency', 'EUR', '--locale', 'de'];
  const own = await startServer({ data, args: [...flags, '--shop-name', 'Laden'] });
  await until('the server has made its pages', () => faultsOf(data).length === 0);
  assert.is((await own.stop()).status, 0);
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL + 4 });
  const page = readFileSync(pageFile(data, 1), 'utf8');
  for (const text of [
    '<html lang="de">',
    '649,00\u00a0€',
    'Laden',
    'https://shop.example/skus/1',
  ]) {
    assert.ok(page.includes(text), text);
  }
  // A flag of rebuild-pages overrides them, and is not stored.
  const rebuilt = await rebuild(data, '--currency', 'JPY', '1');
  assertCounts(rebuilt, { written: 1 });
  assert.match(readFileSync(pageFile(data, 1), 'utf8'), '64.900');
  assert.equal(faultsOf(data), ['skus/1.html is stale']);
});

test('a malformed pages.json exits 1, and the next server writes it again', async () => {
  const data = await demoStore();
  const path = join(data, 'pages.json');
  assertCounts(await rebuild(data), { written: ALL });
  for (const text of ['', '{', '[]', '{"currency":"EUR"}', 'null']) {
    writeFileSync(path, text);
    const { status, stderr } = await rebuild(data);
    assert.is(status, 1, text);
    assert.match(stderr, /^catalog-server: [^\n]*pages\.json[^\n]*remove it[^\n]*\n$/, text);
  }
  const own = await startServer({ data });
  assert.is((await own.stop()).status, 0);
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL });
});

const SCRIPT = '/usr/bin/script';
const bar = 'on a terminal a progress bar shows the pages done, the rate and the time left';
if (existsSync(SCRIPT)) test(bar, testBar);
else test.skip(`${bar} (skipped: ${SCRIPT} is not installed)`, testBar);

async function testBar(): Promise<void> {
  const data = await demoStore();
  const command = `${process.execPath} bin/catalog-server.ts rebuild-pages --data ${data}`;
  const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', COLUMNS: '100' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { status, stdout } = await collect(child);
  assert.is(status, 0);
  assert.match(stdout, new RegExp(`100% ${ALL}/${ALL} pages, \\d+/s, \\d+ s left`));
  assert.match(stdout, `${ALL} pages written`);
}

class RecordedLock extends FileLock {
  readonly events: string[] = [];

  override tryLock(): boolean {
    const isTaken = super.tryLock();
    if (isTaken) this.events.push('locked');
    return isTaken;
  }

  override unlock(): void {
    super.unlock();
    this.events.push('unlocked');
  }
}

test('rebuild-pages reads the store and the manifest only after it has locked the pages', async () => {
  const data = await demoStore();
  const lock = new RecordedLock(pagesLockPath(data));
  const snapshot = () => {
    lock.events.push('read');
    return readSnapshot(data);
  };
  const progress = () => {
    if (lock.events.at(-1) !== 'rendered') lock.events.push('rendered');
  };
  const open = () => {
    lock.events.push('manifest read');
    return createWriter(machineDisk, data, SETTINGS);
  };
  const scope = { stale: false, skus: null };
  await rebuildPages(lock, snapshot, new PageList(true), open, scope, {
    onWait() {},
    onProgress: progress,
  });
  assert.equal(lock.events, ['locked', 'read', 'manifest read', 'rendered', 'unlocked']);
  lock.close();
});

test('three rebuilds at the same time succeed, and leave exactly the files of a single rebuild', async () => {
  const data = await demoStore();
  assertCounts(await rebuild(data), { written: ALL });
  const alone = filesOf(folder(data));
  rmSync(folder(data), { recursive: true });
  rmSync(join(data, 'pages.manifest'));
  const finished = await Promise.all([rebuild(data), rebuild(data), rebuild(data, '--stale')]);
  for (const { status, stderr } of finished) assert.is(status, 0, stderr);
  assert.equal(filesOf(folder(data)), alone);
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL });
});

/** Number of rebuilds during writes: of all pages and of stale pages in turn. */
const REBUILDS = Number(process.env['REBUILD_ROUNDS'] ?? 2);

test('after rebuilds during concurrent writes to a server, no page is stale', async () => {
  const server = await startServer();
  const of = await createCatalog(server);
  const skus: number[] = [of.sku];
  while (skus.length < 80) skus.push((await make(server, '/admin/skus/', skuFields(of))).id);
  const done = new AbortController();
  let writes = 0;
  const writers = [0, 1, 2, 3].map(async (part) => {
    for (let round = 0; !done.signal.aborted; round += 1) {
      for (const id of skus.filter((each) => each % 4 === part)) {
        const body = { stock: round, name: `Round ${round}` };
        const answer = await send(server, 'PATCH', `/admin/skus/${id}/`, { body });
        assert.is(answer.status, 200);
        writes += 1;
      }
    }
  });
  const creator = (async () => {
    while (!done.signal.aborted) {
      const { id } = await make(server, '/admin/skus/', skuFields(of));
      assert.is((await send(server, 'DELETE', `/admin/skus/${id}/`)).status, 204);
    }
  })();
  for (let round = 0; round < REBUILDS; round += 1) {
    const before = writes;
    const finished = await rebuild(server.data, ...(round % 2 === 0 ? [] : ['--stale']));
    assert.is(finished.status, 0, finished.stderr);
    assert.ok(writes > before, 'the server goes on writing meanwhile');
  }
  done.abort();
  await Promise.all([...writers, creator]);
  await stopAtRest(server);
  assertCounts(await rebuild(server.data, '--stale'), { unchanged: folderOf(server.data).size });
});

test.run();
