/** What is expected of a command that has ended. */
import * as assert from 'uvu/assert';
import type { Finished } from './server.ts';

/** Checks that a command succeeded without a word on standard error. */
export function assertDone({ status, stderr }: Finished): void {
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
}

/** Checks for one line on standard error, no standard output, and no stack trace. */
export function assertOneLine({ status, stdout, stderr }: Finished, expected: number): void {
  assert.is(status, expected, stderr);
  assert.is(stdout, '');
  assert.match(stderr, /^catalog-server: [^\n]{10,}\n$/);
  assert.not.match(stderr, /\n\s+at |\.ts:\d/);
}
