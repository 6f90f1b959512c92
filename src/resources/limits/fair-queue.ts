/**
 * A queue in which owners take turns, so that none of them can hold up the others by waiting many
 * times over.
 *
 * Invariants: one task runs at a time. Between two tasks of one owner, every other owner that waits
 * has a task run.
 */
export class FairQueue<Owner> {
  /** What resumes the tasks that wait. The first owner is the next one; no list is empty. */
  readonly #waiting = new Map<Owner, (() => void)[]>();
  #isBusy = false;

  /**
   * Runs a task when its turn comes: at once if nothing runs.
   *
   * @returns what the task returns.
   * @throws what the task throws.
   */
  async run<T>(owner: Owner, task: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#turn(owner);
    this.#isBusy = true;
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  #turn(owner: Owner): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(owner);
      if (waiting === undefined) this.#waiting.set(owner, [resolve]);
      else waiting.push(resolve);
    });
  }

  /** The queue stays busy while there is a next task, so that no new one overtakes it. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#isBusy = false;
      return;
    }
    const [owner, waiting] = next;
    const resume = waiting.shift();
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    resume?.();
  }
}
