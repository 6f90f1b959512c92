/** Delays between attempts to connect: growing, and not the same on all hosts. */

const FIRST_MS = 100;
/** Half of the time for which tokens pass unconfirmed, unless that was set otherwise. */
const MOST_MS = 5000;

export class Backoff {
  readonly #random: () => number;
  #next = FIRST_MS;

  /** @param random from 0 to 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @returns milliseconds to wait before the next attempt: half of it is by chance. */
  delay(): number {
    const delay = this.#next * (0.5 + this.#random() / 2);
    this.#next = Math.min(this.#next * 2, MOST_MS);
    return delay;
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#next = FIRST_MS;
  }
}
