/** Pauses that a signal ends. */
import { test } from 'uvu';
import { pause } from '../../src/delay.ts';

const NEVER = Number.POSITIVE_INFINITY;

test('a pause ends when its time is over', () => pause(1, new AbortController().signal));

test('a pause of any length ends when the signal aborts', async () => {
  const ended = new AbortController();
  const pauses = [pause(NEVER, ended.signal), pause(2 ** 31 - 1, ended.signal)];
  ended.abort();
  await Promise.all(pauses);
});

test('a pause ends at once if the signal has aborted before', () =>
  pause(NEVER, AbortSignal.abort()));

test.run();
