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
