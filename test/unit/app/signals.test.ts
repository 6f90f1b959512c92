/** spec 8.9: which signals stop a server, and what a second one does. */
import { EventEmitter } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { firstSignal } from '../../../src/app/signals.ts';

class Source extends EventEmitter {
  readonly exits: number[] = [];
  exit(status: number): void {
    this.exits.push(status);
  }
}

for (const [signal, status] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const) {
  test(`the first ${signal} starts an orderly shutdown, and a second one exits with ${status}`, async () => {
    const source = new Source();
    let now = 1000;
    const stopped = firstSignal(source, () => now);
    source.emit(signal);
    await stopped;
    assert.equal(source.exits, []);
    now += 21;
    source.emit(signal);
    assert.equal(source.exits, [status]);
  });
}

test('a second signal of another kind exits with its own status', async () => {
  const source = new Source();
  let now = 1000;
  const stopped = firstSignal(source, () => now);
  source.emit('SIGHUP');
  await stopped;
  now += 1;
  source.emit('SIGTERM');
  assert.equal(source.exits, [143]);
});

test('a SIGINT or SIGHUP that is repeated within 20 ms counts once', async () => {
  for (const signal of ['SIGINT', 'SIGHUP']) {
    const source = new Source();
    let now = 1000;
    const stopped = firstSignal(source, () => now);
    source.emit(signal);
    now += 20;
    source.emit(signal);
    await stopped;
    assert.equal(source.exits, [], signal);
  }
});

test.run();
