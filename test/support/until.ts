import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds after which what has not come to be counts as never. */
const LONGEST = 20_000;

/** Asks again and again until it holds. @throws where it never does. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LONGEST;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`it never came to be that ${what}`);
    await pause(5);
  }
}
