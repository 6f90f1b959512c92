/** The signals that stop a server (spec 8.9). */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Exit statuses of a process that a signal ends at once: 128 and the number of the signal. */
const STATUSES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Milliseconds that requests under way have to be answered after a signal. */
export const REQUESTS_GRACE_MS = 10_000;

type StopSignal = keyof typeof STATUSES;

/**
 * Milliseconds within which a second SIGINT or SIGHUP counts as a copy of the first: a terminal
 * sends it to every foreground process, and npm, Bun or a shell passes it on to its children.
 */
const REPEATED_SIGNAL_MS = 20;

/** The part of `process` that is used here. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  exit(status: number): void;
}

/**
 * Resolves at the first signal. A second one ends the process at once.
 *
 * @param now milliseconds of a clock that never goes back.
 */
export function firstSignal(
  source: SignalSource = process,
  now: () => number = performance.now.bind(performance),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const listen = (signal: StopSignal, repeatedWithin: number) =>
      source.on(signal, () => {
        if (first !== null && now() - first > repeatedWithin) source.exit(STATUSES[signal]);
        first ??= now();
        resolve();
      });
    listen('SIGTERM', 0);
    listen('SIGINT', REPEATED_SIGNAL_MS);
    listen('SIGHUP', REPEATED_SIGNAL_MS);
  });
}

/**
 * A step of a start that a signal may make fail: if all processes of a server get it, as from systemd
 * or a terminal, workers that have just begun do not ignore it yet, and end.
 *
 * @param stop resolves at the signal.
 * @returns what the step returns; null if it fails and the signal has come.
 * @throws what the step throws.
 */
export async function unlessStopped<T>(stop: Promise<void>, step: Promise<T>): Promise<T | null> {
  let isStopped = false;
  void stop.then(() => {
    isStopped = true;
  });
  try {
    return await step;
  } catch (error) {
    // This process may hear of the end of a worker before its own signal.
    await nextTurn();
    if (isStopped) return null;
    throw error;
  }
}
