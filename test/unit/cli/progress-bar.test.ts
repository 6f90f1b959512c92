/** src/cli/progress-bar.ts: the text for the remaining time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timeLeft } from '../../../src/cli/progress-bar.ts';

const CASES: readonly [done: number, total: number, seconds: number, text: string][] = [
  [0, 10, 0, 'time left unknown'],
  [0, 10, 5, 'time left unknown'],
  [0, 0, 0, '0 s left'],
  [5, 10, 5, '5 s left'],
  [10, 10, 7, '0 s left'],
  [12, 10, 7, '0 s left'],
  [1, 126, 1, '2 min 5 s left'],
  [1, 7321, 1, '2 h 2 min left'],
];

for (const [done, total, seconds, text] of CASES) {
  test(`after ${seconds} s with ${done} of ${total} done, the text is "${text}"`, () => {
    assert.is(timeLeft(done, total, seconds), text);
  });
}

test.run();
