/** The pages' lock, as a server takes it: again and again, without blocking its requests. */
import { join } from 'node:path';
import type { FileLock } from '../../disk/lock.ts';
import { sleep } from './turns.ts';

/** Milliseconds until a lock that another process holds is asked for again. */
const RETRY_MS = 25;

/** Path of the lock file below a data directory. */
export function pagesLockPath(dataDirectory: string): string {
  return join(dataDirectory, 'pages.lock');
}

export class PagesLock {
  readonly #lock: FileLock;
  #isClosed = false;
  #isHeld = false;

  constructor(lock: FileLock) {
    this.#lock = lock;
  }

  /**
   * Does some work while no other process writes pages.
   *
   * @param deadline until when the lock is asked for, by performance.now(); read each time.
   * @returns false if the lock could not be taken in time; then nothing was done.
   */
  async run(work: () => Promise<void>, deadline: () => number): Promise<boolean> {
    while (!this.#isClosed && !this.#lock.tryLock()) {
      if (performance.now() > deadline()) return false;
      await sleep(RETRY_MS);
    }
    if (this.#isClosed) return false;
    this.#isHeld = true;
    try {
      await work();
      return true;
    } finally {
      this.#isHeld = false;
      if (this.#isClosed) this.#lock.close();
      else this.#lock.unlock();
    }
  }

  /** Gives the lock back for good: now, or when the work under way has ended. */
  close(): void {
    this.#isClosed = true;
    if (!this.#isHeld) this.#lock.close();
  }
}
