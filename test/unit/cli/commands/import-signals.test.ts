/** spec 8.14: what a signal does to an `import` that runs. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Delay } from '../../../../src/delay.ts';
import { onSignal } from '../../../../src/cli/commands/transfer/source.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A timer that ends when the test calls its work. */
class TestTimer {
  milliseconds = 0;
  work: (() => void) | null = null;

  readonly after: Delay = (work, milliseconds) => {
    this.work = work;
    this.milliseconds = milliseconds;
    return () => void (this.work = null);
  };
}

const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));

for (const signal of SIGNALS) {
  test(`20 ms after a ${signal} a second signal, whatever its kind, ends the process`, () => {
    const before = listeners();
    const timer = new TestTimer();
    let stops = 0;
    const undo = onSignal(() => (stops += 1), timer.after);
    process.emit(signal);
    assert.is(stops, 1);
    timer.work?.();
    assert.is(timer.milliseconds, 20);
    assert.equal(listeners(), before, 'the system has its way');
    undo();
    assert.equal(listeners(), before);
  });

  test(`a SIGINT or SIGHUP that follows a ${signal} within 20 ms is a copy, and a SIGTERM is not`, () => {
    const [int = 0, term = 0, hup = 0] = listeners();
    const timer = new TestTimer();
    let stops = 0;
    const undo = onSignal(() => (stops += 1), timer.after);
    process.emit(signal);
    assert.equal(listeners(), [int + 1, term, hup + 1]);
    process.emit('SIGINT');
    process.emit('SIGHUP');
    assert.is(stops, 1);
    undo();
    assert.equal(listeners(), [int, term, hup]);
    assert.is(timer.work, null);
  });
}

test('an import that has ended catches no signal', () => {
  const before = listeners();
  onSignal(() => {})();
  assert.equal(listeners(), before);
});

test.run();
