/**
 * Runs every test file, and adds up the counts that uvu prints.
 *
 * uvu alone exits with status 0 if a hook throws, if a file forgets `.run()`, and if there is no
 * file at all. Here each of them is a failure.
 *
 * Some files at a time share a process (test/batch.ts): it does once what takes each of them a
 * second, such as compiling the description that every answer is held against. If a file ends its
 * process, it has failed, and those after it get a new process.
 *
 * Tests of processes start the program more than a thousand times. They get it as an executable,
 * which is built first unless CATALOG_TEST_PROGRAM names one: it starts in a fifth of the CPU time
 * that the source needs, and it is what users have.
 *
 *     bun test/run.ts              every test/**\/*.test.ts
 *     bun test/run.ts FILE...      these; with one file, the program is run from source
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BOUNDARY } from './batch.ts';

const ROOT = join(import.meta.dir, '..');

/** Milliseconds after which a file counts as one that hangs: many times what any of them takes. */
const HANGS_AFTER_MS = 1_800_000;

/** Processes of tests at once: tests of processes and of browsers wait half of the time. */
const AT_ONCE = 2 * availableParallelism();

/** Files that share a process: so many that it is worth it, so few that its memory stays small. */
const BATCH = { fewest: 6, most: 24 };

/** And in test/process, where one file takes as long as many of the others. */
const BATCH_OF_PROCESSES = { fewest: 1, most: 4 };

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

/**
 * Runs files in one process, one after the other.
 *
 * @returns their outcomes, up to the file that ended the process if one did before the last.
 */
function runBatch(
  files: readonly string[],
  env: Programs,
  onOutcome: (outcome: Outcome) => void,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [BATCH_RUNNER, ...files], {
      cwd: ROOT,
      env: { ...process.env, ...env, FORCE_COLOR: '0', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, done, begun] = ['', 0, performance.now()];
    const end = (status: number | null, text: string) => {
      const seconds = (performance.now() - begun) / 1000;
      onOutcome({ ...judge(files[done] ?? '', status, text), seconds });
      done += 1;
      begun = performance.now();
    };
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
      for (let found = ENDED.exec(output); found !== null; found = ENDED.exec(output)) {
        const text = output.slice(0, found.index);
        output = output.slice(found.index + found[0].length);
        end(Number(found[1]), text);
      }
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const timer = setTimeout(() => {
      output += `\nended after ${HANGS_AFTER_MS / 1000} s\n`;
      child.kill('SIGKILL');
    }, HANGS_AFTER_MS);
    child.on('close', (status) => {
      clearTimeout(timer);
      // A process that ended well after some of its files has left the others out.
      end(done === files.length - 1 ? status : 1, output);
      resolve(done);
    });
  });
}

function judge(file: string, status: number | null, output: string): Omit<Outcome, 'seconds'> {
  const count = (name: string) =>
    [...output.matchAll(new RegExp(`^ {2}${name}: +(\\d+)$`, 'gm'))].reduce(
      (sum, [, digits]) => sum + Number(digits),
      0,
    );
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')];
  const incomplete = total === 0 || status !== 0;
  // uvu's total leaves out what was skipped.
  const failed = Math.max(total - passed, incomplete ? 1 : 0);
  return { file: relative(ROOT, file), passed, failed, skipped, output };
}

/** Batches that get smaller towards the end, so that all processes end at about the same time. */
function batchesOf(files: readonly string[], { fewest, most }: typeof BATCH): string[][] {
  const batches: string[][] = [];
  for (let at = 0; at < files.length; ) {
    const share = Math.ceil((files.length - at) / (2 * AT_ONCE));
    const batch = files.slice(at, at + Math.min(Math.max(share, fewest), most));
    batches.push(batch);
    at += batch.length;
  }
  return batches;
}

/** What waits comes first: what computes fills the time that is left. */
function inOrder(files: readonly string[]): string[][] {
  const isOf = (room: string) => (file: string) => file.includes(room);
  const processes = files.filter(isOf(PROCESSES));
  const browsers = processes.filter(isOf(BROWSERS));
  const others = processes.filter((file) => !browsers.includes(file));
  const together = files.filter((file) => !processes.includes(file));
  return [
    ...batchesOf(browsers, BATCH_OF_PROCESSES),
    ...batchesOf(others, BATCH_OF_PROCESSES),
    ...batchesOf(together, BATCH),
  ];
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
  const waiting = files.filter(measures).map((file) => [file]);
  const worker = async () => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const done = await runBatch(batch, env, report);
      if (done < batch.length) waiting.unshift(batch.slice(done));
    }
  };
  await worker();
  waiting.push(...inOrder(files.filter((file) => !measures(file))));
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
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
  const directory = mkdtempSync(join(tmpdir(), 'catalog-server-programs-'));
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const isWorthBuilding = files.some((file) => file.includes(PROCESSES)) && files.length > 1;
  const programs = isWorthBuilding ? await build(directory) : {};
  const outcomes = await runAll(files, { ...temporaryFiles(), ...programs });
  const sum = (key: 'passed' | 'failed' | 'skipped') =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0);
  const skipped = sum('skipped');
  process.stdout.write(
    `\n${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
  return files.length === 0 || sum('failed') > 0 || sum('passed') === 0 ? 1 : 0;
}

void main().then((status) => process.exit(status));
