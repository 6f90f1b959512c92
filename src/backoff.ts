/** Delays between attempts that fail: they double, up to a maximum (exponential backoff). */

/** Milliseconds. */
export interface DelayRange {
  readonly first: number;
  readonly longest: number;
}

/**
 * @param failures in a row, at least 1.
 * @returns milliseconds to wait before the next attempt.
 */
export function backoffDelay(failures: number, { first, longest }: DelayRange): number {
  return Math.min(first * 2 ** (failures - 1), longest);
}

/**
 * @param chance from 0 to 1.
 * @returns the delay, half of it random, so that several processes do not retry at once.
 */
export function withJitter(milliseconds: number, chance: number): number {
  return milliseconds * (0.5 + chance / 2);
}

/** The longest delay is half of the default time for which unconfirmed tokens are accepted. */
const RANGE_MS: DelayRange = { first: 100, longest: 5000 };

/** Delays between attempts to reach another process. They differ between processes. */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  /** @param random from 0 to 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Counts a failure. @returns milliseconds to wait before the next attempt, half of them random. */
  delay(): number {
    this.#failures += 1;
    return withJitter(backoffDelay(this.#failures, RANGE_MS), this.#random());
  }

  /** Returns to the first delay, after an attempt has succeeded. */
  reset(): void {
    this.#failures = 0;
  }
}
