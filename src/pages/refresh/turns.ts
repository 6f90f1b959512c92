/** Sharing the event loop with requests. */

/** A turn of the event loop that takes longer than this means that there are requests. */
const BUSY_TURN_MS = 0.3;

/** Milliseconds for which the event loop is then left to the requests. */
const YIELD_MS = 10;

/** Yields to the event loop for one turn, and for {@link YIELD_MS} more if it is busy. */
export async function turn(): Promise<void> {
  const before = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  if (performance.now() - before > BUSY_TURN_MS) await sleep(YIELD_MS);
}

/** Nothing ends the wait early; {@link within} waits for work that may end sooner. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits for `work` to end, for at most `milliseconds`. */
export async function within(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, end]);
  clearTimeout(timer);
}
