/**
 * How the engine treats memory and code while the program serves. By itself it lets new objects take
 * twice as much memory as lived at its last full collection, and leaves most of what has become garbage
 * since in its place, so that a heap grows to several times of what lives. And its last compiler takes
 * the time of many requests for code that has run some thousand times (docs/performance.md, "Memory",
 * "Start"). It takes other numbers from its environment alone, when it starts. So the executable begins
 * again with them: the same process, some milliseconds later.
 */
import { messageOf } from '../../errors.ts';

/** Options of JavaScriptCore and of mimalloc, by the names of the variables that Bun takes them from. */
const SERVING_POLICY = {
  /** What new objects may take, as a part of what lived at the last full collection. */
  BUN_JSC_heapGrowthMaxIncrease: '0.2',
  /**
   * A full collection is due when the room for new objects is a smaller part of the heap than this:
   * 0.2 / (1.2 + x) is smaller when x, a third of what lived, has survived young collections.
   */
  BUN_JSC_minEdenToOldGenerationRatio: '0.13',
  /** Bytes that a heap may take in any case: in the pages' thread little lives, and much is new. */
  BUN_JSC_largeHeapSize: `${24 * 1024 * 1024}`,
  /**
   * How often code runs, about, until the last compiler takes it: four times as often as by itself. So
   * it takes less of the first seconds, and code that few requests run is left to the compiler before.
   */
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '256000',
  /**
   * Milliseconds for which memory stays with the process after it was freed: ten times as long as by
   * itself. Under load it is soon needed again, and every page of it comes back by an interruption.
   */
  MIMALLOC_PURGE_DELAY: '1000',
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The process that is to begin again; tests inject their own. */
export interface Beginning {
  /** Whether it is the compiled executable. From source a start costs more than memory is worth. */
  readonly isExecutable: boolean;
  readonly executable: string;
  /** As the shell calls the program. */
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
 * Lets the executable begin again with the policy, if it is to serve. Returns if it has begun with
 * it, if the environment has numbers of its own, and if the system refuses, which is said.
 */
export function beginWithServingPolicy(beginning: Beginning = PROCESS): void {
  const { isExecutable, executable, name, args, env, replace, warn } = beginning;
  if (!isExecutable || args[0] !== 'serve') return;
  if (Object.keys(SERVING_POLICY).some((variable) => env[variable] !== undefined)) return;
  try {
    replace(executable, [name, ...args], { ...env, ...SERVING_POLICY });
  } catch (error) {
    warn(
      `the server will take more memory and serve its first requests more slowly, since it could not begin again: ${messageOf(error)}`,
    );
  }
}
