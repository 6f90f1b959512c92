/**
 * Pages in the background. Invariants:
 *
 * 1. When the queue is empty, no page is older than the store. Every commit notes the rows that it
 *    changed, and the pages that show them are made from its state or a later one. Every start
 *    checks all pages: only their stats if the manifest is of the store's state, otherwise what
 *    they are made from. So pages that a crash or a failed write has left old or torn are repaired.
 * 2. A page is made from the rows that are committed when its turn comes: however often a row
 *    changes before that, its pages are queued once. A page that could not be made stays queued.
 * 3. Pages are gathered and written only under the pages' lock, under which every other process
 *    that writes them (rebuild-pages) takes its snapshot. So no page is replaced by an older one.
 * 4. Memory is bounded by the number of rows and pages, not by the number of changes.
 * 5. The event loop is never blocked for long: pages are named and gathered in slices of
 *    {@link SLICE_MS}, and rendered and written in another thread.
 */
import { withTimeout } from '../../delay.ts';
import type { Store } from '../../store/store.ts';
import { SOUGHT_BY_PAGES } from '../shop/catalog.ts';
import type { PageName } from '../shop/names.ts';
import type { PageList } from '../shop/page-list.ts';
import type { PageMaker, PageResult } from '../writer/page-writer.ts';
import { errorOf } from '../writer/page-failure.ts';
import { type PageBatches, SLICE_MS } from './batches.ts';
import { Build, type BuildScope, FOLDER, isOutcome } from './builds.ts';
import { ManifestSaves } from './manifest-saves.ts';
import { PageNaming } from './naming.ts';
import type { PagesLock } from './pages-lock.ts';
import { Retry } from './retry.ts';
import type { PageState } from './served-pages.ts';
import { turn } from './turns.ts';
import { UniqueQueue } from './unique-queue.ts';

/** Pages that are sent to the thread together. */
const BATCH_SIZE = 32;

/**
 * Named pages that may wait. At this limit naming pauses until some are made: in a burst of writes
 * rows change faster than pages are made, and a row that waits is named once for all its changes.
 */
const MAX_NAMED = 1024;

/** Milliseconds without a commit after which pages are made; an import commits more often. */
const QUIET_MS = 200;

/** The share of a drain's time that is reserved for writing the manifest. */
const SAVE_SHARE = 0.1;

export interface QueueOptions {
  readonly store: Store;
  readonly list: PageList;
  readonly batches: PageBatches;
  readonly maker: PageMaker;
  readonly lock: PagesLock;
  /** Milliseconds for which changes are collected while commits keep coming. */
  readonly delay: number;
  /** Called for pages that could not be made; they are retried. */
  readonly onError: (error: unknown) => void;
}

export class PageQueue {
  readonly #options: QueueOptions;
  readonly #naming: PageNaming;
  readonly #waiting = new UniqueQueue<PageName>();
  readonly #builds: { readonly build: Build; readonly finish: () => void }[] = [];
  /** Pages that could not be made and are retried. */
  readonly retry: Retry<PageName>;
  readonly #manifest: ManifestSaves;
  /** Pages that are being made. */
  #inHand = 0;
  /** The number of the last commit noted here; when the latest one came, by performance.now(). */
  #noted: number;
  #notedAt = 0;
  /** Why all pages are to be checked, an object for each reason; null if they were, and are queued. */
  #unchecked: object | null = {};
  /** Whether half-written files of a killed run are still to be removed: no work has begun. */
  #mustSweep = true;
  #isDraining = false;
  /** Whether a build waits for the pages of earlier changes. */
  #isAsked = false;
  #isDrained = false;
  /** Whether the remaining work is left to the next start. */
  #isAbandoned = false;
  #running: Promise<void> | null = null;
  /** Ends a wait for more commits. */
  #wake: () => void = () => {};

