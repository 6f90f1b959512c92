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

/** Pages that are written at the same time, between two turns of the event loop. */
const AT_ONCE = 8;

/** A turn that takes others longer than this, in milliseconds, means that there are requests. */
const BUSY = 0.3;

/** How long the queue then leaves the event loop to them, in milliseconds. */
const YIELD = 20;

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
  #queued = new Set<number>();
  /** What was queued when it was last looked at, on its way; what is queued again comes again. */
  #batch: Iterator<number> = [].values();
  #batchLeft = 0;
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
    return this.#queued.size + this.#batchLeft + this.#broken.size;
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
    for (let turn = this.#take(); turn.ids.length > 0; turn = this.#take()) {
      while (!this.#lock.tryLock()) await sleep(LOCK_RETRY);
      try {
        if (this.#sweeping) await this.#files.sweep();
        this.#sweeping = false;
        await Promise.all(turn.ids.map((id) => this.#refresh(id, turn.compare)));
      } finally {
        this.#lock.unlock();
      }
      await yieldToRequests();
    }
  }

  /** The next pages, those that commits queued first; none where there is nothing left. */
  #take(): { readonly ids: readonly number[]; readonly compare: boolean } {
    // Taken as a whole: a set that is emptied one by one from its front is searched again each time.
    if (this.#batchLeft === 0 && this.#queued.size > 0) {
      this.#batch = this.#queued.values();
      this.#batchLeft = this.#queued.size;
      this.#queued = new Set();
    }
    if (this.#batchLeft > 0) {
      const ids = take(this.#batch, AT_ONCE);
      this.#batchLeft -= ids.length;
      return { ids, compare: false };
    }
    return { ids: this.#comparison === null ? [] : take(this.#comparison, AT_ONCE), compare: true };
  }

  /** @param compare whether a page that is as it should be is left alone. */
  async #refresh(id: number, compare: boolean): Promise<void> {
    try {
      const html = renderSku(this.#store, id);
      if (html === null) await this.#files.remove(id);
      else if (!compare || !this.#files.holds(id, html)) await this.#files.write(id, html);
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

/** Lets the event loop turn; while it is busy, pages wait for most of the time. */
async function yieldToRequests(): Promise<void> {
  const before = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  if (performance.now() - before > BUSY) await sleep(YIELD);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function take(values: Iterator<number>, count: number): number[] {
  const taken: number[] = [];
  while (taken.length < count) {
    const step = values.next();
    if (step.done === true) break;
    taken.push(step.value);
  }
  return taken;
}
