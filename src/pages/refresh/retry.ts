/**
 * What has failed is tried again: soon at first, then less and less often, but for as long as the
 * process runs, since nobody else would do it before the next start. An outage is reported at its
 * first round of tries and at every one that doubles their number, so that a full disk of a week
 * gives a dozen lines and not a hundred thousand.
 */

/** Milliseconds until the next try: the first time, and at most. */
const DELAY = { first: 500, longest: 60_000 };

/** Time, for tests to stop. */
export interface Clock {
  /** Milliseconds of any clock that only goes forward. */
  now(): number;
  /** @returns what takes it back. */
  after(milliseconds: number, run: () => void): () => void;
}

const machineClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

export class Retry<T> {
  readonly #again: (values: readonly T[]) => void;
  readonly #report: (error: unknown) => void;
  readonly #clock: Clock;
  #broken = new Set<T>();
  /** What was broken and has its turn again. */
  readonly #tried = new Set<T>();
  #since = 0;
  /** Takes the next round back; null where none is set. */
  #cancel: (() => void) | null = null;
  #delay = DELAY.first;
  /** Rounds since the outage began. */
  #rounds = 0;
  #ended = false;

  /**
   * @param again is given what is to be tried again.
   * @param report is told of an outage, by one of its failures.
   */
  constructor(
    again: (values: readonly T[]) => void,
    report: (error: unknown) => void,
    clock = machineClock,
  ) {
    this.#again = again;
    this.#report = report;
    this.#clock = clock;
  }

  /** How many wait to be tried again, without those that have their turn. */
  get size(): number {
    return this.#broken.size;
  }

  /** Milliseconds since the first of them failed. */
  get age(): number {
    return this.#broken.size === 0 ? 0 : this.#clock.now() - this.#since;
  }

  failed(value: T, error: unknown): void {
    if (this.#rounds === 0) this.#since = this.#clock.now();
    this.#tried.delete(value);
    this.#broken.add(value);
    if (this.#cancel !== null || (this.#ended && this.#broken.size > 1)) return;
    this.#rounds += 1;
    const isPowerOfTwo = (this.#rounds & (this.#rounds - 1)) === 0;
    if (isPowerOfTwo || this.#ended) this.#report(error);
    if (this.#ended) return;
    this.#cancel = this.#clock.after(this.#delay, () => this.#next());
    this.#delay = Math.min(this.#delay * 2, DELAY.longest);
  }

  /** An outage is over when all that has failed in it has succeeded. */
  succeeded(value: T): void {
    if (this.#rounds === 0) return;
    this.#tried.delete(value);
    this.#broken.delete(value);
    if (this.#tried.size + this.#broken.size > 0) return;
    this.#rounds = 0;
    this.#delay = DELAY.first;
  }

  /** No more tries of its own. @returns what is still broken. */
  end(): readonly T[] {
    this.#ended = true;
    this.#cancel?.();
    this.#cancel = null;
    return this.#take();
  }

  #next(): void {
    this.#cancel = null;
    this.#again(this.#take());
  }

  #take(): T[] {
    const broken = [...this.#broken];
    this.#broken = new Set();
    for (const value of broken) this.#tried.add(value);
    return broken;
  }
}
