/** rebuild-pages: all pages, the stale ones, or those named, from a snapshot of the store. */
import type { FileLock } from '../disk/lock.ts';
import { CatalogError, messageOf } from '../errors.ts';
import type { ReadableStore } from '../store/store.ts';
import type { PageFiles } from './files.ts';
import { renderSku } from './render.ts';

/** Pages that are written at the same time, between two reports of progress. */
const AT_ONCE = 64;

export interface RebuildOptions {
  /** Only pages that differ from what they would be now. */
  readonly stale: boolean;
  /** Only these SKUs; null for all, which also removes pages without a SKU. */
  readonly ids: readonly number[] | null;
  readonly progress: (done: number, total: number) => void;
}

export interface RebuildResult {
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Why, by SKU. */
  readonly failures: ReadonlyMap<number, string>;
}

/**
 * @param lock the pages' lock. It is held from before the snapshot until the last page is written:
 *   a server beside us then holds its own pages back, and none of ours is older than its.
 * @param snapshot reads the store as it is when the lock is held.
 */
export async function rebuildPages(
  lock: FileLock,
  snapshot: () => ReadableStore,
  files: PageFiles,
  { stale, ids, progress }: RebuildOptions,
): Promise<RebuildResult> {
  lock.lock();
  try {
    const store = snapshot();
    files.prepare();
    await files.sweep();
    const wanted = ids ?? [...store.ids('skus')];
    const failures = new Map<number, string>();
    const counts = { written: 0, unchanged: 0, removed: 0 };
    const rebuild = async (id: number) => {
      try {
        counts[await rebuildPage(store, files, id, stale)] += 1;
      } catch (error) {
        failures.set(id, messageOf(error));
      }
    };
    for (let start = 0; start < wanted.length; start += AT_ONCE) {
      progress(start, wanted.length);
      await Promise.all(wanted.slice(start, start + AT_ONCE).map(rebuild));
    }
    progress(wanted.length, wanted.length);
    if (ids === null) counts.removed += await removeOrphans(store, files);
    return { ...counts, failures };
  } finally {
    lock.unlock();
  }
}

async function rebuildPage(
  store: ReadableStore,
  files: PageFiles,
  id: number,
  stale: boolean,
): Promise<'written' | 'unchanged'> {
  const html = renderSku(store, id);
  if (html === null) {
    await files.remove(id);
    throw new CatalogError('page_failed', 'there is no such SKU');
  }
  if (stale && files.holds(id, html)) return 'unchanged';
  await files.write(id, html);
  return 'written';
}

async function removeOrphans(store: ReadableStore, files: PageFiles): Promise<number> {
  let removed = 0;
  for (const id of files.ids()) {
    if (store.get('skus', id) !== undefined) continue;
    await files.remove(id);
    removed += 1;
  }
  return removed;
}
