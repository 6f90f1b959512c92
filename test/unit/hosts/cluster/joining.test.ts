/** spec 15.20, 15.24: which store may join the hosts of a log, if the log keeps only a part of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  originOfHistory,
  requireBaseOfHistory,
  requireSameHistory,
} from '../../../../src/hosts/cluster/joining.ts';
import type { LogPosition } from '../../../../src/store/change-log.ts';
import { codeOf } from '../../../support/failure.ts';

const ORIGIN = { sequence: 0, digest: 'origin' };

/** A log of change sets up to number 9, which begins with `first`. */
function logFrom(first: number) {
  const begin = (): Promise<never> => Promise.reject(new Error('the log has begun'));
  const positions = async () => ({ origin: ORIGIN, head: at(9) });
  const digestAt = async (sequence: number) =>
    sequence >= first && sequence <= 9 ? at(sequence).digest : null;
  return { begin, positions, digestAt };
}

const at = (sequence: number): LogPosition => ({ sequence, digest: `digest ${sequence}` });

test('a new host begins with an empty store only if the log keeps all change sets', async () => {
  const makeOrigin = () => 'another';
  assert.is(await originOfHistory(logFrom(1), makeOrigin), 'origin');
  assert.is(await originOfHistory(logFrom(2), makeOrigin), null);
  // Its first host had a store. Change sets of an earlier log may have been left.
  const later = { ...logFrom(1), positions: async () => ({ origin: at(5), head: at(9) }) };
  assert.is(await originOfHistory(later, makeOrigin), null);
});

test('an empty store may join only if the log keeps the first change set', async () => {
  assert.is(await codeOf(requireSameHistory(logFrom(2), ORIGIN)), 'history_gone');
  await requireSameHistory(logFrom(1), ORIGIN);
});

test('a store whose last change set the log does not keep may not join, as it may be another', async () => {
  const log = logFrom(4);
  assert.is(await codeOf(requireSameHistory(log, at(3))), 'history_gone');
  await requireSameHistory(log, at(4));
  await requireSameHistory(log, at(9));
});

test('a new log begins with the origin that its first host makes, and a second host takes it over', async () => {
  let begun: { origin: LogPosition; head: LogPosition } | null = null;
  const log = {
    positions: async () => begun,
    begin: async (position: LogPosition) => (begun = { origin: position, head: position }),
    digestAt: async () => null,
  };
  assert.is(await originOfHistory(log, () => 'made'), 'made');
  assert.is(await originOfHistory(log, () => 'another'), 'made');
  await requireSameHistory(log, { sequence: 0, digest: 'made' });
  assert.is(await codeOf(requireSameHistory(log, ORIGIN)), 'history_differs');
});

test('a base has to be a part of the log, and begins no new log if the log has lost its data', async () => {
  await requireBaseOfHistory(logFrom(4), at(5));
  assert.is(await codeOf(requireBaseOfHistory(logFrom(4), at(3))), 'history_gone');
  assert.is(await codeOf(requireBaseOfHistory(logFrom(4), at(10))), 'history_differs');
  const emptied = { ...logFrom(4), positions: async () => null };
  assert.is(await codeOf(requireBaseOfHistory(emptied, at(5))), 'history_differs');
});

test('a store that is ahead of the log, or has another change set under a number, may not join', async () => {
  const log = logFrom(1);
  assert.is(await codeOf(requireSameHistory(log, at(10))), 'history_differs');
  for (const sequence of [0, 5, 9]) {
    const differing = requireSameHistory(log, { sequence, digest: 'another' });
    assert.is(await codeOf(differing), 'history_differs');
  }
});

test.run();
