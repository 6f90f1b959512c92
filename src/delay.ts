/** Waiting: timers that tests can replace, and pauses that a signal ends. */

/** Calls `work` after a time in milliseconds. @returns a function that cancels the call. */
export type Delay = (work: () => void, milliseconds: number) => () => void;

/** Real time. It does not keep the process alive. */
export const delayed: Delay = (work, milliseconds) => {
  const timer = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timer);
};

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
