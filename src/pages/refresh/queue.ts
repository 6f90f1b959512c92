/**
 * Pages in the background.
 *
 * Invariants:
 * 1. At rest no page is older than the store: every commit queues the pages that show what it
 *    changed, and every start compares all pages with the store, so that a crash between a commit
 *    and its pages, a failed write, or power loss, which may leave a page old, torn or empty,
 *    leaves nothing behind. Temporary files of a killed run go with the comparison.
 * 2. A page is made from committed rows as they are when its turn comes: however often a row
 *    changes meanwhile, its pages are queued once. A page that could not be made stays queued.
 * 3. Pages are written only under the pages' lock. Whoever else writes them (rebuild-pages) takes
 *    its snapshot under the lock as well, and so cannot put back an older page.
 * 4. Memory is bounded by the pages and rows that there are, not by the changes: what waits are
 *    names of pages, each once, and rows whose pages are yet to be named, each once.
 */
import { join } from 'node:path';
import type { FileLock } from '../../disk/lock.ts';
import { messageOf } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import type { Change } from '../../model/change.ts';
import { Build, type BuildScope, FOLDER, refresh, refreshFor } from './builds.ts';
import { affectedBy, type FanOut, pagesOf } from './dependents.ts';
import type { PageFiles } from './files.ts';
import type { PageName } from '../shop/names.ts';
import { Retry } from './retry.ts';
import type { Site } from '../shop/site.ts';
import { UniqueQueue } from './unique-queue.ts';

/** Pages that are written at the same time, between two turns of the event loop. */
const MAX_CONCURRENT_PAGES = 8;

/** Names of pages that are found between two turns of the event loop. */
const MAX_NAMES_PER_TURN = 500;

/** A turn that takes others longer than this, in milliseconds, means that there are requests. */
const BUSY_TURN_MS = 0.3;

/** How long the queue then leaves the event loop to them, in milliseconds. */
const YIELD_MS = 20;

/** Milliseconds until a lock that another process holds is asked for again. */
const LOCK_RETRY_MS = 25;

/** Path of the lock file below a data directory. */
export function pagesLockPath(dataDirectory: string): string {
  return join(dataDirectory, 'pages.lock');
}

export class PageQueue {
  readonly #store: Store;
  readonly #site: Site;
  readonly #files: PageFiles;
  readonly #lock: FileLock;
  readonly #waiting = new UniqueQueue<PageName>();
  /** Rows that many pages show, and what is left to be named of the one that was begun. */
  readonly #fans = new UniqueQueue<FanOut>();
  #expanding: Iterator<PageName> | null = null;
  readonly #builds: { readonly build: Build; readonly finish: () => void }[] = [];
  readonly #retry: Retry<PageName>;
  /** Pages that are being made. */
  #inHand = 0;
  readonly #failed: (error: unknown) => void;
  /** Whether half-written files of a killed run are still to be cleared away. */
  #sweeping = true;
  /** When what is left is left to the next start; by performance.now(). */
  #deadline = Number.POSITIVE_INFINITY;
  #abandoned = false;
  #running: Promise<void> | null = null;

