/** rebuild-pages: a page build in a process of its own, from a snapshot of the store. */
import type { FileLock } from '../../disk/lock.ts';
import { Build, type BuildScope, refreshFor } from './builds.ts';
import type { Catalog } from '../shop/contents.ts';
import type { PageFiles } from './files.ts';
import type { Site } from '../shop/site.ts';

/** Pages that are rendered one after the other, and then written at the same time. */
const BATCH_SIZE = 16;

/** Batches that are under way at the same time: while some are written, another is rendered. */
const MAX_CONCURRENT_BATCHES = 4;

/**
 * @param lock the pages' lock. It is held from before the snapshot until the last page is written:
 *   a server beside us then holds its own pages back, and none of ours is older than its.
 * @param snapshot reads the store as it is when the lock is held.
 * @param progress is told of pages done and pages in all.
 */
export async function rebuildPages(
  lock: FileLock,
  snapshot: () => Catalog,
  site: Site,
  files: PageFiles,
  scope: BuildScope,
  progress: (done: number, total: number) => void,
): Promise<Build> {
  lock.lock();
  try {
    const catalog = snapshot();
    files.prepare();
    await files.sweep();
    const build = new Build(scope, site, catalog, files);
    progress(0, build.total);
    const makeBatches = async () => {
      for (;;) {
        const names = await build.take(BATCH_SIZE);
        if (names.length === 0) return;
        await Promise.all(names.map((name) => refreshFor(build, site, catalog, files, name)));
        progress(Math.min(build.done, build.total), build.total);
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_BATCHES }, makeBatches));
    return build;
  } finally {
    lock.unlock();
  }
}
