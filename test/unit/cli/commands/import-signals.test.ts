/** spec 8.14: what a signal does to an `import` that runs. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onSignal } from '../../../../src/cli/commands/transfer/source.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));

for (const signal of SIGNALS) {
  test(`after a ${signal} a second signal, whatever its kind, ends the process`, () => {
    const before = listeners();
    let stops = 0;
    const undo = onSignal(() => (stops += 1));
    process.emit(signal);
    assert.is(stops, 1);
    assert.equal(listeners(), before, 'the system has its way');
    undo();
    assert.equal(listeners(), before);
  });
}

test('an import that has ended catches no signal', () => {
  const before = listeners();
  onSignal(() => {})();
  assert.equal(listeners(), before);
});

test.run();
