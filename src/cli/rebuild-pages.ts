/** `rebuild-pages`: renders detail pages, beside a running server too. */
import { SingleBar } from 'cli-progress';
import { FileLock } from '../disk/lock.ts';
import { CatalogError } from '../errors.ts';
import { PageFiles } from '../pages/files.ts';
import { pagesLockPath } from '../pages/queue.ts';
import { type RebuildResult, rebuildPages } from '../pages/rebuild.ts';
import { readSnapshot } from '../store/store.ts';
import type { Context } from './context.ts';

export interface RebuildPagesOptions {
  readonly data: string;
  readonly stale: boolean;
  readonly ids: readonly number[] | null;
}

/** How many failed pages the message names. */
const NAMED = 10;

/** @throws CatalogError `page_failed`, naming the SKUs; `store_missing`, `store_damaged`. */
export async function rebuildPagesCommand(
  { data, stale, ids }: RebuildPagesOptions,
  context: Context,
): Promise<void> {
  // Before a lock file is made in what is no data directory.
  readSnapshot(data, context.disk);
  const lock = new FileLock(pagesLockPath(data));
  const bar = process.stderr.isTTY ? new ProgressBar() : null;
  const started = performance.now();
  let result: RebuildResult;
  try {
    result = await rebuildPages(
      lock,
      () => readSnapshot(data, context.disk),
      new PageFiles(context.disk, data),
      {
        stale,
        ids,
        progress: (done, total) => bar?.show(done, total),
      },
    );
  } finally {
    bar?.stop();
    lock.close();
  }
  const { written, unchanged, removed, failures } = result;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  context.print(
    `${written} pages written, ${unchanged} unchanged, ${removed} removed, ${failures.size} failed in ${seconds} s`,
  );
  if (failures.size > 0) throw failure(failures);
}

function failure(failures: ReadonlyMap<number, string>): CatalogError {
  const named = [...failures]
    .sort(([a], [b]) => a - b)
    .slice(0, NAMED)
    .map(([id, why]) => `SKU ${id}: ${why}`);
  const more = failures.size > NAMED ? `; and ${failures.size - NAMED} more` : '';
  return new CatalogError('page_failed', `${named.join('; ')}${more}`);
}

class ProgressBar {
  readonly #bar = new SingleBar({
    format: '{bar} {percentage}% {value}/{total} pages, {eta_formatted} left',
    stream: process.stderr,
    hideCursor: true,
  });
  #started = false;

  show(done: number, total: number): void {
    if (!this.#started) this.#bar.start(total, done);
    this.#started = true;
    this.#bar.update(done);
  }

  stop(): void {
    if (this.#started) this.#bar.stop();
  }
}
