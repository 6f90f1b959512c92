/** Tests of what not every machine has or shows. */
import { readdirSync, readFileSync } from 'node:fs';
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

interface Thread {
  /** Its id. */
  readonly id: string;
  /** Of `stat` in proc(5), from the first one: the id, the name in parentheses, the state. */
  readonly fields: readonly string[];
}

/**
 * The threads of a process. One that ends meanwhile, as idle ones of the engine do, is left out.
 *
 * @param pid its id; undefined, as of a child that did not start, names none.
 * @throws Error if there is no such process.
 */
export function threadsOf(pid: number | undefined): Thread[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).flatMap((id) => {
    const stat = statOf(`${tasks}/${id}`);
    if (stat === null) return [];
    // A name may have spaces.
    const [, own = '', name = '', rest = ''] = /^(\d+) (\(.*\)) (.*)$/s.exec(stat) ?? [];
    return [{ id, fields: [own, name, ...rest.trim().split(' ')] }];
  });
}

/** @returns null if the thread has ended. */
function statOf(task: string): string | null {
  try {
    return readFileSync(`${task}/stat`, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH'].includes(code)) return null;
    throw error;
  }
}
