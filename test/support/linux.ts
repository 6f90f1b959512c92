/** Tests of what not every machine has or shows. */
import { readdirSync } from 'node:fs';
import { release } from 'node:os';
import { test } from 'uvu';

const [major = 0, minor = 0] = release().split('.').map(Number);

/** Whether the kernel provides memory on request: Linux 5.14 and later (madvise(2)). */
export const hasPopulate =
  process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));

/** A test that is skipped where {@link hasPopulate} is false. */
export function testPopulate(name: string, run: () => void): void {
  if (hasPopulate) test(name, run);
  else test.skip(`${name} (skipped: needs Linux 5.14)`, run);
}

/** How many files this process has open. Elsewhere that is not known: 0. */
export function openFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
