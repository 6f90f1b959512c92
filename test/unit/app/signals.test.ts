/** spec 8.9: which signals stop a server, and what a second one does. */
import { EventEmitter } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onStopSignal, unlessStopped } from '../../../src/app/signals.ts';
import { messageOf } from '../../../src/errors.ts';

class Source extends EventEmitter {
  readonly exits: number[] = [];
  exit(status: number): void {
    this.exits.push(status);
  }
}

/** @param now milliseconds. @returns what aborts at the first signal. */
function stopped(source: Source, now?: () => number): AbortSignal {
  const stopping = new AbortController();
  onStopSignal(() => stopping.abort(), source, now);
  return stopping.signal;
}

for (const [signal, status] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const) {
  test(`the first ${signal} starts an orderly shutdown, and a second one exits with ${status}`, () => {
    const source = new Source();
    let now = 1000;
    const stop = stopped(source, () => now);
    source.emit(signal);
    assert.ok(stop.aborted);
    assert.equal(source.exits, []);
    now += 21;
    source.emit(signal);
    assert.equal(source.exits, [status]);
  });
}

test('a second signal of another kind exits with its own status', () => {
  const source = new Source();
  let now = 1000;
  const stop = stopped(source, () => now);
  source.emit('SIGHUP');
  assert.ok(stop.aborted);
  now += 1;
  source.emit('SIGTERM');
  assert.equal(source.exits, [143]);
});

test('a SIGINT or SIGHUP that is repeated within 20 ms counts once', () => {
  for (const signal of ['SIGINT', 'SIGHUP']) {
    const source = new Source();
    let now = 1000;
    const stop = stopped(source, () => now);
    source.emit(signal);
    now += 20;
    source.emit(signal);
    assert.ok(stop.aborted, signal);
    assert.equal(source.exits, [], signal);
  }
});

test('a start that is stopped is not waited for, and what becomes of it is no error', async () => {
  const source = new Source();
  const start = Promise.withResolvers<string>();
  const ended = unlessStopped(stopped(source), start.promise);
  source.emit('SIGTERM');
  assert.is(await ended, null);
  start.reject(new Error('another host does not answer'));
});

test('a start that fails because of the signal is not an error, even if it fails first', async () => {
  const source = new Source();
  const start = Promise.withResolvers<string>();
  const ended = unlessStopped(stopped(source), start.promise);
  start.reject(new Error('a worker ended before it served: SIGTERM'));
  source.emit('SIGTERM');
  assert.is(await ended, null);
});

test('a start that fails without a signal is an error, and one that ends well is not undone', async () => {
  const source = new Source();
  const stop = stopped(source);
  const failed = unlessStopped(stop, Promise.reject(new Error('the port is in use')));
  assert.is(await failed.catch(messageOf), 'the port is in use');
  assert.is(await unlessStopped(stop, Promise.resolve('listens')), 'listens');
});

test.run();
