/**
 * Runs every test file, and adds up the counts that uvu prints.
 *
 * uvu alone exits with status 0 if a hook throws, if a file forgets `.run()`, and if there is no
 * file at all. Here each of them is a failure.
 *
 * A file of test/process has a process of its own. The others share one, some of them at a time
 * (test/batch.ts): most of their time goes to what each process does once. If a file ends its
 * process, it has failed, and those after it get a new process.
 *
 * Tests of processes start the program more than a thousand times. They get it as an executable,
 * which is built first: it starts in a fifth of the CPU time that the source needs, and it is what
 * users have.
 *
 *     bun test/run.ts              every test/**\/*.test.ts
 *     bun test/run.ts FILE...      these; with one file, the program is run from source
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BOUNDARY } from './batch.ts';

const ROOT = join(import.meta.dir, '..');

/** Milliseconds after which a file counts as one that hangs: many times what any of them takes. */
const HANGS_AFTER_MS = 1_800_000;

/** Files at once: one more than there are cores, because tests of processes wait most of the time. */
const AT_ONCE = availableParallelism() + 1;

/** Files that share a process: so many that it is worth it, so few that its memory stays small. */
const BATCH = 12;

/** Tests that measure CPU time. Beside others the same work takes more of it, so they run alone. */
const MEASURING = join('test', 'http', 'loop-budget.test.ts');

/** The room of the tests that start the program. */
const PROCESSES = join('test', 'process');

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

/** @throws if one cannot be built. */
function build(directory: string): Programs {
  const built = Object.entries(PROGRAMS).map(([variable, args]) => {
    const outfile = join(directory, variable.toLowerCase());
    const { status, stderr } = spawnSync(process.execPath, args(outfile), {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${variable} cannot be built: ${stderr}`);
    return [variable, outfile];
  });
  return Object.fromEntries(built);
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

/** Files of test/process alone, and the others in batches. */
function batchesOf(files: readonly string[]): string[][] {
  const alone = files.filter((file) => file.includes(PROCESSES));
  const together = files.filter((file) => !file.includes(PROCESSES));
  const batches = alone.map((file) => [file]);
  for (let at = 0; at < together.length; at += BATCH) batches.push(together.slice(at, at + BATCH));
  return batches;
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
  waiting.push(...batchesOf(files.filter((file) => !measures(file))));
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
  const programs = isWorthBuilding ? build(directory) : {};
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
