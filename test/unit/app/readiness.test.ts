/** Whether a server takes writes (spec 5.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Readiness } from '../../../src/app/readiness.ts';

test('a refused write makes a server not ready until a write succeeds or 30 seconds have passed', () => {
  let now = 1000;
  const readiness = new Readiness(() => now);
  const group = { transactions: 1, changes: 1, milliseconds: 1, refused: null };
  assert.is(readiness.reason(), null);
  readiness.committed({ ...group, refused: 'log' });
  assert.is(readiness.reason(), null, 'the disk was not asked');
  readiness.committed({ ...group, refused: 'disk' });
  assert.is(readiness.reason(), 'the disk refused a write');
  readiness.committed({ ...group, changes: 0 });
  readiness.committed({ ...group, refused: 'log' });
  assert.is(readiness.reason(), 'the disk refused a write', 'nothing was written');
  readiness.committed(group);
  assert.is(readiness.reason(), null);
  readiness.committed({ ...group, refused: 'disk' });
  now += 29_999;
  assert.is(readiness.reason(), 'the disk refused a write');
  now += 1;
  assert.is(readiness.reason(), null);
  readiness.raise('closing');
  assert.is(readiness.reason(), 'the server is shutting down');
});

test('a write that the disk has not ended for 10 seconds makes a server not ready until it ends', async () => {
  let now = 1000;
  const readiness = new Readiness(() => now);
  for (const outcome of ['resolve', 'reject'] as const) {
    const writing = Promise.withResolvers<void>();
    readiness.appending(writing.promise);
    now += 9999;
    assert.is(readiness.reason(), null);
    now += 1;
    assert.is(readiness.reason(), 'the disk does not answer');
    writing[outcome]();
    await writing.promise.catch(() => {});
    assert.is(readiness.reason(), null);
  }
});

test('a raised reason lasts until it is cleared, and the shutdown is reported before other reasons', () => {
  const readiness = new Readiness(() => 0);
  readiness.raise('disk');
  assert.is(readiness.reason(), 'the disk refused a write');
  readiness.raise('closing');
  assert.is(readiness.reason(), 'the server is shutting down');
  readiness.clear('closing');
  readiness.clear('disk');
  assert.is(readiness.reason(), null);
});

test('a host that shares its log is ready only while it is in step with it (spec 15.23)', () => {
  const readiness = new Readiness(() => 0);
  for (const [state, reason] of [
    ['catching up', 'this host is not in step with the others yet'],
    ['unreachable', 'the log that the hosts share does not answer'],
    ['refusing', 'the log that the hosts share takes no writes'],
    ['in sync', null],
    [
      'stopped',
      'this host can no longer follow the log that the hosts share; the messages of its server say why',
    ],
  ] as const) {
    readiness.setReplicationState(state);
    assert.is(readiness.reason(), reason);
  }
});

test('the first check that gives a reason is reported, such as a lack of memory (spec 11.6)', () => {
  let reason: string | null = 'the server is short of memory';
  let full: string | null = 'the disk is nearly full';
  const readiness = new Readiness();
  readiness.also(() => reason);
  readiness.also(() => full);
  assert.is(readiness.reason(), 'the server is short of memory');
  reason = null;
  assert.is(readiness.reason(), 'the disk is nearly full');
  full = null;
  assert.is(readiness.reason(), null);
});

test.run();
