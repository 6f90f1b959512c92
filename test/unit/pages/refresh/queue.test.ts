/** src/pages/refresh/queue.ts: pages written in the background, with a disk that can fail. */
import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../../src/disk/disk.ts';
import { FileLock } from '../../../../src/disk/lock.ts';
import { messageOf } from '../../../../src/errors.ts';
import type { Build } from '../../../../src/pages/refresh/builds.ts';
import { PageBatches } from '../../../../src/pages/refresh/batches.ts';
import { PagesLock, pagesLockPath } from '../../../../src/pages/refresh/pages-lock.ts';
import { PageQueue } from '../../../../src/pages/refresh/queue.ts';
import { Gatherer } from '../../../../src/pages/shop/gather.ts';
import { isSkuPage } from '../../../../src/pages/shop/names.ts';
import { PageList } from '../../../../src/pages/shop/page-list.ts';
import { createWriter } from '../../../../src/pages/writer/create-writer.ts';
import type { PageMaker } from '../../../../src/pages/writer/page-writer.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import type { Store } from '../../../../src/store/store.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { add, change } from '../../../support/memory-store.ts';
import { until } from '../../../support/until.ts';
import {
  addChain,
  addSku,
  addSpu,
  differences,
  folderOf,
  freshPages,
  SETTINGS,
} from '../../../support/shop.ts';
import { turn } from '../../../support/turns.ts';

const SKUS = 30;

/** Milliseconds for which pages wait while commits keep coming; no test lasts as long. */
const LONG_DELAY = 600_000;

/** Far more commits than come while a page is made. */
const MANY_COMMITS = 3000;

/** Rows of a commit that are noted in slices of the event loop. */
const MANY = 20_000;

class Bench {
  readonly data: string;
  readonly store: Store;
  readonly queue: PageQueue;
  readonly maker: PageMaker;
  /** Names of the pages in the order in which they were written. */
  readonly written: string[] = [];
  readonly reports: string[] = [];
  /** Names of pages that the disk refuses. */
  readonly refused = new Set<string>();
  /** Whether the folder of pages can be listed. */
  isListed = true;
  readonly #theirs: FileLock;

  private constructor(data: string, store: Store, delay: number) {
    this.data = data;
    this.store = store;
    const disk: Disk = {
      ...quickDisk,
      list: (path) => {
        if (!this.isListed) throw new Error('permission denied');
        return quickDisk.list(path);
      },
      rename: async (from, to) => {
        const folder = join(data, 'pages/');
        const name = to.startsWith(folder) ? to.slice(folder.length) : null;
        if (name !== null && this.refused.has(name)) throw new Error('no space left on device');
        await quickDisk.rename(from, to);
        if (name !== null) this.written.push(name);
      },
    };
    const maker = createWriter(disk, data, SETTINGS);
    this.maker = maker;
    const onError = (error: unknown) => this.reports.push(messageOf(error));
    this.queue = new PageQueue({
      store,
      list: new PageList(true),
      batches: new PageBatches(new Gatherer(store, store), maker, turn),
      maker,
      lock: new PagesLock(new FileLock(pagesLockPath(data)), onError),
      delay,
      onError,
    });
    this.#theirs = new FileLock(pagesLockPath(data));
  }

  /** Opens a shop with one SPU and its SKUs, whose pages are written. */
  static async open(skus = SKUS, delay = LONG_DELAY): Promise<Bench> {
    const data = storeDirectory();
    const store = await openStore(data, { disk: quickDisk });
    await store.transact((transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
      for (let number = 1; number <= skus; number += 1) addSku(transaction, `SKU ${number}`, 1, 3);
    });
    const bench = new Bench(data, store, delay);
    await bench.queue.build({ stale: true, skus: null }).ended;
    bench.requireFresh();
    bench.written.length = 0;
    return bench;
  }

  /** What the next start opens over the same directory. */
  next(): Bench {
    return new Bench(this.data, this.store, LONG_DELAY);
  }

  /** Whether the manifest says that every page is of the state of the store. */
  isMarked(): Promise<boolean> {
    return this.maker.knows(this.store);
  }

