/** The turns of this thread's event loop: how many there are, and the CPU time that they take. */

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Runs a task and measures every turn until it is done. */
export async function longestTurn(task: () => Promise<void>): Promise<number> {
  let longest = 0;
  let running = true;
  let before = process.threadCpuUsage();
  const measure = () => {
    const now = process.threadCpuUsage();
    const milliseconds = (now.user + now.system - before.user - before.system) / 1000;
    if (milliseconds > longest) longest = milliseconds;
    before = now;
    if (running) setImmediate(measure);
  };
  await turn();
  before = process.threadCpuUsage();
  setImmediate(measure);
  try {
    await task();
    await turn();
  } finally {
    running = false;
  }
  return longest;
}

/** JSON of 10,000 small objects. */
const YARDSTICK = JSON.stringify(
  Array.from({ length: 10_000 }, (_, id) => ({ id, name: `Item ${id}`, price: id * 7 })),
);

/** Milliseconds of CPU in which the machine of docs/performance.md parses and writes it. */
const YARDSTICK_MS = 2;

/** Repetitions that are measured together: the system counts CPU time in steps of some milliseconds. */
const REPETITIONS = 20;

/**
 * How fast this machine is now. Budgets of CPU time hold for the machine of docs/performance.md. On a
 * slower one, and while other programs use its caches, the same work takes more.
 *
 * @returns how many times as long a fixed piece of work takes here; at least 1.
 */
export function slowness(): number {
  const figures = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    for (let nth = 0; nth < REPETITIONS; nth += 1) JSON.stringify(JSON.parse(YARDSTICK));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 / REPETITIONS;
  });
  return Math.max(Math.min(...figures) / YARDSTICK_MS, 1);
}

/** Runs a task. @param turns tells how often the event loop has turned since it began. */
export async function countingTurns<T>(task: (turns: () => number) => Promise<T>): Promise<T> {
  let turns = 0;
  let running = true;
  const count = () => {
    turns += 1;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  try {
    return await task(() => turns);
  } finally {
    running = false;
  }
}
