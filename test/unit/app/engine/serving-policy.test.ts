/** docs/performance.md, "Memory" and "Start": settings of the engine for `serve`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Beginning,
  beginWithServingPolicy,
} from '../../../../src/app/engine/serving-policy.ts';

/** Starts a process; returns the calls that replace it, and the lines that it prints. */
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
  BUN_CONFIG_MAX_HTTP_REQUESTS: '4096',
};

test('for serve the executable executes itself again with the same arguments and its engine settings', () => {
  const { replacements, lines } = begin({});
  const argv = ['catalog-server', 'serve', '--port', '0'];
  const env = { ...WITH_POLICY, UV_THREADPOOL_SIZE: '128' };
  assert.equal(replacements, [['/opt/catalog-server', argv, env]]);
  assert.equal(lines, []);
});

test('a number of threads in the environment, which may be for other programs, is kept', () => {
  const { replacements } = begin({ env: { HOME: '/root', UV_THREADPOOL_SIZE: '7' } });
  const argv = ['catalog-server', 'serve', '--port', '0'];
  const env = { ...WITH_POLICY, UV_THREADPOOL_SIZE: '7' };
  assert.equal(replacements, [['/opt/catalog-server', argv, env]]);
});

test('the executable executes itself again only once', () => {
  assert.equal(begin({ env: WITH_POLICY }).replacements, []);
});

test('the executable does not execute itself again if the environment sets one of the settings', () => {
  for (const variable of Object.keys(WITH_POLICY).filter((name) => name !== 'HOME')) {
    assert.equal(begin({ env: { [variable]: '1' } }).replacements, [], variable);
  }
});

test('other commands and the program run from source do not execute themselves again', () => {
  assert.equal(begin({ args: ['check'] }).replacements, []);
  assert.equal(begin({ args: [] }).replacements, []);
  assert.equal(begin({ isExecutable: false }).replacements, []);
});

test('if the executable cannot execute itself, it continues and prints a warning', () => {
  const { lines } = begin({
    replace() {
      throw new Error('ENOENT, No such file or directory');
    },
  });
  assert.equal(lines, [
    'the server will take more memory, answer its first requests more slowly, forward fewer requests at a time and delay pages while names cannot be looked up, because it could not restart itself with its settings for the engine: ENOENT, No such file or directory',
  ]);
});

test.run();
