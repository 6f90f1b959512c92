/** How much memory this process may use: that of the machine, or less in a container. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Reads a small file; null if it is not there. */
export type ReadFile = (path: string) => string | null;

/**
 * The smallest of the machine's memory and the limits of the control groups of this process and
 * their parents, in version 1 or 2 (Linux, cgroups(7)).
 *
 * @returns bytes.
 */
export function machineMemory(read: ReadFile = readIfThere, machine = totalmem()): number {
  let least = machine;
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    // The name of a group may contain colons.
    const [, controllers = '', ...group] = line.split(':');
    const limits = limitFiles(controllers, group.join(':')).map((path) =>
      Number(read(path)?.trim() || NaN),
    );
    // "max", which is not a number, means no limit.
    for (const limit of limits) if (limit > 0 && limit < least) least = limit;
  }
  return least;
}

/** The files with the limits of a group and its parents; in a container the group may be the root. */
function limitFiles(controllers: string, group: string): string[] {
  const unified = controllers === '';
  if (!unified && !controllers.split(',').includes('memory')) return [];
  const root = unified ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
  const file = unified ? 'memory.max' : 'memory.limit_in_bytes';
  const names = group.split('/').filter((name) => name !== '');
  return [...names.keys(), names.length].map((count) =>
    [root, ...names.slice(0, count), file].join('/'),
  );
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
