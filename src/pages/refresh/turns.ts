/** Sharing the event loop with requests. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A turn of the event loop that takes longer than this means that there are requests. */
const BUSY_TURN_MS = 0.3;

/** Milliseconds for which the event loop is then left to the requests. */
const YIELD_MS = 10;

/** Yields to the event loop for one turn, and for {@link YIELD_MS} more if it is busy. */
export async function turn(): Promise<void> {
  const before = performance.now();
  await nextTurn();
  if (performance.now() - before > BUSY_TURN_MS) await sleep(YIELD_MS);
}
