/**
 * A queue in which owners take turns, so that none of them can hold up the others by waiting many
 * times over.
 *
 * Invariants: one task runs at a time. Between two tasks of one owner, every other owner that waits
 * has a task run.
 */
import { RoundRobin } from './round-robin.ts';

export class FairQueue<Owner> {
  /** What resumes the tasks that wait. */
  readonly #waiting = new RoundRobin<Owner, () => void>();
  #isBusy = false;

  /**
   * Runs a task when its turn comes: at once if nothing runs.
   *
   * @returns what the task returns.
   * @throws what the task throws.
   */
  async run<T>(owner: Owner, task: () => Promise<T>): Promise<T> {
    if (this.#isBusy) {
      await new Promise<void>((resolve) => this.#waiting.add(owner, resolve));
    }
    this.#isBusy = true;
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  /** The queue stays busy while there is a next task, so that no new one overtakes it. */
  #next(): void {
    const resume = this.#waiting.take();
    if (resume === undefined) this.#isBusy = false;
    else resume();
  }
}