  constructor(options: QueueOptions) {
    const { store, maker } = options;
    this.#options = options;
    this.#manifest = new ManifestSaves(maker, this.#report);
    this.#naming = new PageNaming(store, (error) => {
      // Any page may show the rows that could not be read.
      this.#unchecked = {};
      this.retry.failed(FOLDER, error);
    });
    this.#noted = store.sequence;
    this.retry = new Retry(() => this.#start(), this.#report);
    store.onCommit(({ changeSet, changes }) => {
      this.#notedAt = performance.now();
      this.#naming.note(changes, () => (this.#noted = changeSet.sequence));
      this.#start();
    });
  }

  /** Pages that wait or are being made, and rows whose pages are not named yet. */
  get length(): number {
    return this.#naming.size + this.#waiting.size + this.#inHand + this.retry.size;
  }

  /** The same and what builds have still to make or check; at least 1 until the check of a start. */
  get waiting(): number {
    const builds = this.#builds.reduce((sum, { build }) => sum + build.remaining, 0);
    return Math.max(this.length + builds, this.#unchecked === null ? 0 : 1);
  }

  /** Milliseconds that the oldest of {@link length} has waited; 0 if none waits. */
  get oldest(): number {
    return Math.max(this.#naming.age, this.#waiting.age, this.retry.age);
  }

  /** Whether the files are up to date, for readers of pages. */
  get state(): PageState {
    const { sequence } = this.#options.store;
    const isCurrent = this.#unchecked === null && this.#noted === sequence;
    return { isBehind: !isCurrent || this.length > 0, sequence };
  }

  /** Queues a page whose file was lost. */
  mend(name: PageName): void {
    this.#waiting.add(name);
    this.#start();
  }

  /** Checks all pages, as every start must; again after a while if they cannot be listed. */
  compare(): void {
    const { sequence, digest } = this.#options.store;
    const reason = this.#unchecked;
    const { build, ended } = this.build({ stale: true, skus: null, since: { sequence, digest } });
    void ended.then(() => {
      if (build.unlisted !== null) return this.retry.failed(FOLDER, build.unlisted);
      // If there is another reason by now, the retry that is due checks all pages again.
      if (reason !== this.#unchecked) return;
      if (!this.#isAbandoned) this.#unchecked = null;
      this.retry.succeeded(FOLDER);
    });
  }

  /** Queues a build; the pages of commits come first. @returns the build, and its end. */
  build(scope: BuildScope): { readonly build: Build; readonly ended: Promise<void> } {
    const { list, store, maker } = this.#options;
    const build = new Build(scope, list, store, maker);
    const ended = new Promise<void>((finish) => this.#builds.push({ build, finish }));
    this.#isAsked = true;
    this.#wake();
    this.#start();
    return { build, ended };
  }

  /**
   * Makes the queued pages, retries failed ones once and saves the manifest, within `grace`
   * milliseconds. The next start makes the rest.
   */
  async drain(grace: number): Promise<void> {
    const { lock } = this.#options;
    this.#isDraining = true;
    this.retry.end();
    this.#wake();
    const rest = async () => {
      while (this.#running !== null) await this.#running;
    };
    await withTimeout(rest(), grace * (1 - SAVE_SHARE), () => {});
    this.#isAbandoned ||= this.#running !== null;
    for (const { finish } of this.#builds.splice(0)) finish();
    const saving = Math.max(grace * SAVE_SHARE, 100);
    const mustSave = !this.#isAbandoned && !this.#mustSweep;
    // A start that failed has no news: without its mark the next start would read every page.
    if (mustSave) await withTimeout(this.#save(), saving, () => {});
    this.#isDrained = true;
    lock.close();
  }

  get #isIdle(): boolean {
    const queued = this.#waiting.size + this.#naming.size + this.#builds.length;
    return queued + this.retry.due === 0;
  }

  #start(): void {
    if (this.#running !== null || this.#isIdle || this.#isAbandoned) return;
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = null;
        // A commit may have come since the last check.
        this.#start();
      });
  }

  async #run(): Promise<void> {
    await this.#options.store.prepareIndexes(SOUGHT_BY_PAGES);
    while (!this.#isIdle && !this.#isAbandoned) {
      if (!(await this.#step())) this.#isAbandoned = true;
      await turn();
    }
    if (this.#manifest.isDue && !this.#isDraining) await this.#save();
  }

  /** Does one step of the queued work. @returns false if the lock was closed before it. */
  async #step(): Promise<boolean> {
    if (this.#mustSweep) return this.#locked(0, () => this.#sweep());
    const isDue = this.#isDraining || this.#isAsked || this.#dueIn() <= 0;
    if (isDue && this.#naming.begin()) this.#isAsked = false;
    this.#name();
    const names = this.#waiting.take(BATCH_SIZE);
    if (names.length > 0) return this.#locked(names.length, () => this.#make(names));
    if (this.#naming.isUnderWay) return true;
    const [current] = this.#builds;
    if (current !== undefined && !this.#isAsked) return this.#buildSome(current);
    if (this.#naming.size > 0) await this.#moreCommits();
    return true;
  }

  /** Milliseconds until the pages of changed rows are due to be named. */
  #dueIn(): number {
    const quietIn = this.#notedAt + QUIET_MS - performance.now();
    return Math.min(quietIn, this.#options.delay - this.#naming.changesAge);
  }

  async #moreCommits(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await withTimeout(promise, Math.max(this.#dueIn(), 1), () => {});
  }

  /** Names pages that show changed rows, and those that are retried, for at most one slice. */
  #name(): void {
    const begunAt = performance.now();
    while (this.#waiting.size < MAX_NAMED && performance.now() - begunAt < SLICE_MS) {
      const failed = this.retry.take();
      if (failed === FOLDER) this.compare();
      else if (failed !== undefined) this.#waiting.add(failed);
      const found = this.#naming.next();
      if (found === null && failed === undefined) return;
      if (found !== null && found !== 'noted') this.#waiting.add(found.name, found.age);
    }
  }

  async #make(names: readonly PageName[]): Promise<void> {
    const results = await this.#options.batches.attempt(names, false);
    this.#manifest.note(results);
    names.forEach((name, index) => this.#conclude(name, results[index]));
  }

  #conclude(name: PageName, result: PageResult | undefined): void {
    if (result === undefined || isOutcome(result)) this.retry.succeeded(name);
    else this.retry.failed(name, errorOf(name, result));
  }

  async #buildSome({ build, finish }: { build: Build; finish: () => void }): Promise<boolean> {
    const names = await build.take(BATCH_SIZE);
    if (names.length === 0) {
      // The check of a start is retried, which reports it.
      if (build.unlisted !== null && !build.scope.since) this.#report(build.unlisted);
      this.#builds.shift();
      finish();
      return true;
    }
    return this.#locked(names.length, async () => {
      const results = await this.#options.batches.attempt(names, !build.scope.stale);
      this.#manifest.note(results);
      const failed = names.filter((name, index) => !build.add(name, results[index] ?? 'unchanged'));
      // A failed page may be older than the store, so it is retried and reported like any other.
      if (failed.length > 0) await this.#make(failed);
    });
  }

  /** @returns false if the lock was closed before it could be taken. */
  async #locked(pages: number, work: () => Promise<void>): Promise<boolean> {
    this.#inHand = pages;
    const isDone = await this.#options.lock.run(work);
    if (isDone) this.#inHand = 0;
    return isDone;
  }

  /** Files that cannot be removed do no harm: that is reported, and the next start tries again. */
  async #sweep(): Promise<void> {
    this.#mustSweep = false;
    await this.#options.maker.sweep().catch(this.#report);
  }

  /** Saves the manifest, marked with the state of the store if all of its pages are made. */
  async #save(): Promise<void> {
    const { sequence, digest } = this.#options.store;
    await this.#manifest.save(this.state.isBehind ? null : { sequence, digest });
  }

  /** Pages cut off by the end of a drain are not failures: the next start makes them. */
  readonly #report = (error: unknown): void => {
    if (!this.#isDrained) this.#options.onError(error);
  };
}
