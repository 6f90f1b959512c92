/** spec 15.22, 15.23: a host is in sync, catching up, unreachable, refusing or stopped. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, messageOf } from '../../../../src/errors.ts';
import { LogFollower } from '../../../../src/hosts/cluster/log-follower.ts';
import type { LogPosition } from '../../../../src/store/change-log.ts';
import { turn } from '../../../support/turns.ts';

const DIGEST = 'a'.repeat(64);

/** A follower of a log whose head the test sets. */
function follow() {
  let tell: (head: LogPosition | null) => void = () => {};
  let time = 0;
  const store = {
    sequence: 3,
    digest: DIGEST,
    isLogUnavailable: false,
    targets: [] as number[],
    failure: null as unknown,
    /** What `catchUp` waits for. */
    disk: Promise.resolve(),
    async catchUp(target: number) {
      store.targets.push(target);
      await store.disk;
      if (store.failure !== null) throw store.failure;
      store.sequence = target;
    },
  };
  const states: string[] = [];
  const errors: string[] = [];
  const follower = new LogFollower({
    log: {
      follow(listener) {
        tell = listener;
        return async () => {};
      },
    },
    store,
    onReplicationState: (state) => void states.push(state),
    onError: (error) => void errors.push(messageOf(error)),
    now: () => time,
  });
  return {
    follower,
    store,
    states,
    errors,
    async head(sequence: number | null, digest = DIGEST) {
      tell(sequence === null ? null : { sequence, digest });
      await turn();
    },
    pass: (milliseconds: number) => (time += milliseconds),
  };
}

test('a host catches up until it has every change set that the log had, and then is in sync', async () => {
  const { states, store, head } = follow();
  assert.equal(states, ['catching up']);
  await head(9);
  assert.equal(states, ['catching up', 'in sync']);
  await head(10);
  assert.equal(store.targets, [9, 10]);
  assert.equal(states, ['catching up', 'in sync'], 'one change set behind is in sync');
});

test('a head that is reported while the host catches up is not left to the next report', async () => {
  const { store, states, head } = follow();
  const disk = Promise.withResolvers<void>();
  store.disk = disk.promise;
  await head(4);
  await head(5);
  assert.equal(store.targets, [4]);
  disk.resolve();
  await turn();
  assert.equal(store.targets, [4, 5]);
  assert.equal(states, ['catching up', 'in sync']);
});

test('an older head that arrives late is ignored', async () => {
  const { follower, store, head } = follow();
  await head(9);
  await head(7);
  assert.is(follower.behind, 0);
  assert.equal(store.targets, [9]);
});

test('an older head does not hide how far a host is behind', async () => {
  const { follower, store, head } = follow();
  store.disk = new Promise(() => {});
  await head(9);
  await head(7);
  assert.is(follower.behind, 6);
});

test('a host is not in sync before the log has answered', async () => {
  const { states, head } = follow();
  await head(null);
  assert.equal(states, ['catching up']);
});

test('a host to whose log nothing is written stays in sync', async () => {
  const { states, head, pass } = follow();
  for (let nth = 0; nth < 30; nth += 1) {
    await head(3);
    pass(1000);
  }
  await head(3);
  assert.equal(states, ['catching up', 'in sync']);
});

test('a host that is behind for long is not stopped as long as it makes progress, and after a rest', async () => {
  const { store, states, head, pass } = follow();
  await head(3);
  for (let nth = 0; nth < 4; nth += 1) {
    pass(4000);
    await head(3);
  }
  store.disk = new Promise(() => {});
  for (let nth = 0; nth < 10; nth += 1) {
    await head(90);
    pass(4000);
    store.sequence += 1;
  }
  await head(90);
  assert.equal(states, ['catching up', 'in sync']);
});

test('a host that is ahead of a log that was set back is stopped until the log has its change set', async () => {
  const { follower, store, states, errors, head } = follow();
  await head(9);
  store.failure = new CatalogError('log_unavailable', 'the log ends at 7');
  await head(7);
  await head(7);
  assert.equal(states, ['catching up', 'in sync', 'stopped']);
  assert.equal(errors, ['the log ends at 7']);
  store.failure = null;
  await head(9, 'b'.repeat(64));
  assert.is(follower.state, 'stopped', 'it is of another history');
  assert.match(errors[1] ?? '', 'change set 9 of this host differs');
  store.targets.length = 0;
  await head(9);
  assert.equal(store.targets, [10], 'the store is to take writes again');
  assert.is(follower.state, 'in sync');
});

