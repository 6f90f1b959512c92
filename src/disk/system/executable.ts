/** Where the executable of this process is. */
import { statSync } from 'node:fs';

/**
 * An upgrade may have moved another executable to the path of this one, or removed it. Linux keeps
 * it available below /proc as long as the process runs.
 *
 * @param path where it was at the start.
 * @returns a path of the executable that this process runs.
 */
export function runningExecutable(path: string): string {
  const own = `/proc/${process.pid}/exe`;
  const [there, running] = [path, own].map((each) => statSync(each, { throwIfNoEntry: false }));
  const isThere = there?.ino === running?.ino && there?.dev === running?.dev;
  return isThere || running === undefined ? path : own;
}
