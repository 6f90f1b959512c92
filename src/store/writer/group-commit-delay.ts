/**
 * Decides when groups begin. A commit has a high fixed cost: a file, its sync, and the switches
 * between threads. So while requests keep the event loop busy, a group waits a little for the
 * transactions that they submit, as `commit_delay` of PostgreSQL makes it. If the event loop is
 * idle, it does not wait.
 */

/** A group waits at most until this many milliseconds after the beginning of the one before. */
const INTERVAL_MS = 7;

/** A turn of the event loop that takes longer than this, in milliseconds, has done other work. */
const IDLE_TURN_MS = 0.2;

/** The clock, in milliseconds, and the event loop. Tests use their own. */
export interface Loop {
  now(): number;
  turn(): Promise<void>;
}

const EVENT_LOOP: Loop = {
  now: () => performance.now(),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

export class GroupCommitDelay {
  readonly #loop: Loop;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(loop: Loop = EVENT_LOOP) {
    this.#loop = loop;
  }

  /** Resolves when the next group may begin. */
  async wait(): Promise<void> {
    const latest = this.#begunAt + INTERVAL_MS;
    for (let before = this.#loop.now(); before < latest; ) {
      await this.#loop.turn();
      const after = this.#loop.now();
      if (after - before < IDLE_TURN_MS) break;
      before = after;
    }
    this.#begunAt = this.#loop.now();
  }
}
