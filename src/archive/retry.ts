/** When an archive that has failed is tried again. */
import { backoffDelay, withJitter } from '../backoff.ts';
import { requestedDelay } from './storage/object-store.ts';

const DELAY_MS = { first: 500, longest: 30_000 };

/** Milliseconds that the server waits at most if the store asks for more. */
const MAX_REQUESTED_MS = 300_000;

/**
 * @param failures in a row, at least 1.
 * @param error the last of them.
 * @param chance from 0 to 1.
 * @returns milliseconds to the next attempt.
 */
export function retryDelay(failures: number, error: unknown, chance = Math.random()): number {
  const requested = Math.min(requestedDelay(error), MAX_REQUESTED_MS);
  return requested + withJitter(backoffDelay(failures, DELAY_MS), chance);
}
