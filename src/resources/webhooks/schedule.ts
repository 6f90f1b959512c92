/** When a delivery that has failed is tried again (spec 14.7). */
import { backoffDelay } from '../../backoff.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;

const FIRST_DELAY_MS = 2 * SECOND_MS;
export const MAX_DELAY_MS = HOUR_MS;

/**
 * Milliseconds for which failing deliveries are retried; then the webhook is deactivated. The time
 * between two attempts counts only up to the longest delay.
 */
export const GIVE_UP_MS = 72 * HOUR_MS;

/** The random share of a delay, so that many receivers are not called at once. */
const JITTER = 0.2;

/**
 * Each delay is twice the one before, up to an hour.
 *
 * @param failures in a row, at least 1.
 * @param chance from 0 to 1.
 * @returns milliseconds.
 */
export function retryDelay(failures: number, chance = Math.random()): number {
  const delay = backoffDelay(failures, { first: FIRST_DELAY_MS, longest: MAX_DELAY_MS });
  return Math.round(delay * (1 - JITTER * chance));
}