  /** @param failed is told of pages that could not be made; they are tried again. */
  constructor(
    store: Store,
    site: Site,
    files: PageFiles,
    lock: FileLock,
    failed: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#site = site;
    this.#files = files;
    this.#lock = lock;
    this.#failed = failed;
    this.#retry = new Retry((names) => this.#add(names), failed);
    store.onCommit(({ changes }) => this.#follow(changes));
  }

  /** Pages that wait or are being made, and rows whose pages are yet to be named; 0 at rest. */
  get length(): number {
    const naming = this.#fans.size + (this.#expanding === null ? 0 : 1);
    return this.#waiting.size + this.#inHand + naming + this.#retry.size;
  }

  /** Milliseconds that the oldest of them has waited; 0 where none waits. */
  get oldest(): number {
    return Math.max(this.#waiting.age, this.#fans.age, this.#retry.age);
  }

  /** Queues a build behind whatever commits queue. @returns the build, and its end. */
  build(scope: BuildScope): { readonly build: Build; readonly ended: Promise<void> } {
    const build = new Build(scope, this.#site, this.#store, this.#files);
    const ended = new Promise<void>((finish) => this.#builds.push({ build, finish }));
    this.#start();
    return { build, ended };
  }

  /**
   * Makes what is queued, and tries again what has failed, once. Builds go on for at most `grace`
   * milliseconds, and as long is waited for a lock that another process holds: the next start
   * compares all pages in any case.
   */
  async drain(grace: number): Promise<void> {
    this.#deadline = performance.now() + grace;
    const cut = setTimeout(() => this.#builds.splice(0).forEach(({ finish }) => finish()), grace);
    this.#add(this.#retry.end());
    while (this.#running !== null) await this.#running;
    clearTimeout(cut);
    this.#retry.end();
    this.#lock.close();
  }

  #follow(changes: readonly Change[]): void {
    for (const change of changes) {
      const { pages, fans } = affectedBy(this.#store, change);
      for (const name of pages) this.#waiting.add(name);
      for (const fan of fans) this.#fans.add(fan);
    }
    this.#start();
  }

  #add(names: Iterable<PageName>): void {
    for (const name of names) this.#waiting.add(name);
    this.#start();
  }

  get #idle(): boolean {
    const { size } = this.#waiting;
    const naming = this.#fans.size > 0 || this.#expanding !== null;
    return size === 0 && !naming && this.#builds.length === 0;
  }

  #start(): void {
    if (this.#running !== null || this.#idle || this.#abandoned) return;
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = null;
        // A commit may have queued between the last look and here.
        this.#start();
      });
  }

  async #run(): Promise<void> {
    while (!this.#idle) {
      this.#name();
      const names = this.#waiting.take(MAX_CONCURRENT_PAGES);
      const [current] = names.length > 0 ? [] : this.#builds;
      const built = current === undefined ? [] : await this.#takeFor(current.build);
      if (current !== undefined && built.length === 0) this.#finishBuild();
      this.#inHand = names.length + built.length;
      if (this.#inHand > 0) {
        const made = await this.#locked(async () => {
          await Promise.all(names.map((name) => this.#make(name)));
          await Promise.all(built.map((name) => this.#makeFor(current?.build as Build, name)));
        });
        if (!made) {
          this.#abandoned = true;
          return;
        }
        this.#inHand = 0;
      }
      await yieldToRequests();
    }
  }

  /** Finds the names of some of the pages that show a row. */
  #name(): void {
    for (let named = 0; named < MAX_NAMES_PER_TURN; ) {
      this.#expanding ??= this.#nextFan();
      if (this.#expanding === null) return;
      const step = this.#expanding.next();
      if (step.done === true) {
        this.#expanding = null;
        continue;
      }
      this.#waiting.add(step.value);
      named += 1;
    }
  }

  #nextFan(): Iterator<PageName> | null {
    const [fan] = this.#fans.take(1);
    return fan === undefined ? null : pagesOf(this.#store, fan);
  }

  #finishBuild(): void {
    this.#builds.shift()?.finish();
  }

  /** @returns false where the lock was not to be had in time. */
  async #locked(work: () => Promise<void>): Promise<boolean> {
    while (!this.#lock.tryLock()) {
      if (performance.now() > this.#deadline) return false;
      await sleep(LOCK_RETRY_MS);
    }
    try {
      if (this.#sweeping) await this.#sweep();
      await work();
      return true;
    } finally {
      this.#lock.unlock();
    }
  }

  /** What cannot be cleared away does no harm to pages: it is told, and left to the next start. */
  async #sweep(): Promise<void> {
    this.#sweeping = false;
    try {
      await this.#files.sweep();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #make(name: PageName): Promise<void> {
    try {
      await refresh(this.#site, this.#store, this.#files, name, false);
      this.#retry.succeeded(name);
    } catch (error) {
      this.#retry.failed(name, new Error(`${name}: ${messageOf(error)}`, { cause: error }));
    }
  }

  async #takeFor(build: Build): Promise<PageName[]> {
    const names = await build.take(MAX_CONCURRENT_PAGES);
    const unlisted = names.length === 0 ? build.failures.get(FOLDER) : undefined;
    if (unlisted !== undefined) this.#failed(new Error(`${FOLDER}: ${messageOf(unlisted)}`));
    return names;
  }

  /** A page that a build could not make may be older than the store: it is tried again, and told. */
  async #makeFor(build: Build, name: PageName): Promise<void> {
    const before = build.counts.failed;
    await refreshFor(build, this.#site, this.#store, this.#files, name);
    if (build.counts.failed > before) await this.#make(name);
  }
}

/** Lets the event loop turn; while it is busy, pages wait for most of the time. */
async function yieldToRequests(): Promise<void> {
  const before = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  if (performance.now() - before > BUSY_TURN_MS) await sleep(YIELD_MS);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
