/** How many files this process may have open. */
import { readFileSync } from 'node:fs';

const LIMITS = '/proc/self/limits';

/**
 * The limit of file descriptors (Linux, proc_pid_limits(5)). The runtime has raised it as far as the
 * process may.
 *
 * @param read reads a file as text. Tests inject their own.
 * @returns Infinity if there is no limit, or if it is not known, as on macOS.
 */
export function maxOpenFiles(read = (path: string) => readFileSync(path, 'utf8')): number {
  let text: string;
  try {
    text = read(LIMITS);
  } catch {
    // Without /proc the limit only shows when the system refuses a descriptor.
    return Number.POSITIVE_INFINITY;
  }
  const [, soft] = /^Max open files +(\d+) /m.exec(text) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}