  /** Holds the lock like a rebuild in another process, so that no page is written meanwhile. */
  async holdingLock(run: () => Promise<void>): Promise<void> {
    while (!this.#theirs.tryLock()) await turn();
    try {
      await run();
    } finally {
      this.#theirs.unlock();
    }
  }

  async commit(run: (transaction: Transaction) => void): Promise<void> {
    await this.store.transact(run);
    // The queue is called after the response.
    await turn();
  }

  async rest(): Promise<void> {
    await until('nothing waits', () => this.queue.length === 0);
  }

  requireFresh(): void {
    assert.equal(differences(folderOf(this.data), freshPages(this.store)), []);
  }

  async close(drained = this.queue.drain(10_000)): Promise<void> {
    await drained;
    await this.store.close();
    this.#theirs.close();
  }
}

/** Why pages of a build failed. */
function reasons({ failures }: Build): [page: string, reason: string][] {
  return [...failures].map(([page, { message }]) => [page, message]);
}

const rename = (id: number, name: string) => (transaction: Transaction) =>
  change(transaction, 'skus', id, { name });

test('if a row changes often, its pages are written once, with its last values', async () => {
  const bench = await Bench.open();
  await bench.holdingLock(async () => {
    for (let round = 0; round < 100; round += 1) await bench.commit(rename(1, `Round ${round}`));
  });
  await bench.rest();
  await bench.close();
  assert.equal(bench.written.toSorted(), ['categories/3.html', 'goods/1.html', 'skus/1.html']);
  bench.requireFresh();
});

test('a commit begins to write pages if nothing else is under way', async () => {
  const bench = await Bench.open(1);
  bench.queue.compare();
  // Saving the manifest is the last step of what is under way.
  await until('the manifest is saved', () => bench.isMarked());
  await turn();
  await bench.commit(rename(1, 'At rest'));
  await until('the page is written', () => bench.written.includes('skus/1.html'));
  await bench.close();
});

test('while commits keep coming, a page waits no longer than the page delay', async () => {
  const bench = await Bench.open(1, 1);
  const isWritten = () => bench.written.includes('skus/1.html');
  for (let stock = 0; stock < MANY_COMMITS && !isWritten(); stock += 1) {
    await bench.commit((transaction) => change(transaction, 'skus', 1, { stock }));
  }
  assert.ok(isWritten());
  await bench.close();
});

test('the length of the queue is limited by the number of pages and rows, not of changes', async () => {
  const bench = await Bench.open();
  let most = 0;
  await bench.holdingLock(async () => {
    for (let round = 0; round < 300; round += 1) {
      await bench.commit((transaction) => {
        change(transaction, 'skus', (round % SKUS) + 1, { stock: round });
        change(transaction, 'brands', 1, { name: `Oak ${round}` });
        change(transaction, 'categories', 1, { name: `Wood ${round}` });
      });
      most = Math.max(most, bench.queue.length);
    }
  });
  // Each page may be in the current batch and queued again, in addition to two rows.
  const pages = freshPages(bench.store).size;
  assert.ok(most > SKUS && most <= 2 * pages + 2, `${most} for ${pages} pages`);
  await bench.rest();
  await bench.close();
  bench.requireFresh();
});

test('at most about 1000 names of SKU pages are queued, however many SKUs change', async () => {
  const skus = 1500;
  const bench = await Bench.open(skus);
  await bench.commit((transaction) => change(transaction, 'brands', 1, { name: 'Elm' }));
  let most = 0;
  while (bench.queue.length > 0) {
    most = Math.max(most, bench.queue.length);
    await turn();
  }
  const lists = [...freshPages(bench.store).keys()].filter((name) => !isSkuPage(name)).length;
  // 1024 wait, 32 are being written, and 2 being named; all pages that list rows wait by name.
  assert.ok(most <= 1024 + 32 + 2 + lists, `${most} wait, beside ${lists}`);
  await bench.close();
  assert.ok(bench.written.length > skus);
  bench.requireFresh();
});

test('the queue reports its length and the age of its oldest page, which are 0 at rest', async () => {
  const bench = await Bench.open();
  assert.is(bench.queue.length, 0);
  assert.is(bench.queue.oldest, 0);
  await bench.holdingLock(async () => {
    await bench.commit(rename(1, 'Held'));
    for (let id = 2; id <= SKUS; id += 1) await bench.commit(rename(id, 'Held'));
    assert.ok(bench.queue.length >= SKUS - 8, `${bench.queue.length} wait`);
    const age = bench.queue.oldest;
    await until('it gets older', () => bench.queue.oldest > age + 20);
  });
  await bench.rest();
  assert.is(bench.queue.oldest, 0);
  await bench.close();
});

test('the pages of unfinished builds and of the comparison after a start wait until they are made', async () => {
  const bench = await Bench.open();
  const pages = freshPages(bench.store).size;
  assert.is(bench.queue.waiting, 1, 'the comparison has not begun');
  await bench.holdingLock(async () => {
    bench.queue.compare();
    assert.is(bench.queue.waiting, 1, 'its pages are not counted yet');
    await until('they are counted', () => bench.queue.waiting > 1);
    assert.is(bench.queue.waiting, pages);
    bench.queue.build({ stale: false, skus: [1, 2] });
    assert.is(bench.queue.waiting, pages + 2);
  });
  await until('all are made', () => bench.queue.waiting === 0);
  assert.equal(bench.queue.state, { isBehind: false, sequence: bench.store.sequence });
  await bench.close();
});

test('a page that the disk refuses stays queued, is reported once, and is written when possible', async () => {
  const bench = await Bench.open();
  bench.refused.add('skus/1.html');
  await bench.commit(rename(1, 'Refused'));
  await bench.commit(rename(2, 'Taken'));
  await until('it is told', () => bench.reports.length > 0);
  await until('the others are made', () => bench.written.includes('skus/2.html'));
  assert.equal(bench.reports, ['skus/1.html: no space left on device']);
  await until('it alone waits', () => bench.queue.length === 1);
  assert.ok(bench.queue.oldest > 0);
  assert.equal(differences(folderOf(bench.data), freshPages(bench.store)), [
    'skus/1.html is stale',
  ]);
  bench.refused.clear();
  await bench.rest();
  await until('it is made', () => bench.written.includes('skus/1.html'));
  bench.requireFresh();
  await bench.close();
  assert.is(bench.reports.length, 1);
});

test('pages are checked again after a start at which the folder could not be listed', async () => {
  const bench = await Bench.open();
  writeFileSync(join(bench.data, 'pages', 'skus', '4711.html'), 'of an item that was deleted');
  bench.isListed = false;
  bench.queue.compare();
  await until('it is told', () => bench.reports.length > 0);
  assert.equal(bench.reports, ['./: permission denied']);
  assert.ok(bench.queue.state.isBehind);
  assert.ok(bench.queue.waiting > 0);
  bench.isListed = true;
  await until('all are checked', () => bench.queue.waiting === 0);
  bench.requireFresh();
  assert.not.ok(bench.queue.state.isBehind);
  await bench.close();
  assert.is(bench.reports.length, 1);
});

/** Renames the second level while the first one, which shows it, cannot be read until that is reported. */
async function renameBelowDamage(bench: Bench): Promise<void> {
  const get = bench.store.get.bind(bench.store);
  bench.store.get = (kind, id) => {
    const isDamaged = kind === 'categories' && id === 1 && bench.reports.length === 0;
    if (isDamaged) throw new Error('row 1 is damaged');
    return get(kind, id);
  };
  await bench.commit((transaction) => change(transaction, 'categories', 2, { name: 'New' }));
}

test('if it cannot be found out which pages show a change, all pages are checked again', async () => {
  const bench = await Bench.open();
  bench.queue.compare();
  await until('all pages were compared', () => !bench.queue.state.isBehind);
  await renameBelowDamage(bench);
  await until('it is reported', () => bench.reports.length > 0);
  assert.ok(bench.queue.state.isBehind);
  await until('all pages were compared again', () => !bench.queue.state.isBehind);
  assert.equal(bench.reports, ['row 1 is damaged']);
  bench.requireFresh();
  await bench.close();
});

test('if a check of all pages was under way at that time, they are checked once more after it', async () => {
  const bench = await Bench.open();
  const make = bench.maker.make.bind(bench.maker);
  let calls = 0;
  bench.maker.make = async (...args) => {
    const results = await make(...args);
    calls += 1;
    if (calls === 1) {
      await renameBelowDamage(bench);
      // Pages of earlier changes come before those of a build, so they are named now.
      bench.queue.build({ stale: true, skus: [1] });
    }
    return results;
  };
  bench.queue.compare();
  await until('all pages were compared', () => calls > 1 && !bench.queue.state.isBehind);
  assert.equal(bench.reports, ['row 1 is damaged']);
  bench.requireFresh();
  await bench.close();
});

test('files are up to date once a page is written that the check of a start could not write', async () => {
  const bench = await Bench.open();
  rmSync(join(bench.data, 'pages', 'skus', '1.html'));
  bench.refused.add('skus/1.html');
  bench.queue.compare();
  await until('it is told', () => bench.reports.length > 0);
  assert.ok(bench.queue.state.isBehind);
  bench.refused.clear();
  await until('it is made', () => bench.queue.waiting === 0);
  bench.requireFresh();
  assert.not.ok(bench.queue.state.isBehind);
  await bench.close();
});

test('draining writes the queued pages', async () => {
  const bench = await Bench.open();
  for (let id = 1; id <= SKUS; id += 1) await bench.commit(rename(id, 'Drained'));
  await bench.close();
  bench.requireFresh();
  assert.is(bench.queue.length, 0);
});

test('draining tries failed pages once more, and reports a page that fails again', async () => {
  const bench = await Bench.open();
  for (const name of ['skus/1.html', 'skus/2.html', 'skus/3.html']) bench.refused.add(name);
  for (const id of [1, 2, 3]) await bench.commit(rename(id, 'Refused'));
  await until('they are told', () => bench.reports.length > 0);
  await until('they wait', () => bench.queue.length === 3);
  bench.refused.delete('skus/2.html');
  await bench.close();
  assert.equal(differences(folderOf(bench.data), freshPages(bench.store)), [
    'skus/1.html is stale',
    'skus/3.html is stale',
  ]);
  assert.is(bench.reports.length, 2, bench.reports.join('\n'));
});

test('closing marks the manifest with the state of the store only if all pages were compared', async () => {
  for (const compares of [false, true]) {
    const bench = await Bench.open(1);
    if (compares) bench.queue.compare();
    const { sequence, digest } = bench.store;
    await bench.close();
    const next = createWriter(quickDisk, bench.data, SETTINGS);
    assert.is(await next.knows({ sequence, digest }), compares);
  }
});

test('closing does not mark the manifest if a page could not be written, so the next start compares', async () => {
  const bench = await Bench.open(1);
  bench.queue.compare();
  await bench.rest();
  bench.refused.add('skus/1.html');
  await bench.commit(rename(1, 'Refused'));
  await until('it is reported', () => bench.reports.length > 0);
  await until('it waits', () => bench.queue.length === 1);
  const { sequence, digest } = bench.store;
  await bench.close();
  const next = createWriter(quickDisk, bench.data, SETTINGS);
  assert.is(await next.knows({ sequence, digest }), false);
});

test('closing after a build of all pages saves the stats of their files, so the next start reads none', async () => {
  const bench = await Bench.open(1);
  bench.queue.compare();
  await until('the manifest is saved', () => bench.isMarked());
  await bench.queue.build({ stale: false, skus: null }).ended;
  await bench.close();
  const read: string[] = [];
  const disk: Disk = {
    ...quickDisk,
    read: (path) => {
      read.push(basename(path));
      return quickDisk.read(path);
    },
  };
  const next = createWriter(disk, bench.data, SETTINGS);
  assert.ok(await next.knows(bench.store));
  read.length = 0;
  assert.equal(await next.damaged(true), { names: [], isLast: true });
  assert.equal(read, []);
});

test('a build has its own counts, and pages of commits during it are current afterwards', async () => {
  const bench = await Bench.open();
  const { build, ended } = bench.queue.build({ stale: false, skus: null });
  await bench.commit(rename(SKUS, 'In between'));
  await ended;
  const pages = freshPages(bench.store).size;
  assert.is(build.total, pages);
  assert.equal(build.counts, { written: pages, unchanged: 0, removed: 0, failed: 0 });
  await bench.rest();
  bench.requireFresh();
  await bench.close();
});

test('a build runs after the pages of earlier commits are written', async () => {
  const bench = await Bench.open();
  await bench.commit(rename(1, 'Before'));
  const { build, ended } = bench.queue.build({ stale: true, skus: null });
  await ended;
  const pages = freshPages(bench.store).size;
  assert.equal(build.counts, { written: 0, unchanged: pages, removed: 0, failed: 0 });
  bench.requireFresh();
  await bench.close();
});

test('a build waits for the pages of a large commit whose changes are still being noted', async () => {
  const bench = await Bench.open();
  const now = performance.now.bind(performance);
  let passed = 0;
  // A slice has time for one or two steps, so noting takes many turns.
  performance.now = () => now() + (passed += 1);
  try {
    await bench.commit((transaction) => {
      const book = { pub_date: '1815-12-23', commentcount: 0, readcount: 0, image: '' };
      for (let nth = 1; nth <= MANY; nth += 1) add(transaction, 'books', { name: 'Emma', ...book });
      for (let id = 1; id <= SKUS; id += 1) rename(id, 'Before')(transaction);
    });
    const { build, ended } = bench.queue.build({ stale: true, skus: null });
    await ended;
    const pages = freshPages(bench.store).size;
    assert.equal(build.counts, { written: 0, unchanged: pages, removed: 0, failed: 0 });
  } finally {
    performance.now = now;
  }
  bench.requireFresh();
  await bench.close();
});

test('a build of named SKUs writes their pages, and reports unknown SKUs', async () => {
  const bench = await Bench.open();
  const { build, ended } = bench.queue.build({ stale: false, skus: [1, 4711] });
  await ended;
  assert.is(build.total, 2);
  assert.equal(build.counts, { written: 1, unchanged: 0, removed: 0, failed: 1 });
  assert.equal(reasons(build), [['skus/4711.html', 'there is no such SKU']]);
  assert.equal(bench.written, ['skus/1.html']);
  await bench.close();
});

test('a page that a build fails to write is queued and tried again', async () => {
  const bench = await Bench.open();
  bench.refused.add('skus/5.html');
  rmSync(join(bench.data, 'pages', 'skus', '5.html'));
  const { build, ended } = bench.queue.build({ stale: false, skus: null });
  await ended;
  assert.is(build.counts.failed, 1);
  assert.equal(reasons(build), [['skus/5.html', 'no space left on device']]);
  assert.is(bench.queue.length, 1);
  bench.refused.clear();
  await bench.rest();
  await bench.close();
  bench.requireFresh();
});

test('a build reports that the folder cannot be listed, however many pages have failed before', async () => {
  const bench = await Bench.open(120);
  for (let id = 1; id <= 120; id += 1) bench.refused.add(`skus/${id}.html`);
  bench.isListed = false;
  const { build, ended } = bench.queue.build({ stale: false, skus: null });
  await ended;
  assert.is(build.counts.failed, 121);
  assert.equal(reasons(build).at(-1), ['./', 'permission denied']);
  assert.is(build.unlisted?.message, './: permission denied');
  bench.refused.clear();
  await bench.close();
});

test('a start that fails before it looks at pages leaves their manifest as it is', async () => {
  const bench = await Bench.open();
  bench.queue.compare();
  await until('all pages are compared', () => bench.queue.waiting === 0);
  await bench.queue.drain(10_000);
  assert.ok(await bench.next().isMarked());
  await bench.next().queue.drain(0);
  assert.ok(await bench.next().isMarked(), 'otherwise the next start reads every page');
  await bench.close(Promise.resolve());
});

test('draining waits for a build only up to its time limit', async () => {
  const bench = await Bench.open();
  let drained = Promise.resolve();
  await bench.holdingLock(async () => {
    const { build, ended } = bench.queue.build({ stale: false, skus: null });
    drained = bench.queue.drain(1);
    await ended;
    assert.ok(build.done < (await build.count()));
  });
  await bench.close(drained);
});

test('draining without time leaves the pages of a build to the next start, and ends', async () => {
  const bench = await Bench.open();
  const { build, ended } = bench.queue.build({ stale: false, skus: null });
  await bench.queue.drain(0);
  await ended;
  assert.ok(build.done < (await build.count()));
  await bench.close(Promise.resolve());
});

test.run();
