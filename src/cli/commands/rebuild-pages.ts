/** `rebuild-pages`: makes pages, also while a server runs. */
import { exchangingDisk } from '../../disk/rename-exchange.ts';
import { FileLock } from '../../disk/lock.ts';
import { CatalogError } from '../../errors.ts';
import type { Build } from '../../pages/refresh/builds.ts';
import { pagesLockPath } from '../../pages/refresh/pages-lock.ts';
import { rebuildPages } from '../../pages/refresh/rebuild.ts';
import { keptSettings, type PageSettings } from '../../pages/shop/settings.ts';
import { PageList } from '../../pages/shop/page-list.ts';
import { TemplateSources } from '../../pages/render/template-sources.ts';
import type { PageFailure } from '../../pages/writer/page-failure.ts';
import { createWriter } from '../../pages/writer/create-writer.ts';
import { readSnapshot, requireStore } from '../../store/directory.ts';
import type { Context } from '../../app/context.ts';
import { ProgressBar } from '../progress-bar.ts';
import { adviceOn } from '../system-errors.ts';

export interface RebuildPagesOptions {
  readonly data: string;
  readonly stale: boolean;
  readonly ids: readonly number[] | null;
  /** Settings that are left out are those of the last server. */
  readonly pages: Partial<PageSettings>;
}

/** How many failed pages the message names. */
const MAX_NAMED = 10;

/** @throws CatalogError `page_failed`, naming the pages; `store_missing`, `store_damaged`. */
export async function rebuildPagesCommand(
  { data, stale, ids, pages }: RebuildPagesOptions,
  context: Context,
): Promise<void> {
  // Checked first, so that no lock file is created in a directory without a store.
  requireStore(data, context.disk);
  const settings = { ...keptSettings(context.disk, data), ...pages };
  // Reports a mistake in the settings before the wait for the lock.
  void new TemplateSources(context.disk, settings.templates);
  const lock = new FileLock(pagesLockPath(data));
  const bar = context.terminal === null ? null : new ProgressBar(context.terminal, 'pages');
  const onWait = () => context.warn(`waiting for another process that writes pages of ${data}`);
  const started = performance.now();
  let build: Build;
  try {
    build = await rebuildPages(
      lock,
      () => readSnapshot(data, context.disk),
      new PageList(settings.publicUrl !== null),
      () => createWriter(exchangingDisk(context.disk), data, settings),
      { stale, skus: ids },
      { onWait, onProgress: (done, total) => bar?.show(done, total) },
    );
  } finally {
    bar?.stop();
    lock.close();
  }
  const { written, unchanged, removed, failed } = build.counts;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  context.print(
    `${written} ${written === 1 ? 'page' : 'pages'} written, ${unchanged} unchanged, ${removed} removed, ${failed} failed in ${seconds} s`,
  );
  if (failed > 0) throw failure(build);
}

function failure({ counts, failures }: Build): CatalogError {
  const named = [...failures]
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .slice(0, MAX_NAMED);
  const faults = named.map(([page, why]) => `${page}: ${why.message}`).join('; ');
  const more = counts.failed > named.length ? `; and ${counts.failed - named.length} more` : '';
  // All pages are on one disk, so that one advice is enough.
  const advice = named.map(([, why]) => adviceFor(why)).find((each) => each !== undefined);
  const end = advice === undefined ? '' : `; ${advice}`;
  return new CatalogError('page_failed', `${faults}${more}${end}`);
}

/** @returns undefined if the page was not refused by the system, or its message has advice. */
function adviceFor({ message, systemCode }: PageFailure): string | undefined {
  const isOfSystem = systemCode !== null && message.startsWith(`${systemCode}: `);
  return isOfSystem ? adviceOn(systemCode) : undefined;
}
