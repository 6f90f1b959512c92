/** What the benchmarks share: a built server over a filled store, and statistics. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dir, '..');
export const EXECUTABLE = join(ROOT, 'dist', 'catalog-server');

export interface Running {
  readonly url: string;
  readonly child: ChildProcess;
}

const { SERVERS_ON: processor } = process.env;

const started: ChildProcess[] = [];

/** A command that runs a server on the processor that `SERVERS_ON` names, if it names one. */
export function bound(command: readonly string[]): [string, ...string[]] {
  const [program = '', ...args] = command;
  return processor === undefined ? [program, ...args] : ['taskset', '-c', processor, ...command];
}

/** Starts a server, and returns once it prints its address. {@link inDirectory} ends it. */
export function start(command: string, ...args: string[]): Promise<Running> {
  const [program, ...rest] = bound([command, ...args]);
  const child = spawn(program, rest, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const url = /listening on (http:\S+)/.exec(chunk.toString())?.[1];
      if (url !== undefined) resolve({ url, child });
    });
    child.on('exit', (status) => reject(new Error(`${command} ended with ${status}`)));
  });
}

/** Starts the program on a store. */
export function serve(data: string, ...flags: string[]): Promise<Running> {
  return start(EXECUTABLE, 'serve', '--port', '0', '--data', data, ...flags);
}

/** Runs a command to its end. @returns what it printed. */
export function output(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

export function build(): void {
  output(process.execPath, 'run', 'build');
}

/** Fills a directory with a store of SKUs. @param spus as many as the SKUs need if left out. */
export function fill(data: string, skus: number, spus?: number): void {
  const counts = [skus, ...(spus === undefined ? [] : [spus])].map(String);
  output(process.execPath, 'bench/fill.ts', data, ...counts);
}

/**
 * Makes a store of SKUs without change sets, as after a checkpoint.
 *
 * @param directory in which it is made. @returns the path of the store.
 */
export function fillAtRest(directory: string, skus: number): string {
  const [filled, backup, data] = ['filled', 'backup.json', 'data'].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  fill(filled, skus);
  output(EXECUTABLE, 'backup', '--data', filled, backup);
  output(EXECUTABLE, 'restore', backup, '--data', data);
  return data;
}

export function issueToken(data: string): string {
  return output(EXECUTABLE, 'issue-token', '--subject', 'bench', '--data', data);
}

/** Waits until every page is written, as happens after the first start. */
export async function pagesMade(data: string, skus: number): Promise<void> {
  while (readdirSync(join(data, 'pages', 'skus')).length < skus) await Bun.sleep(500);
  await Bun.sleep(1000);
}

/** MiB of a process: resident memory now (`VmRSS`), or at its peak (`VmHWM`). */
export function memoryOf({ pid }: ChildProcess, figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${figure}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

/** The unit in which `/proc` counts CPU times. */
const TICKS_A_SECOND = 100;

/**
 * Seconds of CPU that a process or a thread has taken.
 *
 * @param path of its `stat` in `/proc`.
 */
export function cpuSecondsOf(path: string): number {
  const fields = readFileSync(path, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Requires a program of the system; without it, exits with a note on how to get it. */
export function need(program: string): void {
  if (Bun.which(program) !== null) return;
  process.stderr.write(`${program} is missing; on Debian: apt-get install ${program}\n`);
  process.exit(1);
}

/** Runs a benchmark in a directory of its own, which is removed at the end with all its servers. */
export async function inDirectory(run: (directory: string) => Promise<void>): Promise<never> {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-server-bench-'));
  try {
    await run(directory);
  } finally {
    for (const child of started) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit(process.exitCode ?? 0);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The value below which a share of the sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
