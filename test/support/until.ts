import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds after which a test counts as one that hangs, on the busiest machine. */
const HANGS_AFTER_MS = 300_000;

/** Milliseconds between two questions. */
const INTERVAL_MS = 5;

/** How many times as long as a costly question the pause after it is. */
const REST_FACTOR = 4;

/** Asks repeatedly until it holds. @throws if it never does. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + HANGS_AFTER_MS;
  for (;;) {
    const asked = Date.now();
    if (await holds()) return;
    if (Date.now() > deadline) throw new Error(`it never came to be that ${what}`);
    await pause(Math.max(INTERVAL_MS, REST_FACTOR * (Date.now() - asked)));
  }
}
