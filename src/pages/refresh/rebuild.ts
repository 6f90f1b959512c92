/** rebuild-pages: a page build in a process of its own, from a snapshot of the store. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FileLock } from '../../disk/lock.ts';
import type { Catalog } from '../shop/catalog.ts';
import { Gatherer } from '../shop/gather.ts';
import type { PageList } from '../shop/page-list.ts';
import type { PageMaker } from '../writer/page-writer.ts';
import { PageBatches } from './batches.ts';
import { Build, type BuildScope } from './builds.ts';

/** Pages between two reports of the progress. */
const BATCH_SIZE = 32;

/** Milliseconds between two attempts to take a lock that another process holds. */
const RETRY_MS = 25;

/** Attempts before a wait is reported, in 5 seconds: a server holds the lock for less, usually. */
const MAX_SILENT_ATTEMPTS = 200;

export interface RebuildListener {
  /** Called once if another process has held the lock for seconds. */
  readonly onWait: () => void;
  /** Called with the number of finished pages and of all pages. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Makes pages, and saves the manifest for the next start of a server.
 *
 * @param lock the pages' lock. It is held from before the snapshot until the last page is written:
 *   a server on the same directory writes no pages meanwhile, so we never overwrite a newer one.
 * @param snapshot reads the store; called while the lock is held.
 * @param open makes the writer; called while the lock is held.
 */
export async function rebuildPages(
  lock: FileLock,
  snapshot: () => Catalog,
  list: PageList,
  open: () => PageMaker,
  scope: BuildScope,
  { onWait, onProgress }: RebuildListener,
): Promise<Build> {
  await take(lock, onWait);
  try {
    const catalog = snapshot();
    const maker = open();
    await maker.sweep();
    const build = new Build(scope, list, catalog, maker);
    const gatherer = new Gatherer(catalog, list.hasSitemap ? catalog : null);
    const batches = new PageBatches(gatherer, maker, async () => {});
    const total = await build.count();
    onProgress(0, total);
    for (;;) {
      const names = await build.take(BATCH_SIZE);
      if (names.length === 0) break;
      const results = await batches.make(names, !scope.stale);
      results.forEach((result, index) => build.add(names[index] ?? '', result));
      onProgress(Math.min(build.done, total), total);
      // The maker may never yield, and the progress display needs the event loop.
      await nextTurn();
    }
    const isComplete = scope.skus === null && build.counts.failed === 0;
    await maker.save(isComplete ? catalog : null);
    return build;
  } finally {
    lock.unlock();
  }
}

async function take(lock: FileLock, onWait: () => void): Promise<void> {
  for (let attempt = 0; attempt < MAX_SILENT_ATTEMPTS; attempt += 1) {
    if (lock.tryLock()) return;
    await sleep(RETRY_MS);
  }
  onWait();
  // What is printed is written before this blocks the process.
  await sleep(RETRY_MS);
  lock.lock();
}
