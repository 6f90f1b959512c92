/** Page builds: of all pages, of those that are out of date, or of those of given SKUs. */
import type { LogPosition } from '../../store/change-log.ts';
import { inSlices } from '../../slices.ts';
import type { Catalog } from '../shop/catalog.ts';
import { type PageName, skuPage } from '../shop/names.ts';
import type { PageList } from '../shop/page-list.ts';
import { errorOf, failureOf, type PageFailure } from '../writer/page-failure.ts';
import type { Chunk, Outcome, PageMaker, PageResult } from '../writer/page-writer.ts';

/** The pages that a build makes. */
export interface BuildScope {
  /** Whether only pages that are out of date are written. */
  readonly stale: boolean;
  /** Ids of SKUs; null for all pages, which also removes those that the shop does not have. */
  readonly skus: readonly number[] | null;
  /** If the manifest has all pages of this state, the build only looks for damaged files. */
  readonly since?: LogPosition;
}

export interface BuildCounts {
  written: number;
  unchanged: number;
  removed: number;
  failed: number;
}

/** The key among the failures for the folder itself, if it cannot be listed. */
export const FOLDER: PageName = './';

/** Failures that a build keeps; further ones are only counted. */
const MAX_LISTED_FAILURES = 100;

const NO_SUCH_SKU: PageFailure = {
  message: 'there is no such SKU',
  systemCode: null,
  isPublic: true,
};

export class Build {
  readonly scope: BuildScope;
  readonly counts: BuildCounts = { written: 0, unchanged: 0, removed: 0, failed: 0 };
  /** The reasons of failures, by page. */
  readonly failures = new Map<PageName, PageFailure>();
  readonly #list: PageList;
  readonly #catalog: Catalog;
  /** Null until they are counted. */
  #total: number | null;
  #counting: Promise<number> | null = null;
  /** Pages that were taken. */
  #taken = 0;
  readonly #names: AsyncGenerator<PageName>;

  constructor(scope: BuildScope, list: PageList, catalog: Catalog, maker: PageMaker) {
    this.scope = scope;
    this.#list = list;
    this.#catalog = catalog;
    this.#total = scope.skus?.length ?? null;
    this.#names = namesOf(this, list, catalog, maker);
  }

  /** Pages to be made; null until they are counted. Pages to be removed are not counted. */
  get total(): number | null {
    return this.#total;
  }

  /** Counts the pages to be made, in slices, once: there may be millions. */
  count(): Promise<number> {
    this.#counting ??= this.#count();
    return this.#counting;
  }

  async #count(): Promise<number> {
    this.#total ??= await inSlices(this.#list.count(this.#catalog));
    return this.#total;
  }

  /** Pages that are still to be taken; at least 1 until the build has ended. */
  get remaining(): number {
    return Math.max((this.#total ?? 0) - this.#taken, 1);
  }

  /** Pages that are finished, with any result. */
  get done(): number {
    const { written, unchanged, removed, failed } = this.counts;
    return written + unchanged + removed + failed;
  }

  /** Why not all pages could be listed; null if they could, so far. */
  get unlisted(): Error | null {
    const failure = this.failures.get(FOLDER);
    return failure === undefined ? null : errorOf(FOLDER, failure);
  }

  /** The next pages, at most `count`; none at the end. */
  async take(count: number): Promise<PageName[]> {
    const names: PageName[] = [];
    while (names.length < count) {
      const step = await this.#names.next();
      if (step.done === true) break;
      names.push(step.value);
    }
    this.#taken += names.length;
    return names;
  }

  /** Counts a page. @returns false if it has failed. */
  add(name: PageName, result: PageResult): boolean {
    // The caller named a SKU that does not exist.
    const isMistake = this.scope.skus !== null && result === 'removed';
    const outcome = isMistake ? NO_SUCH_SKU : result;
    if (isOutcome(outcome)) {
      this.counts[outcome] += 1;
      return true;
    }
    this.fail(name, outcome);
    return false;
  }

  fail(name: PageName, failure: PageFailure): void {
    this.counts.failed += 1;
    const isListed = name === FOLDER || this.failures.size < MAX_LISTED_FAILURES;
    if (isListed) this.failures.set(name, failure);
  }
}

/** Any other result is a failure. */
export function isOutcome(result: PageResult): result is Outcome {
  return typeof result === 'string';
}

async function* namesOf(
  build: Build,
  list: PageList,
  catalog: Catalog,
  maker: PageMaker,
): AsyncGenerator<PageName> {
  const { skus, since } = build.scope;
  if (skus !== null) {
    for (const id of skus) yield skuPage(id);
    return;
  }
  try {
    const areMade = since !== undefined && (await maker.knows(since));
    // A comparison does not know before what it has to do.
    if (!areMade) await build.count();
    if (areMade) yield* chunks((fromStart) => maker.damaged(fromStart));
    else yield* list.all(catalog);
    for await (const name of chunks((fromStart) => maker.present(fromStart, areMade))) {
      if (!list.has(catalog, name)) yield name;
    }
  } catch (error) {
    build.fail(FOLDER, failureOf(error));
  }
}

async function* chunks(next: (fromStart: boolean) => Promise<Chunk>): AsyncGenerator<PageName> {
  let chunk = await next(true);
  for (;;) {
    yield* chunk.names;
    if (chunk.isLast) return;
    chunk = await next(false);
  }
}
