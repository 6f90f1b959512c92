/**
 * When groups begin. A commit costs much beside its transactions: a file, its sync, and the changes
 * between the threads. So while requests keep the event loop busy, a group waits a little for the
 * transactions that they bring. While nothing else is to be done it waits for nothing.
 */

/** Milliseconds from one group to the next, at most, for which a group waits. */
const INTERVAL_MS = 7;

/** A turn of the event loop that takes longer, in milliseconds, has had something else to do. */
const IDLE_TURN_MS = 0.2;

/** What tells the time, in milliseconds, and lets the event loop turn. Other ones in tests. */
export interface Loop {
  now(): number;
  turn(): Promise<void>;
}

const EVENT_LOOP: Loop = {
  now: () => performance.now(),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

export class Pace {
  readonly #loop: Loop;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(loop: Loop = EVENT_LOOP) {
    this.#loop = loop;
  }

  /** Returns when the next group may begin. */
  async begin(): Promise<void> {
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
