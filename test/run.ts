/**
 * Runs every test file, and adds up the counts that uvu prints.
 *
 * uvu alone exits with status 0 if a hook throws, if a file forgets `.run()`, and if there is no
 * file at all. Here each of them is a failure.
 *
 * Files share processes (test/batch.ts), each of which is given one after the other: it does once
 * what takes every file a second, such as compiling the description that every answer is held
 * against. If a file ends its process, it has failed, and those after it get a new process.
 *
 * Tests of processes start the program more than a thousand times. They get it as an executable,
 * which is built first unless CATALOG_TEST_PROGRAM names one: it starts in a fifth of the CPU time
 * that the source needs, and it is what users have.
 *
 *     bun test/run.ts              every test/**\/*.test.ts
 *     bun test/run.ts FILE...      these; with one file, the program is run from source
 *     TESTS_AT_ONCE=1 bun test/run.ts    in one process at a time
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BOUNDARY, say } from './batch.ts';

const ROOT = join(import.meta.dir, '..');

/** Milliseconds after which a file counts as one that hangs: many times what any of them takes. */
const HANGS_AFTER_MS = 1_800_000;

/** How often that is looked at, in milliseconds. */
const LOOK_FOR_HANGS_MS = 10_000;

/** Processes of tests at once: tests of processes and of browsers wait half of the time. */
const AT_ONCE = Number(process.env['TESTS_AT_ONCE'] || 2 * availableParallelism());

/** Files after which a process ends, so that what they leave in memory stays small. */
const MAX_FILES = 24;

/** Tests that measure CPU time. Beside others the same work takes more of it, so they run alone. */
const MEASURING = join('test', 'http', 'loop-budget.test.ts');

/** The room of the tests that start the program. */
const PROCESSES = join('test', 'process');

/** Those of them that wait the longest. */
const BROWSERS = join(PROCESSES, 'browser');

const BATCH_RUNNER = join(import.meta.dir, 'batch.ts');
const ENDED = new RegExp(`${BOUNDARY}(\\d+)\n`);

/** Where directories of tests are, if it is there: it has no device that a sync waits for. */
const MEMORY = '/dev/shm';

/** Bytes that tests need of it, and the executables that are built for them. */
const ROOM = 4 * 2 ** 30;

interface Outcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly output: string;
  readonly seconds: number;
}

function findTests(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => {
      if (entry.name === 'node_modules') return [];
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return findTests(path);
      return entry.name.endsWith('.test.ts') ? [path] : [];
    })
    .sort();
}

/**
 * The engine's last compiler takes longer than what it makes faster runs in tests: without it they
 * take an eighth less CPU time. It is for the tests' own processes, not for the program they start.
 */
const WITHOUT_LAST_COMPILER = { BUN_JSC_useFTLJIT: '0' };

/** Environment variables by which tests find what was built for them. */
type Programs = Readonly<Record<string, string>>;

const VICTIM = [
  '--compile',
  '--bytecode',
  'test/process/crash/victim.ts',
  'src/pages/writer/thread.ts',
];

/** The program itself, and the one that the crash tests kill at its steps. */
const PROGRAMS: Readonly<Record<string, (outfile: string) => readonly string[]>> = {
  CATALOG_TEST_PROGRAM: (outfile) => ['run', 'build', '--outfile', outfile],
  CATALOG_TEST_VICTIM: (outfile) => ['build', ...VICTIM, '--outfile', outfile],
};

/** Builds what the environment does not name yet. @throws if one cannot be built. */
async function build(directory: string): Promise<Programs> {
  const missing = Object.entries(PROGRAMS).filter(([name]) => process.env[name] === undefined);
  const built = missing.map(async ([variable, args]) => {
    const outfile = join(directory, variable.toLowerCase());
    const child = spawn(process.execPath, args(outfile), { cwd: ROOT });
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    const status = await new Promise((resolve) => child.on('close', resolve));
    if (status !== 0) throw new Error(`${variable} cannot be built: ${said}`);
    return [variable, outfile];
  });
  return Object.fromEntries(await Promise.all(built));
}

/** The processes of tests that run now. */
const running = new Set<ChildProcess>();

