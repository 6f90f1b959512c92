/** Runs the programs that a release needs, and stops at the first that fails. */
import { spawnSync } from 'node:child_process';

export interface CommandOptions {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Ten minutes: the slowest program, dpkg-deb, takes less than one. */
const TIMEOUT_MS = 600_000;

/** Bytes of standard output. */
const MAX_OUTPUT = 256 * 2 ** 20;

/**
 * @returns what the program wrote to standard output.
 * @throws Error with what it wrote to standard error if it failed or is not installed.
 */
export function run(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Buffer {
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: MAX_OUTPUT,
    timeout: TIMEOUT_MS,
  });
  if (error !== undefined) throw new Error(`${command} could not be run: ${error.message}`);
  if (status === 0) return stdout;
  const why = stderr.toString().trim() || `ended with ${signal ?? `status ${status}`}`;
  throw new Error(`${command} ${args[0] ?? ''} failed: ${why}`);
}
