/** Sharing the event loop with requests. */

/** A turn that takes others longer than this, in milliseconds, means that there are requests. */
const BUSY_TURN_MS = 0.3;

/** How long the event loop is then left to them, in milliseconds. */
const YIELD_MS = 10;

/** Lets the event loop turn. While it is busy, the caller waits for most of the time. */
export async function turn(): Promise<void> {
  const before = performance.now();
  await new Promise((resolve) => setImmediate(resolve));
  if (performance.now() - before > BUSY_TURN_MS) await sleep(YIELD_MS);
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits for some work, but no longer than this. */
export async function within(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, end]);
  clearTimeout(timer);
}
