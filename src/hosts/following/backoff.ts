/** Delays between attempts to connect. They grow, and differ between hosts. */

const FIRST_MS = 100;
/** Half of the default time for which unconfirmed tokens are accepted. */
const MOST_MS = 5000;

export class Backoff {
  readonly #random: () => number;
  #next = FIRST_MS;

  /** @param random from 0 to 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @returns milliseconds to wait before the next attempt, half of them random. */
  delay(): number {
    const delay = this.#next * (0.5 + this.#random() / 2);
    this.#next = Math.min(this.#next * 2, MOST_MS);
    return delay;
  }

  /** Returns to the first delay, after an attempt has succeeded. */
  reset(): void {
    this.#next = FIRST_MS;
  }
}
