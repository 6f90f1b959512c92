/**
 * Retries with exponential backoff, for as long as the process runs. An outage is reported at its
 * first round of retries and each time the number of rounds has doubled: a disk that is full for a
 * week gives a dozen lines in the log.
 *
 * In an outage every page may fail. So the values of a round are taken one by one, and they are in
 * sharded maps.
 */
import { backoffDelay } from '../../backoff.ts';
import { type Clock, machineClock } from '../../delay.ts';
import { ShardedMap } from '../../store/memory/maps/sharded-map.ts';

const DELAY_MS = { first: 500, longest: 60_000 };

export class Retry<T extends string> {
  readonly #onRound: () => void;
  readonly #onOutage: (error: unknown) => void;
  readonly #clock: Clock;
  /** Values that wait for the next round. */
  #broken = new ShardedMap<T, true>();
  /** Values that have failed and not succeeded since; without any, there is no outage. */
  readonly #failing = new ShardedMap<T, true>();
  #since = 0;
  /** Cancels the next round; null if none is set. */
  #cancel: (() => void) | null = null;
  /** Rounds since the outage began. */
  #rounds = 0;
  /** The values of the round under way, and how many of them are not taken yet. */
  #round: Iterator<T> = [].values();
  #left = 0;
  /** Whether another round is due when that is over. */
  #isDue = false;
  #hasEnded = false;
  #isEndReported = false;

  /**
   * @param onRound called when values are to be taken.
   * @param onOutage called with one failure of an outage.
   */
  constructor(onRound: () => void, onOutage: (error: unknown) => void, clock = machineClock) {
    this.#onRound = onRound;
    this.#onOutage = onOutage;
    this.#clock = clock;
  }

  /** Values that have failed and not been taken since. */
  get size(): number {
    return this.#broken.size + this.#left;
  }

  /** Of these, the values to be taken now. */
  get due(): number {
    return this.#left + (this.#isDue ? this.#broken.size : 0);
  }

  /** Milliseconds since the first of them failed. */
  get age(): number {
    return this.size === 0 ? 0 : this.#clock.now() - this.#since;
  }

  failed(value: T, error: unknown): void {
    if (this.#rounds === 0) this.#since = this.#clock.now();
    this.#failing.set(value, true);
    this.#broken.set(value, true);
    if (this.#cancel !== null || this.#isEndReported) return;
    this.#isEndReported = this.#hasEnded;
    this.#rounds += 1;
    const isPowerOfTwo = (this.#rounds & (this.#rounds - 1)) === 0;
    if (isPowerOfTwo || this.#hasEnded) this.#onOutage(error);
    if (this.#hasEnded) return;
    this.#cancel = this.#clock.after(() => this.#begin(), backoffDelay(this.#rounds, DELAY_MS));
  }

  /** An outage is over when everything that failed in it has succeeded. */
  succeeded(value: T): void {
    this.#failing.delete(value);
    this.#broken.delete(value);
    if (this.#failing.size > 0) return;
    this.#rounds = 0;
    this.#stop();
  }

  /** @returns the next value to retry; undefined if none is due. */
  take(): T | undefined {
    if (this.#left === 0 && this.#isDue) this.#next();
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return this.#round.next().value;
  }

  /** Begins a last round, with all values that have failed so far. */
  end(): void {
    this.#hasEnded = true;
    this.#stop();
    this.#begin();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #begin(): void {
    this.#cancel = null;
    if (this.#left === 0) this.#next();
    else this.#isDue = true;
    this.#onRound();
  }

  #next(): void {
    this.#isDue = false;
    this.#round = this.#broken.keys();
    this.#left = this.#broken.size;
    this.#broken = new ShardedMap();
  }
}
