/**
 * Pages in the background.
 *
 * Invariants:
 * 1. At rest no page is older than the store: every commit queues the pages that show what it
 *    changed, and every start compares all pages with the store, so that a crash between a commit
 *    and its pages, or power loss, leaves nothing behind.
 * 2. A page is rendered from committed rows as they are when its turn comes: however often a row
 *    changes meanwhile, its pages are queued once.
 * 3. Pages are written only under the pages' lock. Whoever else writes them (rebuild-pages) takes
 *    its snapshot under the lock as well, and so cannot put back an older page.
 */
import { join } from 'node:path';
import type { FileLock } from '../disk/lock.ts';
import type { Store } from '../store/store.ts';
import { affectedSkus } from './dependents.ts';
import type { PageFiles } from './files.ts';
import { renderSku } from './render.ts';

/** Milliseconds of work between two turns of the event loop. */
const SLICE = 1;

/** A turn that takes others longer than this, in milliseconds, means that there are requests. */
const BUSY = 0.3;

/** How many times its own slice the queue then leaves to them. */
const YIELD = 9;

/** Milliseconds until a lock that another process holds is asked for again. */
const LOCK_RETRY = 25;

/** Milliseconds until failed pages are tried again: the first time, and at most. */
const RETRY = { first: 500, longest: 60_000 };

/** Path of the lock file below a data directory. */
export function pagesLockPath(dataDirectory: string): string {
  return join(dataDirectory, 'pages.lock');
}

export class PageQueue {
  readonly #store: Store;
  readonly #files: PageFiles;
  readonly #lock: FileLock;
  readonly #failed: (error: unknown) => void;
  readonly #queued = new Set<number>();
  readonly #broken = new Set<number>();
  #comparison: Iterator<number> | null = null;
  /** Whether half-written files of a killed run are still to be cleared away. */
  #sweeping = false;
  #running: Promise<void> | null = null;
  #retryDelay = RETRY.first;
  #retryTimer: ReturnType<typeof setTimeout> | null = null;

  /** @param failed is told of a page that could not be made; it is tried again. */
  constructor(store: Store, files: PageFiles, lock: FileLock, failed: (error: unknown) => void) {
    this.#store = store;
    this.#files = files;
    this.#lock = lock;
    this.#failed = failed;
    store.onCommit((changes) => this.add(affectedSkus(store, changes)));
  }

  /** Pages that wait, not counting those that the comparison at start has yet to reach. */
  get length(): number {
    return this.#queued.size + this.#broken.size;
  }

  add(skus: Iterable<number>): void {
    for (const id of skus) this.#queued.add(id);
    this.#start();
  }

  /** Compares every page with the store, behind whatever commits queue. */
  compareAll(): void {
    this.#comparison = this.#everything();
    this.#sweeping = true;
    this.#start();
  }

  /** Waits until nothing is queued; what fails now is told and left to the next start. */
  async drain(): Promise<void> {
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    this.#requeueBroken();
    while (this.#running !== null) await this.#running;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#lock.close();
  }

  #start(): void {
    if (this.#running !== null) return;
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = null;
        // A commit may have queued between the last look and here.
        if (this.#queued.size > 0) this.#start();
      });
  }

  async #run(): Promise<void> {
    for (let id = this.#next(); id !== null; ) {
      if (!this.#lock.tryLock()) {
        await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY));
        continue;
      }
      try {
        if (this.#sweeping) await this.#files.sweep();
        this.#sweeping = false;
        const until = performance.now() + SLICE;
        for (; id !== null; id = this.#next()) {
          await this.#refresh(id);
          if (performance.now() > until) {
            id = this.#next();
            break;
          }
        }
      } finally {
        this.#lock.unlock();
      }
      await yieldToRequests();
    }
  }

  #next(): number | null {
    const [queued] = this.#queued;
    if (queued !== undefined) {
      this.#queued.delete(queued);
      return queued;
    }
    const step = this.#comparison?.next();
    if (step === undefined) return null;
    if (step.done !== true) return step.value;
    this.#comparison = null;
    return null;
  }

  async #refresh(id: number): Promise<void> {
    try {
      const html = renderSku(this.#store, id);
      if (html === null) await this.#files.remove(id);
      else if (!this.#files.holds(id, html)) await this.#files.write(id, html);
      this.#retryDelay = RETRY.first;
    } catch (error) {
      this.#broken.add(id);
      if (this.#retryTimer === null) this.#retryLater(error);
    }
  }

  #retryLater(error: unknown): void {
    this.#failed(error);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      this.#requeueBroken();
    }, this.#retryDelay);
    this.#retryDelay = Math.min(this.#retryDelay * 2, RETRY.longest);
  }

  #requeueBroken(): void {
    const broken = [...this.#broken];
    this.#broken.clear();
    if (broken.length > 0) this.add(broken);
  }

  /** Ids of all SKUs, then of the pages that have none. */
  *#everything(): Generator<number> {
    for (let id = 1; id <= this.#store.lastId('skus'); id += 1) {
      if (this.#store.get('skus', id) !== undefined) yield id;
    }
    for (const id of this.#files.ids()) {
      if (this.#store.get('skus', id) === undefined) yield id;
    }
  }
}

/** Lets the event loop turn; while it is busy, pages get a tenth of its time. */
async function yieldToRequests(): Promise<void> {
  const before = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  if (performance.now() - before < BUSY) return;
  await new Promise((resolve) => setTimeout(resolve, SLICE * YIELD));
}
