/** docs/performance.md, "Memory" and "Start": the executable serves with numbers of its own for the engine. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Beginning,
  beginWithServingPolicy,
} from '../../../../src/app/engine/serving-policy.ts';

/** What a process does that begins: with what it is replaced, and what it prints. */
function begin(given: Partial<Beginning>) {
  const replacements: unknown[] = [];
  const lines: string[] = [];
  beginWithServingPolicy({
    isExecutable: true,
    executable: '/opt/catalog-server',
    name: 'catalog-server',
    args: ['serve', '--port', '0'],
    env: { HOME: '/root' },
    replace: (...replacement) => void replacements.push(replacement),
    warn: (line) => void lines.push(line),
    ...given,
  });
  return { replacements, lines };
}

const WITH_POLICY = {
  HOME: '/root',
  BUN_JSC_heapGrowthMaxIncrease: '0.2',
  BUN_JSC_minEdenToOldGenerationRatio: '0.13',
  BUN_JSC_largeHeapSize: '25165824',
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '256000',
  MIMALLOC_PURGE_DELAY: '1000',
};

test('the executable that serves begins again, as it was called, with its numbers', () => {
  const { replacements, lines } = begin({});
  const argv = ['catalog-server', 'serve', '--port', '0'];
  assert.equal(replacements, [['/opt/catalog-server', argv, WITH_POLICY]]);
  assert.equal(lines, []);
});

test('it does not begin a third time', () => {
  assert.equal(begin({ env: WITH_POLICY }).replacements, []);
});

test('numbers that the environment has are left alone', () => {
  for (const variable of Object.keys(WITH_POLICY).filter((name) => name !== 'HOME')) {
    assert.equal(begin({ env: { [variable]: '1' } }).replacements, [], variable);
  }
});

test('other commands, and the program from source, do not begin again', () => {
  assert.equal(begin({ args: ['check'] }).replacements, []);
  assert.equal(begin({ args: [] }).replacements, []);
  assert.equal(begin({ isExecutable: false }).replacements, []);
});

test('if the system refuses, the program goes on and says so', () => {
  const { lines } = begin({
    replace() {
      throw new Error('ENOENT, No such file or directory');
    },
  });
  assert.equal(lines, [
    'the server will take more memory and answer its first requests more slowly, because it could not restart itself with its memory settings: ENOENT, No such file or directory',
  ]);
});

test.run();
