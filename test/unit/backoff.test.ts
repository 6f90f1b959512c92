/** Delays between attempts that fail. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Backoff, backoffDelay } from '../../src/backoff.ts';

test('a delay doubles with each failure, up to the longest', () => {
  const delays = [1, 2, 3, 4, 5, 10_000].map((failures) =>
    backoffDelay(failures, { first: 500, longest: 3000 }),
  );
  assert.equal(delays, [500, 1000, 2000, 3000, 3000, 3000]);
});

test('half of a delay between processes is random, and a success begins again', () => {
  const chances = [0, 0.5, 1, 0];
  const backoff = new Backoff(() => chances.shift() ?? 0);
  assert.equal([backoff.delay(), backoff.delay(), backoff.delay()], [50, 150, 400]);
  backoff.reset();
  assert.is(backoff.delay(), 50);
});

test.run();
