/** How late the event loop comes to what is due: every request waits that long. */

/** Milliseconds between two measurements. */
const INTERVAL_MS = 20;

/**
 * Measures by a timer how much later than asked for it fires. perf_hooks has such a histogram, but
 * only with percentiles since the start, of which Prometheus can make nothing.
 *
 * @param onDelay gets milliseconds, 50 times a second.
 * @returns ends the measurement.
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
