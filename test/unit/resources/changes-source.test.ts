/** Waiting for change sets, and reading them from memory, the history and other hosts. */
import { getEventListeners } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError, type Code } from '../../../src/errors.ts';
import { Arrivals } from '../../../src/resources/changes/arrivals.ts';
import { ChangeSource } from '../../../src/resources/changes/change-source.ts';
import { changesAfter } from '../../../src/resources/changes/older-changes.ts';
import type { ChangeSet } from '../../../src/store/change-set.ts';
import { encodeChangeSet } from '../../../src/store/files/change-set.ts';
import type { CommitListener } from '../../../src/store/writer/local-commits.ts';
import { codeOf } from '../../support/failure.ts';
import { turn } from '../../support/turns.ts';

test('waiting ends with the change set, the time limit, a signal or the close', async () => {
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
  await arrivals.announce(3);
  assert.is(arrivals.size, 2, 'they wait for a later one');
  sequence = 4;
  await arrivals.announce(4);
  assert.is(await waiting[0], true);
  assert.is(arrivals.size, 1);
  arrivals.close();
  assert.is(await waiting[1], false);
  assert.is(await arrivals.past(9), false);
});

test('a wait that ends leaves nothing at its signal, which may last as long as the server', async () => {
  let sequence = 3;
  const arrivals = new Arrivals(() => sequence);
  const { signal } = new AbortController();
  const waiting = arrivals.past(3, undefined, signal);
  assert.is(getEventListeners(signal, 'abort').length, 1);
  sequence = 4;
  await arrivals.announce(4);
  await waiting;
  assert.is(getEventListeners(signal, 'abort').length, 0);
});

test('at most 32 callers resume in one turn of the event loop, since each may write', async () => {
  let sequence = 3;
  const arrivals = new Arrivals(() => sequence);
  const resumed: boolean[] = [];
  for (let caller = 0; caller < 100; caller += 1) {
    void arrivals.past(3).then((arrived) => resumed.push(arrived));
  }
  sequence = 4;
  const announced = arrivals.announce(4);
  await Promise.resolve();
  const byTurn = [resumed.length];
  for (let before = resumed.length; resumed.length < 100; before = resumed.length) {
    await turn();
    byTurn.push(resumed.length - before);
  }
  await announced;
  assert.ok(Math.max(...byTurn) <= 32, byTurn.join());
});

const changeSet = (sequence: number): ChangeSet => {
  const chain = { sequence, previous: '', digest: '', time: '' };
  return { ...chain, last_ids: {}, put: {}, delete: {} };
};

/** A store whose history has every change set up to its sequence. */
function recordingStore(sequence: number) {
  const read: number[] = [];
  let listener: CommitListener = () => {};
  return {
    sequence,
    /** The sequences that were read from the history, in order. */
    read,
    onCommit: (given: CommitListener) => void (listener = given),
    commit: (at: number) => listener({ changeSet: changeSet(at), changes: [], bytes: 9 }),
    async *since(after: number) {
      for (let at = after + 1; at <= sequence; at += 1) {
        read.push(at);
        yield changeSet(at);
      }
    },
  };
}

test('recent change sets are read from memory and older ones from the history, in order', async () => {
  const store = recordingStore(6);
  const { read } = store;
  const source = new ChangeSource(store, { maxBytes: 3 * 1024 });
  source.require(6);
  // Each counts as 1 KiB, so there is room for three.
  for (const at of [1, 2, 3, 4, 5, 6]) store.commit(at);
  const seen = async (after: number, last: number) =>
    (await Array.fromAsync(source.after(after, last))).map(({ sequence }) => sequence);
  assert.equal(await seen(3, 6), [4, 5, 6]);
  assert.equal(read, []);
  assert.equal(await seen(0, 5), [1, 2, 3, 4, 5]);
  assert.equal(read, [1, 2, 3]);
  assert.equal(await seen(1, 2), [2]);
  assert.equal(await seen(6, 6), []);
});

