/** How late the event loop runs work that is due: every request waits that long. */

/** Milliseconds between two measurements. */
const INTERVAL_MS = 20;

/**
 * Measures how much later than due a timer fires. perf_hooks has such a histogram, but only with
 * percentiles since the start, which Prometheus cannot use.
 *
 * @param onDelay called with milliseconds, 50 times a second.
 * @returns a function that ends the measurement.
 */
export function measureEventLoopDelay(onDelay: (milliseconds: number) => void): () => void {
  let due = performance.now() + INTERVAL_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    onDelay(Math.max(now - due, 0));
    due = now + INTERVAL_MS;
  }, INTERVAL_MS);
  // The measurement alone does not keep the process alive.
  timer.unref();
  return () => clearInterval(timer);
}
