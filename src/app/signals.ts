/** The signals that stop a server (spec 8.9). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../delay.ts';

/** Exit statuses of a process that a signal ends at once: 128 and the number of the signal. */
const STATUSES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Milliseconds that requests under way have to be answered after a signal. */
export const REQUESTS_GRACE_MS = 10_000;

type StopSignal = keyof typeof STATUSES;

/**
 * Milliseconds within which a second SIGINT or SIGHUP counts as a copy of the first: a terminal
 * sends it to every foreground process, and npm, Bun or a shell passes it on to its children.
 */
export const REPEATED_SIGNAL_MS = 20;

/** The part of `process` that is used here. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  exit(status: number): void;
}

/**
 * Calls `stop` at the first signal. A second one ends the process at once.
 *
 * @param now milliseconds of a clock that never goes back.
 */
export function onStopSignal(
  stop: () => void,
  source: SignalSource = process,
  now: () => number = performance.now.bind(performance),
): void {
  let first: number | null = null;
  const listen = (signal: StopSignal, repeatedWithin: number) =>
    source.on(signal, () => {
      if (first !== null && now() - first > repeatedWithin) source.exit(STATUSES[signal]);
      first ??= now();
      stop();
    });
  listen('SIGTERM', 0);
  listen('SIGINT', REPEATED_SIGNAL_MS);
  listen('SIGHUP', REPEATED_SIGNAL_MS);
}

/**
 * Waits for the start of a server, unless it is stopped: whatever the start waits for, such as
 * another host that is silent, must not delay its end.
 *
 * @returns what the start returns; null if it is stopped first. The start then goes on until the
 *   process ends.
 * @throws what the start throws, unless it is stopped: if all processes of a server get the signal,
 *   as from systemd or a terminal, workers that have just begun do not ignore it yet, and end.
 */
export async function unlessStopped<T>(stop: AbortSignal, start: Promise<T>): Promise<T | null> {
  const stopped = pause(Number.POSITIVE_INFINITY, stop).then(() => null);
  try {
    return await Promise.race([stopped, start]);
  } catch (error) {
    // This process may hear of the end of a worker before its own signal.
    await nextTurn();
    if (stop.aborted) return null;
    throw error;
  }
}
