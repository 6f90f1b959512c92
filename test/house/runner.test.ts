/** test/run.ts fails every file that must not pass: planted files with one fault each. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../support/directory.ts';
import { ROOT } from '../support/paths.ts';
import { until } from '../support/until.ts';

const PLANTED = join(import.meta.dir, 'planted');

function run(...files: readonly string[]) {
  const paths = files.map((file) => join(PLANTED, `${file}.ts`));
  return spawnSync(process.execPath, [join(ROOT, 'test', 'run.ts'), ...paths], {
    encoding: 'utf8',
    env: { ...process.env, TESTS_AT_ONCE: '1' },
  });
}

const FAULTY: Readonly<Record<string, string>> = {
  failing: 'a test fails',
  'throwing-before': 'a before hook throws',
  'throwing-after': 'an after hook throws',
  'throwing-after-each': 'an after.each hook throws',
  'forgotten-run': 'a file forgets .run()',
  'early-exit': 'a test ends the process with status 0',
  'failing-and-skipping': 'two tests fail and one is skipped',
  'never-settling': 'a test never settles',
  'late-throw': 'a promise is rejected after the tests have ended',
  'store-in-order': 'a store is in order, although its test declares it as damaged',
  'store-damaged': 'a store is damaged, and its test does not declare it',
  verbose: 'a test fails with more output than a pipe holds',
  empty: 'a file has no tests',
  'not-there': 'the file does not exist',
};

const GOOD = ['good', 'skipping', 'skipping-all'];

/** Its test goes on until it is interrupted. */
const ENDLESS = 'endless';

test('every planted file has a case', () => {
  const names = readdirSync(PLANTED).map((name) => name.replace(/\.ts$/, ''));
  assert.equal(
    names.sort(),
    [...Object.keys(FAULTY), ...GOOD, ENDLESS].filter((name) => name !== 'not-there').sort(),
  );
});

for (const [file, fault] of Object.entries(FAULTY)) {
  test(`the runner exits 1 if ${fault}`, () => {
    const { status, stdout } = run(file);
    assert.is(status, 1, stdout);
    assert.match(stdout, new RegExp(`^FAIL \\S*planted/${file}\\.ts: `, 'm'));
    assert.match(stdout, /\n\d+ passed, [1-9]\d* failed(?:, \d+ skipped)?\n$/);
  });
}

test('a run that is interrupted ends its tests, and removes the programs that it has built', async () => {
  const directory = temporaryDirectory();
  const runner = spawn(
    process.execPath,
    [join(ROOT, 'test', 'run.ts'), join(PLANTED, `${ENDLESS}.ts`)],
    { env: { ...process.env, TMPDIR: directory }, stdio: 'ignore' },
  );
  const ended = once(runner, 'exit');
  const pidOf = () => readdirSync(directory).find((name) => name.startsWith('endless-'));
  await until('the test has begun', () => pidOf() !== undefined);
  const pid = Number(pidOf()?.split('-')[1]);
  runner.kill('SIGTERM');
  assert.equal(await ended, [1, null]);
  await until('the test has ended', () => !isRunning(pid));
  assert.equal(
    readdirSync(directory).filter((name) => name.startsWith('catalog-server-programs-')),
    [],
  );
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('the runner exits 0 for a good file, and prints the counts last', () => {
  const { status, stdout } = run('good');
  assert.is(status, 0, stdout);
  assert.match(
    stdout,
    /^ok {3}\S*planted\/good\.ts: 1 passed, 0 failed in \d+ s\n\n1 passed, 0 failed\n$/,
  );
});

test('a skipped test does not fail the run and is counted', () => {
  const { status, stdout } = run('skipping');
  assert.is(status, 0, stdout);
  assert.match(stdout, /\n1 passed, 0 failed, 1 skipped\n$/);
});

test('a file whose tests are all skipped does not fail the run', () => {
  const { status, stdout } = run('good', 'skipping-all');
  assert.is(status, 0, stdout);
  assert.match(stdout, /\n1 passed, 0 failed, 2 skipped\n$/);
});

test('failed and skipped tests of one file are each counted', () => {
  const { stdout } = run('failing-and-skipping');
  assert.match(stdout, /\n1 passed, 2 failed, 1 skipped\n$/);
});

test('one faulty file among good ones fails the run, and the good files still run', () => {
  const { status, stdout } = run('good', 'throwing-before', 'skipping');
  assert.is(status, 1);
  assert.match(stdout, /\n2 passed, 1 failed, 1 skipped\n$/);
});

test('a faulty file does not change the results of files that share its process', () => {
  const { status, stdout } = run(
    'good',
    'throwing-after',
    'early-exit',
    'store-in-order',
    'empty',
    'skipping',
  );
  assert.is(status, 1);
  const lines = [...stdout.matchAll(/^(ok|FAIL) +\S*planted\/(\S+)\.ts: (\d) passed/gm)];
  assert.equal(
    lines.map(([, how, file]) => `${file} ${how}`),
    [
      'good ok',
      'throwing-after FAIL',
      'early-exit FAIL',
      'store-in-order FAIL',
      'empty FAIL',
      'skipping ok',
    ],
  );
});

test('a file that fails with more output than a pipe holds does not block the next file', () => {
  const { status, stdout } = run('verbose', 'good');
  assert.is(status, 1);
  assert.match(stdout, /^FAIL \S*verbose\.ts: 0 passed, 1 failed/m);
  assert.match(stdout, /\n1 passed, 1 failed\n$/);
});

test('stores are checked in every file that shares a process, not only in the first', () => {
  const { stdout } = run('store-damaged', 'store-in-order', 'good');
  assert.match(stdout, /^FAIL \S*store-damaged\.ts: 1 passed, 1 failed/m);
  assert.match(stdout, /^FAIL \S*store-in-order\.ts: 1 passed, 1 failed/m);
  assert.match(stdout, /in order, but left in disorder by word/);
  assert.match(stdout, /\n3 passed, 2 failed\n$/);
});

test('a property gets arrays and texts as long as their maxLength', () => {
  const longest = (made: fc.Arbitrary<{ readonly length: number }>) =>
    Math.max(...fc.sample(made, { numRuns: 100, seed: 1 }).map(({ length }) => length));
  assert.ok(longest(fc.array(fc.nat(), { maxLength: 200 })) > 150);
  assert.ok(longest(fc.string({ maxLength: 200 })) > 150);
});

test.run();
