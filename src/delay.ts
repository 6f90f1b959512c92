/** Waiting: timers that tests can replace, pauses and loops that a signal ends, timeouts. */

/** Calls `work` after a time in milliseconds. @returns a function that cancels the call. */
export type Delay = (work: () => void, milliseconds: number) => () => void;

/** Real time. It does not keep the process alive. */
export const delayed: Delay = (work, milliseconds) => {
  const timer = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timer);
};

/** A clock and its timers; tests inject their own. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  readonly after: Delay;
}

export const machineClock: Clock = { now: () => performance.now(), after: delayed };

/**
 * Resolves after a time, or when the signal aborts: at once if it has.
 *
 * @param milliseconds may be infinite.
 */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const isBounded = milliseconds !== Number.POSITIVE_INFINITY;
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = isBounded ? setTimeout(end, milliseconds) : undefined;
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Does work again and again, with pauses, until the signal aborts.
 *
 * @param milliseconds between two runs.
 * @param onError is called with the first of several failures in a row.
 * @returns when the last run has ended. Never rejects.
 */
export async function repeat(
  work: () => Promise<void>,
  milliseconds: number,
  signal: AbortSignal,
  onError: (error: unknown) => void = () => {},
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    }
    await pause(milliseconds, signal);
  }
}

/**
 * Waits for work, for at most a time. The work goes on if the wait ends before it.
 *
 * @param milliseconds at most 2^31 - 1, or infinite.
 * @param late is called when the time is over, or the signal aborts; it returns the result, or
 *   throws.
 * @param signal ends the wait early.
 * @returns the result of the work, or that of `late`.
 * @throws what the work rejects with, and what `late` throws.
 */
export async function withTimeout<T, L>(
  work: Promise<T>,
  milliseconds: number,
  late: () => L,
  signal?: AbortSignal,
): Promise<T | L> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const isBounded = milliseconds !== Number.POSITIVE_INFINITY;
  const timer = isBounded ? setTimeout(end, milliseconds) : undefined;
  signal?.addEventListener('abort', end);
  if (signal?.aborted === true) end();
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    // Otherwise the timer would keep a process alive that is about to end.
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