/** Ends the run at a signal, such as Ctrl-C, with what it has started and what it has built. */
function endAtSignals(): void {
  const end = () => {
    for (const child of running) child.kill();
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
}

/**
 * Runs the next files of a queue in one process, one after the other, up to the file that ends the
 * process if one does.
 *
 * @param queue takes the file that is begun from its front.
 */
function runProcess(
  queue: string[],
  env: Programs,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [BATCH_RUNNER], {
      cwd: ROOT,
      env: { ...process.env, ...env, FORCE_COLOR: '0', NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    running.add(child);
    // A process that has ended takes no name. The file is judged when it closes.
    child.stdin.on('error', () => null);
    let [file, count, output, status, begun] = ['', 0, '', 1, 0];
    const begin = (next: string) => {
      // Until it says how it has ended, it counts as one that ended its process.
      [file, status, begun] = [next, 1, performance.now()];
      count += 1;
      child.stdin.write(`${file}\n`);
    };
    const report = () => {
      const seconds = (performance.now() - begun) / 1000;
      onOutcome({ ...judge(file, status, output), seconds });
    };
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      const found = ENDED.exec(output);
      if (found === null) return;
      status = Number(found[1]);
      const after = output.slice(found.index + found[0].length);
      output = output.slice(0, found.index);
      const next = count < MAX_FILES ? queue.shift() : undefined;
      if (next === undefined) {
        // The last one is judged when the process has ended: it may still fail.
        output += after;
        child.stdin.end();
        return;
      }
      report();
      output = after;
      begin(next);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const timer = setInterval(() => {
      if (performance.now() - begun < HANGS_AFTER_MS) return;
      output += `\nended after ${HANGS_AFTER_MS / 1000} s\n`;
      child.kill('SIGKILL');
    }, LOOK_FOR_HANGS_MS);
    child.on('close', (code) => {
      running.delete(child);
      clearInterval(timer);
      if (code !== 0) status = 1;
      report();
      resolve();
    });
    begin(queue.shift() ?? '');
  });
}

function judge(file: string, status: number | null, output: string): Omit<Outcome, 'seconds'> {
  const count = (name: string) =>
    [...output.matchAll(new RegExp(`^ {2}${name}: +(\\d+)$`, 'gm'))].reduce(
      (sum, [, digits]) => sum + Number(digits),
      0,
    );
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')];
  // uvu's total leaves out what was skipped. On a machine without a program or a right that a file
  // needs, all of its tests are.
  const incomplete = total + skipped === 0 || status !== 0;
  const failed = Math.max(total - passed, incomplete ? 1 : 0);
  return { file: relative(ROOT, file), passed, failed, skipped, output };
}

/** What waits comes first: what computes fills the time that is left. */
function inOrder(files: readonly string[]): string[] {
  const isOf = (room: string) => (file: string) => file.includes(room);
  const processes = files.filter(isOf(PROCESSES));
  const browsers = processes.filter(isOf(BROWSERS));
  const others = processes.filter((file) => !browsers.includes(file));
  const together = files.filter((file) => !processes.includes(file));
  return [...browsers, ...others, ...together];
}

async function runAll(files: readonly string[], env: Programs): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const report = (outcome: Outcome) => {
    outcomes.push(outcome);
    const { file, output, passed, failed, skipped, seconds } = outcome;
    const note = skipped > 0 ? `, ${skipped} skipped` : '';
    process.stdout.write(
      `${failed > 0 ? 'FAIL' : 'ok  '} ${file}: ${passed} passed, ${failed} failed${note} in ${seconds.toFixed(0)} s\n`,
    );
    if (failed > 0) process.stdout.write(`${output}\n`);
  };
  const measures = (file: string) => file.endsWith(MEASURING);
  for (const file of files.filter(measures)) await runProcess([file], env, report);
  const queue = inOrder(files.filter((file) => !measures(file)));
  const lane = async () => {
    const settings = { ...WITHOUT_LAST_COMPILER, ...env };
    while (queue.length > 0) await runProcess(queue, settings, report);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return outcomes;
}

/** The variables by which programs and tests find a directory for temporary files. */
function temporaryFiles(): Programs {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return {};
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM ? { TMPDIR: MEMORY } : {};
}

async function main(): Promise<number> {
  const named = process.argv.slice(2);
  const files = named.length > 0 ? named : findTests(import.meta.dir);
  endAtSignals();
  const directory = mkdtempSync(join(tmpdir(), 'catalog-server-programs-'));
  // Some tests run the program as another user, and it begins again as that user.
  chmodSync(directory, 0o755);
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const isWorthBuilding = files.some((file) => file.includes(PROCESSES)) && files.length > 1;
  const programs = isWorthBuilding ? await build(directory) : {};
  const outcomes = await runAll(files, { ...temporaryFiles(), ...programs });
  const sum = (key: 'passed' | 'failed' | 'skipped') =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0);
  const skipped = sum('skipped');
  await say(
    `\n${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
  return files.length === 0 || sum('failed') > 0 || sum('passed') === 0 ? 1 : 0;
}

void main().then((status) => process.exit(status));
