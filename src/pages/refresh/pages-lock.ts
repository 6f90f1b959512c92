/** The pages' lock as a server takes it: for each piece of work, without blocking requests. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATA_FILES } from '../../data-files.ts';
import type { FileLock } from '../../disk/lock.ts';

/** Milliseconds between two attempts to take a lock that another process holds. */
const RETRY_MS = 25;

/** Path of the lock file below a data directory. */
export function pagesLockPath(dataDirectory: string): string {
  return join(dataDirectory, DATA_FILES.pagesLock);
}

export class PagesLock {
  readonly #lock: FileLock;
  readonly #onError: (error: unknown) => void;
  #isClosed = false;
  #isHeld = false;
  #isFailing = false;

  /** @param onError called once when the file system begins to refuse locks; see {@link run}. */
  constructor(lock: FileLock, onError: (error: unknown) => void) {
    this.#lock = lock;
    this.#onError = onError;
  }

  /**
   * Does some work while no other process writes pages. While the file system refuses locks, as a
   * network file system may for a time, it waits as it does for another process.
   *
   * @returns false if this was closed before the lock could be taken; then nothing was done.
   */
  async run(work: () => Promise<void>): Promise<boolean> {
    while (!this.#isClosed && !this.#tryLock()) await sleep(RETRY_MS);
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

  #tryLock(): boolean {
    try {
      const isTaken = this.#lock.tryLock();
      this.#isFailing = false;
      return isTaken;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
      return false;
    }
  }

  /** Releases the lock for good: now, or when the work in progress has ended. */
  close(): void {
    this.#isClosed = true;
    if (!this.#isHeld) this.#lock.close();
  }
}
