/** When a request is sent again that was refused because there are too many (spec 13.5). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { delayOf, throttled, waitThrottled } from '../../../src/console/browser/throttled.ts';
import { turn } from '../../support/turns.ts';

const refusal = (status: number, retryAfter?: string) =>
  new Response(null, {
    status,
    headers: retryAfter === undefined ? {} : { 'Retry-After': retryAfter },
  });

test('only a 429 is sent again: after another failure something may have been done', () => {
  for (const status of [200, 401, 500, 503]) assert.is(delayOf(refusal(status, '1'), 1), null);
  assert.is(delayOf(refusal(429, '2'), 1), 2000);
});

test('a proxy that does not say how long is given a second', () => {
  assert.is(delayOf(refusal(429), 1), 1000);
});

test('a wait of more than 5 seconds, or until a date, is left to the user', () => {
  assert.is(delayOf(refusal(429, '5'), 1), 5000);
  assert.is(delayOf(refusal(429, '6'), 1), null);
  assert.is(delayOf(refusal(429, 'Sun, 29 Nov 2026 10:00:00 GMT'), 1), null);
});

test('a request is sent at most six times', () => {
  assert.is(delayOf(refusal(429), 5), 1000);
  assert.is(delayOf(refusal(429), 6), null);
});

test('a wait is counted until its time has passed, or until its request is aborted', async () => {
  const timers: { readonly end: () => void; readonly milliseconds: number }[] = [];
  const { setTimeout: original } = globalThis;
  globalThis.setTimeout = ((end: () => void, milliseconds: number) => {
    timers.push({ end, milliseconds });
  }) as never;
  try {
    const abort = new AbortController();
    const waits = [
      waitThrottled(2000, new AbortController().signal),
      waitThrottled(3000, abort.signal),
    ];
    assert.is(throttled.value, 2);
    assert.equal(
      timers.map(({ milliseconds }) => milliseconds),
      [2000, 3000],
    );
    abort.abort();
    await turn();
    assert.is(throttled.value, 1);
    timers[0]?.end();
    await turn();
    assert.is(throttled.value, 0);
    await Promise.all(waits);
  } finally {
    globalThis.setTimeout = original;
  }
});

test.run();
