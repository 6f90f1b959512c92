/**
 * How the engine manages memory and compiles code while the program serves. By default it lets new
 * objects take twice as much memory as was live at its last full collection, and keeps most of the
 * garbage made since, so that a heap grows to several times its live size. Its last compiler takes
 * the time of many requests for code that has run some thousand times (docs/performance.md,
 * "Memory", "Start"). Its HTTP client sends 256 requests at a time, too few for a host that forwards
 * requests, and its pool has too few threads (thread-pool.ts). The engine reads other values only from
 * its environment, and only when it starts. So the executable starts again with them: in the same
 * process, some milliseconds later.
 */
import { messageOf } from '../../errors.ts';
import { HTTP_CLIENT_POLICY } from './http-client.ts';
import { THREAD_POOL } from './thread-pool.ts';

/** Options of JavaScriptCore, mimalloc and the HTTP client, by the variables of Bun for them. */
const SERVING_POLICY = {
  /** The memory for new objects, as a fraction of what was live at the last full collection. */
  BUN_JSC_heapGrowthMaxIncrease: '0.2',
  /**
   * A full collection is due when the space for new objects is a smaller fraction of the heap than
   * this: 0.2 / (1.2 + x) falls below it when x, what has survived young collections, is about a
   * third of what was live.
   */
  BUN_JSC_minEdenToOldGenerationRatio: '0.13',
  /** Bytes that a heap may always take: in the pages' thread little is live, and much is new. */
  BUN_JSC_largeHeapSize: `${24 * 1024 * 1024}`,
  /**
   * About how often code runs before the last compiler takes it: four times the default. So that
   * compiler takes less time in the first seconds, and leaves out code that few requests run.
   */
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '256000',
  /**
   * Milliseconds for which freed memory stays with the process: ten times the default. Under load
   * it is soon needed again, and getting it back costs a page fault for every page.
   */
  MIMALLOC_PURGE_DELAY: '1000',
  ...HTTP_CLIENT_POLICY,
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The process that is to start again; tests inject their own. */
export interface Beginning {
  /** Whether it is the compiled executable. From source a second start costs more than it gains. */
  readonly isExecutable: boolean;
  readonly executable: string;
  /** The name under which the program was called. */
  readonly name: string;
  /** The arguments without the executable. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** Replaces the process; see execve(2). @throws Error if it cannot. */
  readonly replace: (executable: string, argv: string[], env: Environment) => void;
  /** Prints a line to standard error. */
  readonly warn: (line: string) => void;
}

const PROCESS: Beginning = {
  isExecutable: Bun.isStandaloneExecutable,
  executable: process.execPath,
  name: process.argv0,
  args: process.argv.slice(2),
  env: process.env,
  replace(executable, argv, env) {
    if (process.execve === undefined) throw new Error('the runtime has no execve');
    process.execve(executable, argv, env);
  },
  warn: (line) => void process.stderr.write(`catalog-server: ${line}\n`),
};

/**
 * Starts the executable again with the policy, if it is to serve. Returns if it was started with
 * the policy, if the environment sets one of the variables, or, with a warning, if the system
 * refuses.
 */
export function beginWithServingPolicy(beginning: Beginning = PROCESS): void {
  const { isExecutable, executable, name, args, env, replace, warn } = beginning;
  if (!isExecutable || args[0] !== 'serve') return;
  if (Object.keys(SERVING_POLICY).some((variable) => env[variable] !== undefined)) return;
  try {
    // The variable of the pool is also that of Node, so it may be set for other programs.
    replace(executable, [name, ...args], { ...THREAD_POOL, ...env, ...SERVING_POLICY });
  } catch (error) {
    warn(
      `the server will take more memory, answer its first requests more slowly, forward fewer requests at a time and delay pages while names cannot be looked up, because it could not restart itself with its settings for the engine: ${messageOf(error)}`,
    );
  }
}
