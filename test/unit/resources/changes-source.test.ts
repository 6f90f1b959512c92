/** Waiting for change sets, and reading them from memory and from the history. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Arrivals } from '../../../src/resources/changes/arrivals.ts';
import { ChangeSource } from '../../../src/resources/changes/change-source.ts';
import type { ChangeSet } from '../../../src/store/change-set.ts';
import type { CommitListener } from '../../../src/store/writer/local-commits.ts';

test('who waits is answered by the change set, by the end of the time, by a signal or by the close', async () => {
  let sequence = 3;
  const arrivals = new Arrivals(() => sequence);
  assert.is(await arrivals.past(2), true);
  assert.is(await arrivals.past(3, 0), false);
  assert.is(await arrivals.past(3, 1), false);
  assert.is(await arrivals.past(3, undefined, AbortSignal.abort()), false);
  const gone = new AbortController();
  const waiting = [arrivals.past(3), arrivals.past(4), arrivals.past(3, undefined, gone.signal)];
  gone.abort();
  assert.is(await waiting[2], false);
  sequence = 4;
  await arrivals.announce(4);
  assert.is(await waiting[0], true);
  assert.is(arrivals.size, 1);
  arrivals.close();
  assert.is(await waiting[1], false);
  assert.is(await arrivals.past(9), false);
});

const changeSet = (sequence: number): ChangeSet => {
  const chain = { sequence, previous: '', digest: '', time: '' };
  return { ...chain, last_ids: {}, put: {}, delete: {} };
};

test('recent change sets come from memory, older ones from the history, in order', async () => {
  const read: number[] = [];
  let listener: CommitListener = () => {};
  const store = {
    sequence: 6,
    onCommit: (given: CommitListener) => void (listener = given),
    async *since(after: number) {
      for (let at = after + 1; at <= 6; at += 1) {
        read.push(at);
        yield changeSet(at);
      }
    },
  };
  const source = new ChangeSource(store, 3 * 1024);
  // Each counts a KiB, so that there is room for three.
  for (const at of [1, 2, 3, 4, 5, 6])
    listener({ changeSet: changeSet(at), changes: [], bytes: 9 });
  const seen = async (after: number, last: number) =>
    (await Array.fromAsync(source.after(after, last))).map(({ sequence }) => sequence);
  assert.equal(await seen(3, 6), [4, 5, 6]);
  assert.equal(read, []);
  assert.equal(await seen(0, 5), [1, 2, 3, 4, 5]);
  assert.equal(read, [1, 2, 3]);
  assert.equal(await seen(1, 2), [2]);
  assert.equal(await seen(6, 6), []);
});

test.run();
