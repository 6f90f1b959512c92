/** spec 8.9: which signals stop a server, and what a second one does. */
import { EventEmitter } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { firstSignal, unlessStopped } from '../../../src/app/signals.ts';
import { messageOf } from '../../../src/errors.ts';

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

test('a step of the start that a signal makes fail is not an error, even if it fails first', async () => {
  const source = new Source();
  const stop = firstSignal(source);
  const step = Promise.withResolvers<string>();
  const ended = unlessStopped(stop, step.promise);
  step.reject(new Error('a worker ended before it served: SIGTERM'));
  source.emit('SIGTERM');
  assert.is(await ended, null);
});

test('a step that fails without a signal is an error, and one that succeeds is not undone', async () => {
  const source = new Source();
  const stop = firstSignal(source);
  const failed = unlessStopped(stop, Promise.reject(new Error('the port is in use')));
  assert.is(await failed.catch(messageOf), 'the port is in use');
  source.emit('SIGTERM');
  assert.is(await unlessStopped(stop, Promise.resolve('listens')), 'listens');
});

test.run();
