/** Requests that are refused because there are too many: a 429 says that nothing was done. */
import { signal } from '@preact/signals';

/** Times that a request is sent again. */
const REPEATS = 5;

/** A longer wait is left to the user, in seconds. */
const MAX_WAIT_S = 5;

/** What a proxy that says nothing is given, in seconds. */
const DEFAULT_WAIT_S = 1;

/** How many requests wait to be sent again. */
export const throttled = signal(0);

/**
 * @param sent how often the request was sent, at least once.
 * @returns milliseconds until it may be sent again; null if it is not to be sent again.
 */
export function delayOf({ status, headers }: Response, sent: number): number | null {
  if (status !== 429 || sent > REPEATS) return null;
  const seconds = Number(headers.get('Retry-After') ?? DEFAULT_WAIT_S);
  return seconds <= MAX_WAIT_S ? seconds * 1000 : null;
}

/** Waits, and says so. @param abort ends it at once. */
export async function waitThrottled(milliseconds: number, abort: AbortSignal): Promise<void> {
  throttled.value += 1;
  await new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    abort.addEventListener('abort', resolve);
  });
  throttled.value -= 1;
}
