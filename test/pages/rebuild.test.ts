/** DECISIONS 7 and 8: `rebuild-pages`, alone and beside a running server. */
import {
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
import demo from '../../data/demo.json' with { type: 'json' };
import { machineDisk } from '../../src/disk/disk.ts';
import { FileLock } from '../../src/disk/lock.ts';
import { PageFiles } from '../../src/pages/files.ts';
import { pagesLockPath } from '../../src/pages/queue.ts';
import { rebuildPages } from '../../src/pages/rebuild.ts';
import { readSnapshot } from '../../src/store/store.ts';
import { createCatalog, filesOf, make, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { type Finished, killServers, runCommand, startServer } from '../support/server.ts';

const ALL = demo.skus.length;

test.after(killServers);

function rebuild(data: string, ...args: readonly string[]): Promise<Finished> {
  return runCommand(['rebuild-pages', '--data', data, ...args]);
}

interface Counts {
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly failed: number;
}

/** One summary line on standard output, and no progress bar where there is no terminal. */
function countsOf({ stdout }: Finished): Counts {
  const line = /^(\d+) pages written, (\d+) unchanged, (\d+) removed, (\d+) failed in \d+\.\d s\n$/;
  const [, written, unchanged, removed, failed] = (line.exec(stdout) ?? []).map(Number);
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
  return join(data, 'pages', 'skus');
}

function pageFile(data: string, sku: number): string {
  return join(folder(data), `${sku}.html`);
}

test('rebuild-pages renders the page of every SKU', async () => {
  const data = await demoStore();
  assertCounts(await rebuild(data), { written: ALL });
  assert.equal(readdirSync(folder(data)).sort(), demo.skus.map(({ id }) => `${id}.html`).sort());
  assertCounts(await rebuild(data), { written: ALL });
});

test('rebuild-pages leaves the store itself as it was', async () => {
  const data = await demoStore();
  const before = filesOf(data);
  await rebuild(data);
  rmSync(join(data, 'pages'), { recursive: true });
  assert.equal(filesOf(data), before);
});

test('--stale writes only the pages that differ, however they do', async () => {
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

test('named SKUs are rendered, and no others', async () => {
  const data = await demoStore();
  assertCounts(await rebuild(data, '3', '1'), { written: 2 });
  assert.equal(readdirSync(folder(data)).sort(), ['1.html', '3.html']);
  assertCounts(await rebuild(data, '--stale', '1', '2'), { written: 1, unchanged: 1 });
});

test('an unknown SKU exits 1 and is named; the others are rendered all the same', async () => {
  const data = await demoStore();
  mkdirSync(folder(data), { recursive: true });
  const finished = await rebuild(data, '4711', '1', '4712');
  assert.is(finished.status, 1);
  assert.match(finished.stderr, /^catalog-server: [^\n]*4711[^\n]*4712[^\n]*\n$/);
  assert.equal(countsOf(finished), { written: 1, unchanged: 0, removed: 0, failed: 2 });
  assert.equal(readdirSync(folder(data)), ['1.html']);
});

test('of many unknown SKUs the line names ten and counts the rest', async () => {
  const data = await demoStore();
  const ids = Array.from({ length: 25 }, (_, index) => String(5000 + index));
  const { status, stderr } = await rebuild(data, ...ids);
  assert.is(status, 1);
  assert.match(stderr, /SKU 5000.*SKU 5009.*15 more\n$/);
  assert.not.match(stderr, '5010');
});

test('an id that is none exits 2 before anything is written', async () => {
  const data = await demoStore();
  const { status, stdout, stderr } = await rebuild(data, '1', 'x');
  assert.is(status, 2);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]*'x'[^\n]*\n$/);
  assert.not.ok(existsSync(join(data, 'pages')));
});

test('pages without a SKU and half-written files are removed, other files stay', async () => {
  const data = await demoStore();
  await rebuild(data);
  for (const name of ['4711.html', '4712.html', '.0123456789abcdef.tmp', 'robots.txt']) {
    writeFileSync(join(folder(data), name), 'x');
  }
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL, removed: 2 });
  const left = readdirSync(folder(data));
  assert.is(left.length, ALL + 1);
  assert.ok(left.includes('robots.txt'));
  writeFileSync(pageFile(data, 4711), 'x');
  assertCounts(await rebuild(data, '1'), { written: 1 });
  assert.ok(existsSync(pageFile(data, 4711)), 'named SKUs alone are looked at');
});

test('where there is no store nothing is made', async () => {
  const data = join(temporaryDirectory(), 'none');
  const { status, stderr } = await rebuild(data);
  assert.is(status, 1);
  assert.match(stderr, 'migrate');
  assert.not.ok(existsSync(data));
});

test('a page that cannot be written exits 1 and names its SKU; the others are written', async () => {
  const data = await demoStore();
  mkdirSync(pageFile(data, 2), { recursive: true });
  const finished = await rebuild(data);
  assert.is(finished.status, 1);
  assert.match(finished.stderr, /^catalog-server: SKU 2: [^\n]*\n$/);
  assert.equal(countsOf(finished), { written: ALL - 1, unchanged: 0, removed: 0, failed: 1 });
  assert.is(readdirSync(folder(data)).length, ALL, 'nothing half-written is left');
});

class RecordedLock extends FileLock {
  readonly events: string[] = [];

  override lock(): void {
    super.lock();
    this.events.push('locked');
  }

  override unlock(): void {
    super.unlock();
    this.events.push('unlocked');
  }
}

test('the store is read under the lock, so that no newer page of a server is put back', async () => {
  const data = await demoStore();
  const lock = new RecordedLock(pagesLockPath(data));
  const snapshot = () => {
    lock.events.push('read');
    return readSnapshot(data);
  };
  const progress = () => {
    if (lock.events.at(-1) !== 'rendered') lock.events.push('rendered');
  };
  const options = { stale: false, ids: null, progress };
  await rebuildPages(lock, snapshot, new PageFiles(machineDisk, data), options);
  assert.equal(lock.events, ['locked', 'read', 'rendered', 'unlocked']);
  lock.close();
});

test('two rebuilds at once both succeed and leave whole pages', async () => {
  const data = await demoStore();
  const finished = await Promise.all([rebuild(data), rebuild(data), rebuild(data, '--stale')]);
  for (const { status, stderr } of finished) assert.is(status, 0, stderr);
  assertCounts(await rebuild(data, '--stale'), { unchanged: ALL });
});

test('beside a running server under concurrent writes no page is stale in the end', async () => {
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
  for (let round = 0; round < 6; round += 1) {
    const before = writes;
    const finished = await rebuild(server.data, ...(round % 2 === 0 ? [] : ['--stale']));
    assert.is(finished.status, 0, finished.stderr);
    assert.ok(writes > before, 'the server goes on writing meanwhile');
  }
  done.abort();
  await Promise.all([...writers, creator]);
  const { status, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(stderr, '');
  assertCounts(await rebuild(server.data, '--stale'), { unchanged: skus.length });
});

test.run();
