/** The clock `performance.now` and timers, for tests that may not depend on how fast they run. */

/**
 * Runs with a clock that stands still except where the test lets time pass.
 *
 * @param run gets a function that lets milliseconds pass.
 */
export async function withClock(run: (pass: (milliseconds: number) => void) => Promise<void>) {
  const { now } = performance;
  // Whole, so that what has passed is exactly what the test let pass.
  let time = Math.ceil(performance.now());
  performance.now = () => time;
  try {
    await run((milliseconds) => {
      time += milliseconds;
    });
  } finally {
    performance.now = now;
  }
}

/** Timers of one duration. */
export interface Timers {
  /** How many have begun. */
  begun: number;
  /** What each of them calls that is neither over nor cleared. */
  readonly running: Map<unknown, () => void>;
}

/**
 * Runs while the timers of a duration are recorded.
 *
 * @param milliseconds of the timers: a duration that nothing else uses.
 */
export async function withTimersOf(
  milliseconds: number,
  run: (timers: Timers) => Promise<void>,
): Promise<void> {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const timers: Timers = { begun: 0, running: new Map() };
  Object.assign(globalThis, {
    setTimeout: (work: () => void, duration?: number) => {
      const timer = set(work, duration);
      if (duration === milliseconds) {
        timers.begun += 1;
        timers.running.set(timer, work);
      }
      return timer;
    },
    clearTimeout: (timer: Parameters<typeof clear>[0]) => {
      timers.running.delete(timer);
      clear(timer);
    },
  });
  try {
    await run(timers);
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  }
}

/**
 * Runs while the test decides when long timers are over. Shorter ones run as usual.
 *
 * @param least milliseconds of a long timer.
 * @param run gets a function that lets milliseconds pass for the long timers.
 */
export async function withTimers(
  least: number,
  run: (pass: (milliseconds: number) => void) => Promise<void>,
): Promise<void> {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  let now = 0;
  const due = new Map<unknown, { readonly at: number; readonly work: () => void }>();
  Object.assign(globalThis, {
    setTimeout: (work: () => void, duration = 0) => {
      if (duration < least) return set(work, duration);
      const timer = {
        refresh: () => due.set(timer, { at: now + duration, work }),
      };
      timer.refresh();
      return timer;
    },
    clearTimeout: (timer: Parameters<typeof clear>[0]) => {
      if (!due.delete(timer)) clear(timer);
    },
  });
  try {
    await run((milliseconds) => {
      now += milliseconds;
      for (const [timer, { at, work }] of due) {
        if (at <= now && due.delete(timer)) work();
      }
    });
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  }
}
