/**
 * Retries with exponential backoff, for as long as the process runs. An outage is reported at its
 * first round of retries and each time the number of rounds has doubled: a disk that is full for a
 * week gives a dozen lines in the log.
 */
import { backoffDelay } from '../../backoff.ts';
import { type Clock, machineClock } from '../../delay.ts';

const DELAY_MS = { first: 500, longest: 60_000 };

export class Retry<T> {
  readonly #again: (values: readonly T[]) => void;
  readonly #onOutage: (error: unknown) => void;
  readonly #clock: Clock;
  /** Values that wait for a retry. */
  #broken = new Set<T>();
  /** Values that have failed and not succeeded since; without any, there is no outage. */
  readonly #failing = new Set<T>();
  #since = 0;
  /** Cancels the next round; null if none is set. */
  #cancel: (() => void) | null = null;
  /** Rounds since the outage began. */
  #rounds = 0;
  #ended = false;

  /**
   * @param again called with the values to retry.
   * @param onOutage called with one failure of an outage.
   */
  constructor(
    again: (values: readonly T[]) => void,
    onOutage: (error: unknown) => void,
    clock = machineClock,
  ) {
    this.#again = again;
    this.#onOutage = onOutage;
    this.#clock = clock;
  }

  /** Values that wait for a retry, without those that are being retried. */
  get size(): number {
    return this.#broken.size;
  }

  /** Milliseconds since the first of them failed. */
  get age(): number {
    return this.#broken.size === 0 ? 0 : this.#clock.now() - this.#since;
  }

  failed(value: T, error: unknown): void {
    if (this.#rounds === 0) this.#since = this.#clock.now();
    this.#failing.add(value);
    this.#broken.add(value);
    if (this.#cancel !== null || (this.#ended && this.#broken.size > 1)) return;
    this.#rounds += 1;
    const isPowerOfTwo = (this.#rounds & (this.#rounds - 1)) === 0;
    if (isPowerOfTwo || this.#ended) this.#onOutage(error);
    if (this.#ended) return;
    this.#cancel = this.#clock.after(() => this.#next(), backoffDelay(this.#rounds, DELAY_MS));
  }

  /** An outage is over when everything that failed in it has succeeded. */
  succeeded(value: T): void {
    this.#failing.delete(value);
    this.#broken.delete(value);
    if (this.#failing.size > 0) return;
    this.#rounds = 0;
    this.#stop();
  }

  /** Starts no more rounds. @returns the values that wait for a retry. */
  end(): readonly T[] {
    this.#ended = true;
    this.#stop();
    return this.#take();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #next(): void {
    this.#cancel = null;
    this.#again(this.#take());
  }

  #take(): T[] {
    const broken = [...this.#broken];
    this.#broken = new Set();
    return broken;
  }
}
