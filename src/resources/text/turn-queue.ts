/** Lets a few of many senders run in each turn of the event loop, so that others are served. */

/** Pieces of 64 KiB that are sent in one turn, at most: about a millisecond of work. */
const PER_TURN = 16;

export class TurnQueue {
  readonly #perTurn: number;
  #waiting: (() => void)[] = [];

  constructor(perTurn = PER_TURN) {
    this.#perTurn = perTurn;
  }

  /** Resolves in a later turn of the event loop, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#schedule();
    });
  }

  #schedule(): void {
    setImmediate(() => {
      const due = this.#waiting.slice(0, this.#perTurn);
      this.#waiting = this.#waiting.slice(this.#perTurn);
      for (const resolve of due) resolve();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
