/** Pauses and loops that a signal ends, and work within a time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pause, repeat, withTimeout } from '../../src/delay.ts';
import { turn } from '../support/turns.ts';

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

test('work is repeated until the signal aborts, and its first failure in a row is reported', async () => {
  const ended = new AbortController();
  const outcomes = ['ok', 'one', 'two', 'ok', 'three'];
  const reported: string[] = [];
  const work = async () => {
    const outcome = outcomes.shift();
    if (outcomes.length === 0) ended.abort();
    if (outcome !== 'ok') throw new Error(outcome);
  };
  await repeat(work, 0, ended.signal, (error) => void reported.push((error as Error).message));
  assert.equal(outcomes, []);
  assert.equal(reported, ['one', 'three']);
});

const LONG_MS = 2 ** 31 - 1;
const unfinished = new Promise<never>(() => {});
const late = () => 'late';
const refuse = (): never => {
  throw new Error('late');
};

/** Counts the timers that `work` leaves behind. */
async function timersLeft(work: () => Promise<unknown>): Promise<number> {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const timers = new Set<unknown>();
  Object.assign(globalThis, {
    setTimeout: (...given: Parameters<typeof set>) => {
      const timer = set(...given);
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer: Parameters<typeof clear>[0]) => {
      timers.delete(timer);
      clear(timer);
    },
  });
  try {
    await work().catch(() => {});
    return timers.size;
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  }
}

/** A signal, and how many listeners it has. */
function observedSignal() {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.add(given[1]);
    add.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.delete(given[1]);
    remove.apply(signal, given);
  };
  return { signal, listeners };
}

test('pauses and waits that have ended leave nothing on their signal', async () => {
  const { signal, listeners } = observedSignal();
  const pausing = pause(1, signal);
  assert.is(listeners.size, 1);
  await pausing;
  assert.is(listeners.size, 0);
  const waiting = withTimeout(turn(), LONG_MS, refuse, signal);
  assert.is(listeners.size, 1);
  await waiting;
  assert.is(listeners.size, 0);
});

test('work that ends in time has its own result or failure', async () => {
  assert.is(await withTimeout(Promise.resolve('done'), LONG_MS, late), 'done');
  const failing = withTimeout(Promise.reject(new Error('broken')), LONG_MS, late);
  assert.is(await failing.catch((error: Error) => error.message), 'broken');
});

test('work that takes too long is not awaited', async () => {
  assert.is(await withTimeout(unfinished, 1, late), 'late');
  const refused = withTimeout(unfinished, 1, refuse);
  assert.is(await refused.catch((error: Error) => error.message), 'late');
});

test('a signal ends the wait for work', async () => {
  const ended = new AbortController();
  const waiting = withTimeout(unfinished, LONG_MS, late, ended.signal);
  ended.abort();
  assert.is(await waiting, 'late');
  assert.is(await withTimeout(unfinished, LONG_MS, late, AbortSignal.abort()), 'late');
  const unbounded = withTimeout(
    turn(),
    Number.POSITIVE_INFINITY,
    late,
    new AbortController().signal,
  );
  assert.is(await unbounded, undefined, 'an infinite time is never over');
});

test('no timer is left when a wait ends', async () => {
  const ways: (() => Promise<unknown>)[] = [
    () => withTimeout(Promise.resolve(), LONG_MS, late),
    () => withTimeout(Promise.reject(new Error('broken')), LONG_MS, late),
    () => withTimeout(unfinished, LONG_MS, refuse, AbortSignal.abort()),
  ];
  for (const way of ways) assert.is(await timersLeft(way), 0, String(way));
});

test.run();
