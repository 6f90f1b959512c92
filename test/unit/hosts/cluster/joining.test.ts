/** spec 15.20, 15.24: which store may join the hosts of a log, if the log keeps only a part of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { originOf, requireSameHistory } from '../../../../src/hosts/cluster/joining.ts';
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
  assert.is(await originOf(logFrom(1), makeOrigin), 'origin');
  assert.is(await originOf(logFrom(2), makeOrigin), null);
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

test.run();
