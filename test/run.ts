/**
 * Runs every test file in a process of its own, and adds up the counts that uvu prints.
 *
 * uvu alone exits with status 0 if a hook throws, if a file forgets `.run()`, and if there is no
 * file at all. Here each of them is a failure.
 *
 * Files share nothing, so that one cannot break another. To run all of test/unit and test/http in
 * one process would save some 20 seconds of CPU time, which is not worth that.
 *
 * Tests of processes start the program more than a thousand times. They get it as an executable,
 * which is built first: it starts in a fifth of the CPU time that the source needs, and it is what
 * users have.
 *
 *     bun test/run.ts              every test/**\/*.test.ts
 *     bun test/run.ts FILE...      these; with one file, the program is run from source
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dir, '..');

/** Milliseconds after which a file counts as one that hangs: many times what any of them takes. */
const HANGS_AFTER_MS = 1_800_000;

/** Files at once: one more than there are cores, because tests of processes wait most of the time. */
const AT_ONCE = availableParallelism() + 1;

/** Tests that measure CPU time. Beside others the same work takes more of it, so they run alone. */
const MEASURING = join('test', 'http', 'loop-budget.test.ts');

/** The room of the tests that start the program. */
const PROCESSES = join('test', 'process');

interface Outcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly output: string;
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

function runFile(file: string, programs: Programs): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], {
      cwd: ROOT,
      env: { ...process.env, ...programs, FORCE_COLOR: '0', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const timer = setTimeout(() => {
      output += `\nended after ${HANGS_AFTER_MS / 1000} s\n`;
      child.kill('SIGKILL');
    }, HANGS_AFTER_MS);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve(judge(file, status, output));
    });
  });
}

function judge(file: string, status: number | null, output: string): Outcome {
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

async function runAll(files: readonly string[], programs: Programs): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const measures = (file: string) => file.endsWith(MEASURING);
  const waiting = files.filter(measures);
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const begun = performance.now();
      const outcome = await runFile(file, programs);
      const seconds = ((performance.now() - begun) / 1000).toFixed(0);
      outcomes.push(outcome);
      const { passed, failed, skipped } = outcome;
      const note = skipped > 0 ? `, ${skipped} skipped` : '';
      process.stdout.write(
        `${failed > 0 ? 'FAIL' : 'ok  '} ${outcome.file}: ${passed} passed, ${failed} failed${note} in ${seconds} s\n`,
      );
      if (failed > 0) process.stdout.write(`${outcome.output}\n`);
    }
  };
  await worker();
  waiting.push(...files.filter((file) => !measures(file)));
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

async function main(): Promise<number> {
  const named = process.argv.slice(2);
  const files = named.length > 0 ? named : findTests(import.meta.dir);
  const directory = mkdtempSync(join(tmpdir(), 'catalog-server-programs-'));
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const isWorthBuilding = files.some((file) => file.includes(PROCESSES)) && files.length > 1;
  const outcomes = await runAll(files, isWorthBuilding ? build(directory) : {});
  const sum = (key: 'passed' | 'failed' | 'skipped') =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0);
  const skipped = sum('skipped');
  process.stdout.write(
    `\n${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
  return files.length === 0 || sum('failed') > 0 || sum('passed') === 0 ? 1 : 0;
}

void main().then((status) => process.exit(status));
