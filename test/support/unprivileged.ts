/** Tests of what a user without privileges may not do. */
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import { PROGRAM } from './paths.ts';

/** The words before a command to run it as an unprivileged user; null if that is not possible. */
function unprivileged(): readonly string[] | null {
  if (process.getuid?.() !== 0) return [];
  const as = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
  const { status } = spawnSync('setpriv', [...as.slice(1), PROGRAM, '-V'], { cwd: '/' });
  return status === 0 ? as : null;
}

/** A test that is skipped if no command can be run as an unprivileged user. */
export function testUnprivileged(
  name: string,
  run: (as: readonly string[]) => void | Promise<void>,
): void {
  const as = unprivileged();
  if (as !== null) test(name, () => run(as));
  else test.skip(`${name} (skipped: needs setpriv, and sources readable by others)`, () => {});
}
