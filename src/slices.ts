/**
 * Long work cut into slices, so that the event loop can serve other requests in between.
 *
 * Invariants:
 * 1. In one turn of the event loop, all work under way takes about one slice together, however much
 *    there is. Work that did not run in a turn runs first in the next one.
 * 2. New work need not wait for work under way: short work, such as that of most requests, ends at
 *    once. All work that begins in a turn takes about one more slice together.
 * 3. Work never waits within its slice, so it cannot block other work by waiting.
 */

import { setImmediate as turn } from 'node:timers/promises';

/** Milliseconds of a turn for all work under way together. */
const SLICE_MS = 2;

/** Runs until the deadline, and at least to the next yield. @returns whether the work is over. */
type Job = (until: number) => boolean;

interface Scheduling {
  /** Milliseconds on a clock that does not go back. */
  readonly now: () => number;
  /** Calls `work` in the next turn of the event loop. */
  readonly nextTurn: (work: () => void) => void;
}

/** The work of one event loop. */
export class Slices {
  readonly #now: () => number;
  readonly #nextTurn: (work: () => void) => void;
  /** The first one runs first in the next turn. */
  #waiting: Job[] = [];
  /** Milliseconds that are left in this turn for new work. */
  #left = SLICE_MS;
  #isScheduled = false;

  constructor({ now, nextTurn }: Scheduling) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** See {@link inSlices}. */
  run<T>(work: Generator<unknown, T>, sliceMs = SLICE_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const job = this.#jobOf(work, sliceMs, resolve, reject);
      if (!this.#begin(job)) this.#waiting.push(job);
      this.#schedule();
    });
  }

  /** See {@link inLaterSlices}. */
  runLater<T>(work: Generator<unknown, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(this.#jobOf(work, SLICE_MS, resolve, reject));
      this.#schedule();
    });
  }

  /** @returns whether the job is over. */
  #begin(job: Job): boolean {
    if (this.#left <= 0) return false;
    const begun = this.#now();
    const isOver = job(begun + this.#left);
    this.#left -= this.#now() - begun;
    return isOver;
  }

  /** Schedules a turn even if no job waits: each turn has its own time for new work. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    this.#left = SLICE_MS;
    // Jobs that are added meanwhile have just begun or had their slice: they run in the next turn.
    const due = this.#waiting;
    if (due.length === 0) return;
    this.#waiting = [];
    const end = this.#now() + SLICE_MS;
    const later: Job[] = [];
    let ran = 0;
    for (const job of due) {
      if (!job(end)) later.push(job);
      ran += 1;
      if (this.#now() >= end) break;
    }
    this.#waiting = [...due.slice(ran), ...later, ...this.#waiting];
    if (this.#waiting.length > 0) this.#schedule();
  }

  #jobOf<T>(
    work: Generator<unknown, T>,
    sliceMs: number,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): Job {
    return (until) => {
      try {
        const end = Math.min(until, this.#now() + sliceMs);
        do {
          const step = work.next();
          if (step.done === true) {
            resolve(step.value);
            return true;
          }
        } while (this.#now() < end);
        return false;
      } catch (error) {
        reject(error);
        return true;
      }
    };
  }
}

const SLICES = new Slices({ now: () => performance.now(), nextTurn: setImmediate });

/**
 * Runs a generator to its end, and returns to the event loop between slices of its work.
 *
 * @param work yields wherever it may be interrupted; well under a millisecond between two yields.
 * @param sliceMs milliseconds of one slice; 0 lets the event loop turn at every yield.
 * @returns what the generator returns.
 * @throws what the generator throws.
 */
export function inSlices<T>(work: Generator<unknown, T>, sliceMs?: number): Promise<T> {
  return SLICES.run(work, sliceMs);
}

/**
 * The same, starting in the next turn. For work that resumes after a pause, which would otherwise
 * get two slices of this turn.
 */
export function inLaterSlices<T>(work: Generator<unknown, T>): Promise<T> {
  return SLICES.runLater(work);
}

/**
 * Passes items on, and returns to the event loop whenever their source and their consumer have
 * worked for a slice.
 */
export async function* inTurns<T>(
  items: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  const slice = new Slice();
  for await (const item of items) {
    yield item;
    if (slice.isOver) await slice.next();
  }
}

/** A slice of work that does not run as a generator. */
export class Slice {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Begins the next slice now, because the event loop has just turned. */
  renew(): void {
    this.#end = performance.now() + SLICE_MS;
  }

  /** Returns to the event loop, and begins the next slice. */
  async next(): Promise<void> {
    await turn();
    this.renew();
  }
}

/** Runs a generator to its end at once. @returns what it returns. */
export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
