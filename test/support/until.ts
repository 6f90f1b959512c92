import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds after which a test counts as one that hangs, on the busiest machine. */
const HANGS_AFTER_MS = 300_000;

/** Asks repeatedly until it holds. @throws if it never does. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + HANGS_AFTER_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`it never came to be that ${what}`);
    await pause(5);
  }
}
