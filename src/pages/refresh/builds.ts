/** Page builds: all pages, those that differ, or those of named SKUs, and how far each one is. */
import { CatalogError } from '../../errors.ts';
import type { Catalog } from '../shop/contents.ts';
import type { PageFiles } from './files.ts';
import { type PageName, skuPage } from '../shop/names.ts';
import type { Site } from '../shop/site.ts';

/** What a build is to make. */
export interface BuildScope {
  /** Only pages that differ from what they would be now. */
  readonly stale: boolean;
  /** Ids of SKUs; null for all pages, which also removes those that there is nothing for. */
  readonly skus: readonly number[] | null;
}

/** What became of a page. */
export type Outcome = 'written' | 'unchanged' | 'removed';

export interface BuildCounts {
  written: number;
  unchanged: number;
  removed: number;
  failed: number;
}

/** Stands among the failures for the folder itself, where it cannot be listed. */
export const FOLDER: PageName = './';

/** Failures that a build remembers; the rest is counted. */
const MAX_LISTED_FAILURES = 100;

export class Build {
  readonly scope: BuildScope;
  readonly counts: BuildCounts = { written: 0, unchanged: 0, removed: 0, failed: 0 };
  /** Why, by page. */
  readonly failures = new Map<PageName, unknown>();
  readonly #site: Site;
  readonly #catalog: Catalog;
  #total: number | null = null;
  readonly #names: AsyncGenerator<PageName>;

  constructor(scope: BuildScope, site: Site, catalog: Catalog, files: PageFiles) {
    this.scope = scope;
    this.#site = site;
    this.#catalog = catalog;
    this.#names = namesOf(this, site, catalog, files);
  }

  /** Pages to be made, without those that are to be removed, as of when it is asked first. */
  get total(): number {
    this.#total ??= this.scope.skus?.length ?? this.#site.count(this.#catalog);
    return this.#total;
  }

  /** Pages that are done with. */
  get done(): number {
    const { written, unchanged, removed, failed } = this.counts;
    return written + unchanged + removed + failed;
  }

  /** The next pages, at most `count`; none at the end. */
  async take(count: number): Promise<PageName[]> {
    const names: PageName[] = [];
    while (names.length < count) {
      const step = await this.#names.next();
      if (step.done === true) break;
      names.push(step.value);
    }
    return names;
  }

  succeeded(outcome: Outcome): void {
    this.counts[outcome] += 1;
  }

  failed(name: PageName, error: unknown): void {
    this.counts.failed += 1;
    if (this.failures.size < MAX_LISTED_FAILURES) this.failures.set(name, error);
  }
}

/**
 * Brings one page to what the store has now.
 *
 * @param always whether a page that is as it should be is written again.
 * @throws CatalogError `page_failed`; what the disk throws.
 */
export async function refresh(
  site: Site,
  catalog: Catalog,
  files: PageFiles,
  name: PageName,
  always: boolean,
): Promise<Outcome> {
  const text = site.render(catalog, name);
  if (text === null) {
    await files.remove(name);
    return 'removed';
  }
  if (!always && files.holds(name, text)) return 'unchanged';
  await files.write(name, text);
  return 'written';
}

/** Refreshes a page for a build, and keeps what became of it. */
export async function refreshFor(
  build: Build,
  site: Site,
  catalog: Catalog,
  files: PageFiles,
  name: PageName,
): Promise<void> {
  try {
    const outcome = await refresh(site, catalog, files, name, !build.scope.stale);
    // A named SKU that is not there is a mistake of whoever named it.
    if (build.scope.skus !== null && outcome === 'removed') {
      throw new CatalogError('page_failed', 'there is no such SKU');
    }
    build.succeeded(outcome);
  } catch (error) {
    build.failed(name, error);
  }
}

async function* namesOf(
  build: Build,
  site: Site,
  catalog: Catalog,
  files: PageFiles,
): AsyncGenerator<PageName> {
  const { skus } = build.scope;
  if (skus !== null) {
    for (const id of skus) yield skuPage(id);
    return;
  }
  yield* site.all(catalog);
  let there: readonly PageName[];
  try {
    there = await files.names();
  } catch (error) {
    build.failed(FOLDER, error);
    return;
  }
  for (const name of there) {
    if (!site.has(catalog, name)) yield name;
  }
}
