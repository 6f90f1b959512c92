/** The CPU time that the turns of this thread's event loop take. */

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
  await new Promise((resolve) => setImmediate(resolve));
  before = process.threadCpuUsage();
  setImmediate(measure);
  try {
    await task();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    running = false;
  }
  return longest;
}
