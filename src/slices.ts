/** Long work cut into slices, so that one event loop serves everybody while it is done. */

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MS = 2;

/**
 * Runs a generator to its end, and lets the event loop turn between slices of its work.
 *
 * @param work yields wherever it may be interrupted; well under a millisecond between two yields.
 * @param sliceMs milliseconds of one slice; 0 lets the event loop turn at every yield.
 * @returns what the generator returns.
 * @throws what the generator throws.
 */
export async function inSlices<T>(work: Generator<unknown, T>, sliceMs = SLICE_MS): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Runs a generator to its end at once. @returns what it returns. */
export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
