/** The pages of an open store: their queue, their thread, and what the server sends. */
import type { Disk } from '../disk/disk.ts';
import { FileLock } from '../disk/lock.ts';
import { PageBatches } from '../pages/refresh/batches.ts';
import { PagesLock, pagesLockPath } from '../pages/refresh/pages-lock.ts';
import { PageQueue } from '../pages/refresh/queue.ts';
import { PagePreviews } from '../pages/refresh/previews.ts';
import { ServedPages } from '../pages/refresh/served-pages.ts';
import { turn } from '../pages/refresh/turns.ts';
import { SOUGHT_BY_PAGES } from '../pages/shop/catalog.ts';
import { Gatherer } from '../pages/shop/gather.ts';
import { PageList } from '../pages/shop/page-list.ts';
import { PageFiles } from '../pages/writer/files.ts';
import { PageThread } from '../pages/writer/page-thread.ts';
import type { Store } from '../store/store.ts';
import type { Monitor } from './catalog-monitor.ts';
import type { Seams } from './seams.ts';
import type { ServeOptions } from './server-options.ts';

export interface Pages {
  readonly queue: PageQueue;
  readonly served: ServedPages;
  readonly previews: PagePreviews;
  /** Makes the pages that wait, for at most `grace` milliseconds, and ends the thread. */
  close(grace: number): Promise<void>;
}

/** Opens the pages. Those that cannot be made are reported to `monitor`, and retried. */
export function openPages(
  {
    data,
    pages: settings,
    pageDelay: delay,
    basePath,
  }: Pick<ServeOptions, 'data' | 'pages' | 'pageDelay' | 'basePath'>,
  store: Store,
  disk: Disk,
  monitor: Pick<Monitor, 'onError'>,
  { pageMaker }: Seams,
): Pages {
  const onError = monitor.onError('a page could not be written; the server will try again');
  const list = new PageList(settings.publicUrl !== null);
  const thread = new PageThread({ dataDirectory: data, settings });
  const maker = pageMaker ?? thread;
  const batches = new PageBatches(new Gatherer(store, list.hasSitemap ? store : null), maker, turn);
  const queue = new PageQueue({
    store,
    list,
    batches,
    maker,
    lock: new PagesLock(new FileLock(pagesLockPath(data)), onError),
    delay,
    onError,
  });
  const files = new PageFiles(disk, data);
  try {
    files.prepare();
  } catch (error) {
    // Pages can be sent without files, and a page that is written makes its missing folder.
    onError(error);
  }
  const served = new ServedPages({
    files,
    batches,
    maker,
    state: () => queue.state,
    prepare: () => store.prepareIndexes(SOUGHT_BY_PAGES),
    has: (name) => list.has(store, name),
    mend: (name) => queue.mend(name),
  });
  const root = `${basePath}/pages/`;
  const previews = new PagePreviews({ catalog: store, maker, turn, root });
  return {
    queue,
    served,
    previews,
    async close(grace) {
      await queue.drain(grace);
      thread.close();
    },
  };
}
