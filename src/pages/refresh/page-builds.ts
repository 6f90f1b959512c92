/** The page builds that were requested over HTTP, and their progress. */
import { CatalogError } from '../../errors.ts';
import type { ReadableStore } from '../../store/readable-store.ts';
import { SOUGHT_BY_PAGES } from '../shop/catalog.ts';
import type { PageName } from '../shop/names.ts';
import type { PageFailure } from '../writer/page-failure.ts';
import { type Build, type BuildScope, FOLDER } from './builds.ts';
import type { PageQueue } from './queue.ts';

/** Builds that may be unfinished at a time. */
const MAX_UNFINISHED = 16;

/** Builds that are kept; beyond that the oldest finished ones are forgotten. */
const MAX_LISTED_BUILDS = 100;

/** The progress of a page build, as the API shows it. Times are ISO 8601, UTC. */
export interface PageBuild {
  readonly id: number;
  readonly state: 'queued' | 'running' | 'finished';
  readonly stale: boolean;
  /** Ids of the SKUs whose pages are made; null for all pages. */
  readonly skus: readonly number[] | null;
  /** Pages to be made; pages to be removed are not counted. */
  readonly total: number;
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly failed: number;
  /** The first of the failures. */
  readonly failures: readonly { readonly page: string; readonly error: string }[];
  readonly created_at: string;
  readonly finished_at: string | null;
}

interface Entry {
  readonly id: number;
  readonly build: Build;
  readonly createdAt: Date;
  finishedAt: Date | null;
}

export class PageBuilds {
  readonly #queue: PageQueue;
  readonly #store: Pick<ReadableStore, 'has' | 'prepareIndexes'>;
  readonly #entries = new Map<number, Entry>();
  #lastId = 0;

  constructor(queue: PageQueue, store: Pick<ReadableStore, 'has' | 'prepareIndexes'>) {
    this.#queue = queue;
    this.#store = store;
  }

  /** @throws CatalogError `invalid` if there is no such SKU, `too_many_builds`. */
  async start(scope: BuildScope): Promise<PageBuild> {
    // The pages of the build are counted by indexes.
    await this.#store.prepareIndexes(SOUGHT_BY_PAGES);
    const unknown = scope.skus?.find((id) => !this.#store.has('skus', id));
    if (unknown !== undefined) {
      const problem = `there is no SKU ${unknown}`;
      throw new CatalogError('invalid', `skus: ${problem}`, { fields: { skus: [problem] } });
    }
    const unfinished = [...this.#entries.values()].filter(({ finishedAt }) => finishedAt === null);
    if (unfinished.length >= MAX_UNFINISHED) {
      throw new CatalogError(
        'too_many_builds',
        `${MAX_UNFINISHED} page builds are not finished yet; wait for one of them`,
        { headers: { 'Retry-After': '10' } },
      );
    }
    const now = Date.now();
    // Ids follow the clock, so that an id from before a restart is not given again after it.
    this.#lastId = Math.max(this.#lastId + 1, now);
    const { build, ended } = this.#queue.build(scope);
    const entry: Entry = { id: this.#lastId, build, createdAt: new Date(now), finishedAt: null };
    void ended.then(() => (entry.finishedAt = new Date()));
    this.#entries.set(entry.id, entry);
    this.#forget();
    return shown(entry, await build.count());
  }

  /** @returns null for an unknown id: never given, forgotten, or from before the last start. */
  find(id: number): PageBuild | null {
    return this.all().find((build) => build.id === id) ?? null;
  }

  /** The latest first, without those whose pages are not counted yet: no response has their ids. */
  all(): PageBuild[] {
    const entries = [...this.#entries.values()].reverse();
    return entries.flatMap((entry) => {
      const { total } = entry.build;
      return total === null ? [] : [shown(entry, total)];
    });
  }

  #forget(): void {
    for (const { id, finishedAt } of this.#entries.values()) {
      if (this.#entries.size <= MAX_LISTED_BUILDS) return;
      if (finishedAt !== null) this.#entries.delete(id);
    }
  }
}

function shown({ id, build, createdAt, finishedAt }: Entry, total: number): PageBuild {
  const { scope, counts, done, failures } = build;
  return {
    id,
    state: finishedAt !== null ? 'finished' : done > 0 ? 'running' : 'queued',
    stale: scope.stale,
    skus: scope.skus,
    total,
    ...counts,
    failures: [...failures].map(([page, failure]) => ({ page, error: reasonOf(page, failure) })),
    created_at: createdAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
  };
}

/** Clients need not know the paths of this machine; the log has them. */
function reasonOf(page: PageName, { message, systemCode, isPublic }: PageFailure): string {
  if (page === FOLDER) return 'the folder could not be listed';
  if (isPublic) return message;
  return systemCode === null
    ? 'the page could not be rendered'
    : `the page could not be written: ${systemCode}`;
}
