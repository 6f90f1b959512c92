/** A real server on a real directory: every test that speaks HTTP begins here. */
import { type ChildProcess, spawn } from 'node:child_process';
import { migrate } from '../../src/cli/commands/migrate.ts';
import { temporaryDirectory } from './directory.ts';
import { PROGRAM, ROOT } from './paths.ts';
import { SECRET } from './secret.ts';
import { contextOf } from './service.ts';

export { SECRET };

export interface Finished {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another executable than {@link PROGRAM}. */
  readonly binary?: string;
  /** The content of standard input; empty by default. */
  readonly input?: string | Uint8Array;
}

/**
 * Most of these processes live for a second or two. Without the engine's optimising compilers that
 * takes a quarter less CPU time. The code that runs is the same.
 */
export const SHORT_LIVED = { BUN_JSC_useDFGJIT: '0' };

function start(args: readonly string[], { env, cwd, binary, input }: RunOptions): ChildProcess {
  const child = spawn(binary ?? PROGRAM, args, {
    cwd: cwd ?? ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...(binary === undefined && SHORT_LIVED), ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  return child;
}

/** Runs a command to its end. */
export function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = start(args, options);
  return collect(child);
}

/** The process to its end, and all that it says. */
export function collect(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  return new Promise((resolve) => {
    child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
}

export interface ServerOptions extends RunOptions {
  /** An existing directory; otherwise a new one is created. */
  readonly data?: string;
  /** Fills a new directory with the demo catalog. */
  readonly demo?: boolean;
  readonly args?: readonly string[];
  /** Keys from the file of the directory instead of {@link SECRET}. */
  readonly ownKeys?: true;
}

/** A process that serves. */
export interface Serving {
  readonly url: string;
  /** See {@link Reachable.settings}. */
  readonly settings: string;
  readonly child: ChildProcess;
  /** Standard error from the start on. */
  said(): string;
  /** See {@link Reachable.fate}. */
  fate(): Promise<string>;
  /** Resolves when the process has ended. */
  readonly finished: Promise<Finished>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Finished>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<Finished>;
}

export interface TestServer extends Serving {
  readonly data: string;
}

/** A directory with a store, so that `serve` does not report that it created one. */
async function storeFor({ data, demo = false }: ServerOptions): Promise<string> {
  const directory = data ?? temporaryDirectory();
  if (data === undefined || demo) {
    await migrate({ data: directory, demo, dryRun: false }, contextOf());
  }
  return directory;
}

const running = new Map<ChildProcess, Promise<Finished>>();
process.on('exit', () => {
  for (const child of running.keys()) child.kill('SIGKILL');
});

/** Ends every server that a failed test left, which would keep this process alive. */
export async function killServers(): Promise<void> {
  for (const child of running.keys()) child.kill('SIGKILL');
  await Promise.all(running.values());
}

/** Starts `serve` on a free port, and returns once it answers. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const data = await storeFor(options);
  const env = { ...(options.ownKeys !== true && { CATALOG_JWT_SECRET: SECRET }), ...options.env };
  const child = start(['serve', '--data', data, '--port', '0', ...(options.args ?? [])], {
    ...options,
    env,
  });
  const settings = JSON.stringify([options.binary, options.args, options.env]);
  return { data, ...(await serving(child, settings)) };
}

/**
 * Returns once the process, which runs `serve`, answers.
 *
 * @param settings that tell it from others; if left out, it is like no other.
 */
export async function serving(child: ChildProcess, settings?: string): Promise<Serving> {
  let said = '';
  child.stderr?.on('data', (chunk) => (said += chunk));
  const finished = collect(child);
  running.set(child, finished);
  void finished.then(() => running.delete(child));
  const url = await listening(child, finished);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return finished;
  };
  return {
    url,
    settings: settings ?? url,
    child,
    said: () => said,
    fate: () => fateOf(finished, () => said),
    finished,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** Milliseconds in which a process that has closed its connections ends. */
const ENDING_MS = 1000;

async function fateOf(finished: Promise<Finished>, said: () => string): Promise<string> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, ENDING_MS, null));
  const end = await Promise.race([finished, late]);
  const state = end === null ? 'runs' : `ended with ${end.signal ?? end.status}`;
  return `the server ${state}, and said: ${said()}`;
}

function listening(child: ChildProcess, finished: Promise<Finished>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const url = /^listening on (http:\S+)\n/m.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    void finished.then(({ status, stderr }) => {
      reject(new Error(`serve ended with ${status} before it listened: ${stderr}`));
    });
  });
}
