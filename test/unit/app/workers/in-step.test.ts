/** spec 15.18: a worker applies what the owner reports as durable, and says what it shows. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { InStep } from '../../../../src/app/workers/in-step.ts';
import type { FromWorker } from '../../../../src/app/workers/messages.ts';
import { CatalogError, messageOf } from '../../../../src/errors.ts';
import type { EncodedChangeSet } from '../../../../src/store/change-set.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

/** A worker whose state is a number, and that applies a change set when the test lets it. */
function scene(maxRetryingMs = Number.POSITIVE_INFINITY) {
  const applied: number[] = [];
  const sent: FromWorker[] = [];
  const errors: string[] = [];
  const calls: string[] = [];
  const survived: string[] = [];
  const settings = { sequence: 0, pause: Promise.resolve(), damage: '', unreadable: 0 };
  const inStep = new InStep({
    store: {
      get sequence() {
        return settings.sequence;
      },
      async receive({ changeSet: { sequence } }) {
        await settings.pause;
        applied.push(sequence);
        settings.sequence = sequence;
      },
    },
    log: {
      setOldest: (oldest) => void calls.push(`oldest ${oldest}`),
      async *read(after, last) {
        calls.push(`read ${after} to ${last}`);
        if (settings.damage !== '') throw new Error(settings.damage);
        settings.unreadable -= 1;
        if (settings.unreadable >= 0) throw new CatalogError('store_unreadable', 'EMFILE');
        for (let sequence = after + 1; sequence <= last; sequence += 1) {
          yield { changeSet: { sequence } } as EncodedChangeSet;
        }
      },
    },
    send: (message) => sent.push(message),
    onError: (error) => survived.push(messageOf(error)),
    onFatal: (error) => errors.push(messageOf(error)),
    maxRetryingMs,
  });
  const take = (sequence: number, isMember: boolean, oldest = 0) =>
    inStep.take({ kind: 'state', sequence, oldest, isMember });
  const state = { hasJoined: false };
  void inStep.joined.then(() => (state.hasJoined = true));
  return { inStep, take, settings, applied, sent, errors, survived, calls, state };
}

test('a worker applies what is reported, and says so after each report', async () => {
  const { inStep, take, applied, sent, calls, errors } = scene();
  inStep.begin();
  assert.equal(sent, [{ kind: 'applied', sequence: 0 }]);
  take(2, false, 1);
  await turn();
  assert.equal(sent.at(-1), { kind: 'applied', sequence: 2 });
  take(3, false, 2);
  await turn();
  assert.equal(sent.at(-1), { kind: 'applied', sequence: 3 });
  assert.equal(applied, [1, 2, 3]);
  assert.equal(calls, ['oldest 1', 'read 0 to 2', 'oldest 2', 'read 2 to 3']);
  assert.equal(errors, []);
});

test('a worker has joined once writes wait for it and it has all that was reported', async () => {
  const { take, settings, applied, sent, state } = scene();
  take(1, false);
  await turn();
  assert.not.ok(state.hasJoined, 'writes do not wait for it yet');
  const { promise, resolve } = Promise.withResolvers<void>();
  settings.pause = promise;
  take(2, true);
  await turn();
  assert.not.ok(state.hasJoined, 'it lacks a change set');
  take(3, true);
  const second = Promise.withResolvers<void>();
  settings.pause = second.promise;
  resolve();
  await turn();
  assert.equal(sent.at(-1), { kind: 'applied', sequence: 2 });
  assert.not.ok(state.hasJoined, 'it lacks what was reported meanwhile');
  second.resolve();
  await turn();
  assert.ok(state.hasJoined);
  assert.equal(applied, [1, 2, 3], 'each is applied once');
});

test('an earlier report that arrives late takes nothing back', async () => {
  const { take, settings, applied, state } = scene();
  const { promise, resolve } = Promise.withResolvers<void>();
  settings.pause = promise;
  take(1, false);
  await turn();
  take(3, true);
  take(2, false);
  resolve();
  await turn();
  assert.equal(applied, [1, 2, 3]);
  assert.ok(state.hasJoined);
});

test('a file that cannot be read for a moment is read again, which is logged once', async () => {
  const { take, settings, applied, errors, survived, state } = scene();
  settings.unreadable = 3;
  take(2, true);
  await turn();
  assert.not.ok(state.hasJoined, 'it waits between two attempts');
  assert.equal(survived, ['EMFILE'], 'the first failure is logged');
  await until('the worker has joined', () => state.hasJoined);
  assert.equal(applied, [1, 2]);
  assert.equal(survived, ['EMFILE']);
  assert.equal(errors, []);
});

test('a worker that cannot read a file for longer ends', async () => {
  const { take, settings, sent, errors } = scene(0);
  settings.unreadable = 1;
  take(1, true);
  await turn();
  assert.equal(errors, ['EMFILE']);
  assert.equal(sent, []);
});

test('if change sets cannot be read, the worker ends, and has not joined', async () => {
  const { take, settings, sent, errors, state } = scene();
  settings.damage = 'change set 1 is not kept any more';
  take(1, true);
  await turn();
  assert.equal(errors, [settings.damage]);
  assert.equal(sent, []);
  assert.not.ok(state.hasJoined);
});

test.run();