test('change sets stay in memory while somebody waits for them or has read some', async () => {
  const store = recordingStore(9);
  let now = 0;
  const source = new ChangeSource(store, { now: () => now });
  const kept = (sequences: readonly number[]) =>
    sequences.filter((sequence) => source.recent(sequence) !== undefined);
  store.commit(1);
  assert.equal(kept([1]), [], 'nobody has read');
  store.commit(2);
  assert.equal(kept([1, 2]), [2], 'somebody has asked for the first');
  now += 5 * 60_000;
  store.commit(3);
  now += 1;
  const waiting = source.arrivals.past(9);
  store.commit(4);
  source.arrivals.close();
  await waiting;
  store.commit(5);
  assert.equal(kept([2, 3, 4, 5]), [], 'the wait is over, and nobody has read for long');
  store.commit(6);
  assert.equal(await Array.fromAsync(source.after(4, 6)), [5, 6].map(changeSet));
  assert.equal(store.read, [5], 'the reading goes on from memory');
});

test('change sets that this host does not have are read elsewhere, up to the last requested one', async () => {
  const source = {
    async *after(sequence: number, last: number) {
      if (sequence < 4) throw new CatalogError('history_gone', 'this host began with a base');
      for (let at = sequence + 1; at <= last; at += 1) yield changeSet(at);
    },
  };
  const asked: number[] = [];
  const readOlder = async (after: number, most: number) => {
    asked.push(after);
    if (after === 0) throw new CatalogError('history_gone', 'nobody keeps it');
    const sequences = [after + 1, after + 2].filter((sequence) => sequence <= 5);
    return sequences.slice(0, most).map(encoded);
  };
  const seen = async (after: number, last: number) =>
    (await Array.fromAsync(changesAfter(source, readOlder, after, last))).map(
      ({ sequence }) => sequence,
    );
  assert.equal(await seen(1, 5), [2, 3, 4, 5]);
  assert.equal(asked, [1, 3]);
  assert.equal(await seen(1, 2), [2]);
  assert.equal(await seen(4, 6), [5, 6]);
  assert.equal(asked, [1, 3, 1], 'what this host keeps is not asked for');
  assert.is(await codeOf(seen(0, 5)), 'history_gone');
});

test('if change sets are removed while they are read, the others are read elsewhere, each once', async () => {
  const asked: number[] = [];
  const source = {
    async *after(sequence: number) {
      yield changeSet(sequence + 1);
      throw new CatalogError('history_gone', 'the history was cut meanwhile');
    },
  };
  const readOlder = async (after: number) => {
    asked.push(after);
    return [encoded(after + 1)];
  };
  const found = await Array.fromAsync(changesAfter(source, readOlder, 4, 7));
  assert.equal(
    found.map(({ sequence }) => sequence),
    [5, 6, 7],
  );
  assert.equal(asked, [5, 6]);
});

test('if the log has no change set after the given one, the reading ends', async () => {
  const none = { after: () => failing('history_gone') };
  assert.equal(await Array.fromAsync(changesAfter(none, async () => [], 4, 7)), []);
});

test('a damaged change set is reported, and not looked for elsewhere', async () => {
  const damaged = { after: () => failing('store_damaged') };
  const readOlder = async () => {
    throw new Error('it is kept here');
  };
  const reading = Array.fromAsync(changesAfter(damaged, readOlder, 4, 7));
  assert.is(await codeOf(reading), 'store_damaged');
});

async function* failing(code: Code): AsyncGenerator<ChangeSet> {
  yield await Promise.reject<ChangeSet>(new CatalogError(code, 'it cannot be read'));
}

/** A change set as it is stored. */
function encoded(sequence: number): Uint8Array {
  const rest = { previous: 'a'.repeat(64), time: '2026-01-01T00:00:00.000Z', last_ids: {} };
  return encodeChangeSet({ sequence, ...rest, put: {}, delete: {} }).bytes;
}

test.run();
