/**
 * Gives the thread that imports this file the lowest priority: it runs when nothing else on the
 * machine needs the processor. It is imported before all other modules, so that they are loaded at
 * that priority.
 */
import { libc } from '../../disk/system/libc.ts';

/** From setpriority(2); on Linux it sets the nice value of the thread that calls it. */
const PRIO_PROCESS = 0;
const LOWEST = 19;

function lowerPriority(): void {
  // On other systems the call would affect the whole process, so the thread keeps its priority.
  if (process.platform !== 'linux') return;
  try {
    const { setpriority } = libc({
      setpriority: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    });
    // Zero names the caller: with PRIO_PROCESS that is the thread, not the process.
    setpriority(PRIO_PROCESS, 0, LOWEST);
  } catch {
    // Without the library, pages are made at the usual priority.
  }
}

lowerPriority();
