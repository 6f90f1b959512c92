/** Callers that wait until the store has a change set. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Callers that resume in one turn of the event loop: each may write to a connection. */
const WOKEN_PER_TURN = 32;

interface Waiting {
  readonly after: number;
  readonly settle: (arrived: boolean) => void;
}

export class Arrivals {
  readonly #sequence: () => number;
  readonly #waiting = new Set<Waiting>();
  #closed = false;

  /** @param sequence gives the sequence of the last change set. */
  constructor(sequence: () => number) {
    this.#sequence = sequence;
  }

  /** The number of callers that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Whether waiting has ended for good. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Resolves when there is a change set after a sequence.
   *
   * @param milliseconds to wait at most; infinity for no limit.
   * @param signal ends the wait.
   * @returns whether there is one: false if the time is over or the wait was ended.
   */
  past(
    after: number,
    milliseconds = Number.POSITIVE_INFINITY,
    signal?: AbortSignal,
  ): Promise<boolean> {
    if (this.#sequence() > after) return Promise.resolve(true);
    if (this.#closed || milliseconds <= 0 || signal?.aborted === true) {
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const isBounded = milliseconds !== Number.POSITIVE_INFINITY;
      const timer = isBounded ? setTimeout(() => waiting.settle(false), milliseconds) : undefined;
      const onAbort = () => waiting.settle(false);
      const waiting: Waiting = {
        after,
        settle: (arrived) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          this.#waiting.delete(waiting);
          resolve(arrived);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** Call this after a commit: resumes the callers that wait for it, some in each turn. */
  async announce(sequence: number): Promise<void> {
    const due = [...this.#waiting].filter(({ after }) => after < sequence);
    for (const [index, waiting] of due.entries()) {
      if (index > 0 && index % WOKEN_PER_TURN === 0) await nextTurn();
      waiting.settle(true);
    }
  }

  /** Ends all waits; no later wait begins. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting) waiting.settle(false);
  }
}