test('a host whose log was emptied is stopped, and not cut off', async () => {
  const { follower, store, errors, head, pass } = follow();
  store.failure = new CatalogError('history_differs', 'the log is empty');
  await head(-1, '');
  assert.is(follower.state, 'stopped');
  pass(6000);
  await head(-1, '');
  assert.is(follower.state, 'stopped');
  assert.equal(errors, ['the log is empty']);
});

test('the log is unreachable after it has not answered for 5 seconds', async () => {
  const { follower, states, head, pass } = follow();
  await head(3);
  pass(4000);
  await head(null);
  assert.is(follower.state, 'in sync');
  pass(1001);
  await head(null);
  assert.is(follower.state, 'unreachable');
  assert.is(follower.silence, 5.001);
  await head(3);
  assert.equal(states, ['catching up', 'in sync', 'unreachable', 'in sync']);
});

test('the log is refusing while it answers but has not accepted a write of this host', async () => {
  const { store, states, head } = follow();
  await head(3);
  store.isLogUnavailable = true;
  await head(3);
  store.isLogUnavailable = false;
  await head(3);
  assert.equal(states, ['catching up', 'in sync', 'refusing', 'in sync']);
});

test('the log is not refusing if it has a write that the disk of this host does not take', async () => {
  const { store, states, head, pass } = follow();
  await head(3);
  store.disk = new Promise(() => {});
  await head(4);
  store.isLogUnavailable = true;
  for (let nth = 0; nth < 4; nth += 1) {
    await head(4);
    pass(4000);
  }
  await head(4);
  assert.equal(states, ['catching up', 'in sync', 'catching up', 'stopped']);
});

test('a change set that cannot be applied stops the host, is reported once, and is tried again', async () => {
  const { follower, store, errors, head } = follow();
  store.failure = new CatalogError('log_unavailable', 'schema version 6');
  await head(4);
  await head(4);
  assert.is(follower.state, 'stopped');
  assert.equal(errors, ['schema version 6']);
  store.failure = null;
  await head(4);
  assert.is(follower.state, 'in sync');
});

test('a host that applies nothing for 10 seconds while the log answers is stopped', async () => {
  const { follower, store, states, head, pass } = follow();
  await head(3);
  const disk = Promise.withResolvers<void>();
  store.disk = disk.promise;
  const seconds = async (count: number, sequence: number | null) => {
    for (let nth = 0; nth < count; nth += 1) {
      pass(1000);
      await head(sequence);
    }
  };
  await head(4);
  await seconds(4, 4);
  assert.is(follower.state, 'in sync');
  // The time in which the log does not answer does not count.
  await seconds(6, null);
  await seconds(10, 4);
  assert.is(follower.state, 'catching up');
  await seconds(2, 4);
  assert.is(follower.state, 'stopped');
  disk.resolve();
  await turn();
  assert.equal(states, [
    'catching up',
    'in sync',
    'unreachable',
    'catching up',
    'stopped',
    'in sync',
  ]);
});

test('closing does not wait for the disk, and nothing is reported afterwards', async () => {
  const { follower, store, errors, states, head } = follow();
  await head(3);
  const disk = Promise.withResolvers<void>();
  store.disk = disk.promise;
  store.failure = new CatalogError('write_unknown', 'the server stopped');
  await head(4);
  await follower.close();
  disk.resolve();
  await turn();
  assert.equal(errors, []);
  assert.equal(states, ['catching up', 'in sync']);
});

test('a store that was closed is no failure, and nothing is read for it after the end', async () => {
  const { follower, store, errors, states, head } = follow();
  store.failure = new CatalogError('store_closed', 'the server is stopping');
  await head(4);
  assert.equal([errors, follower.state], [[], 'catching up']);
  const disk = Promise.withResolvers<void>();
  store.disk = disk.promise;
  await head(5);
  await head(6);
  await follower.close();
  disk.resolve();
  await turn();
  assert.equal([store.targets, states], [[4, 5], ['catching up']]);
});

test.run();
