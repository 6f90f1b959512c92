/**
 * A bounded queue in which owners take turns, so that none of them can keep the others out by
 * waiting many times over.
 *
 * Invariants: at most `atOnce` tasks run, and at most `waiting` tasks wait. Between two tasks of
 * one owner, every other owner that waits has a task begun; those of one owner begin in order. If
 * as many tasks wait as may, a further one takes the place of the last task of the owner with the
 * most, provided that this owner still has at least as many left as its own.
 */
import { throttled } from './attempts.ts';

export interface TurnsOptions {
  /** Tasks that run at a time. */
  readonly atOnce: number;
  /** Tasks that may wait. */
  readonly waiting: number;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

export class Turns {
  readonly #options: TurnsOptions;
  /** The first owner is the next one; no list is empty. */
  readonly #waiting = new Map<string, Waiting[]>();
  #running = 0;
  #count = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /**
   * Runs a task when its turn comes: at once if fewer than `atOnce` run.
   *
   * @returns what the task returns.
   * @throws CatalogError `login_throttled` if too many tasks wait; and what the task throws.
   */
  async run<T>(owner: string, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#options.atOnce) this.#running += 1;
    else await this.#turnOf(owner);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  #turnOf(owner: string): Promise<void> {
    if (this.#count >= this.#options.waiting) this.#makeRoom(owner);
    this.#count += 1;
    return new Promise((begin, refuse) => {
      const tasks = this.#waiting.get(owner);
      if (tasks === undefined) this.#waiting.set(owner, [{ begin, refuse }]);
      else tasks.push({ begin, refuse });
    });
  }

  #makeRoom(owner: string): void {
    const own = this.#waiting.get(owner)?.length ?? 0;
    const most = [...this.#waiting.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    if (most.length <= own + 1) throw throttled(1);
    most.pop()?.refuse(throttled(1));
    this.#count -= 1;
  }

  /** A task that ends hands its place to the next one, so that no new one overtakes it. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [owner, tasks] = next;
    const task = tasks.shift();
    this.#waiting.delete(owner);
    if (tasks.length > 0) this.#waiting.set(owner, tasks);
    this.#count -= 1;
    task?.begin();
  }
}
