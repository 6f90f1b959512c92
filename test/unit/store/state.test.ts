/** A state moves forward only by the change set that follows it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChangeSet } from '../../../src/store/change-set.ts';
import { State } from '../../../src/store/state.ts';

const [ORIGIN, FIRST, OTHER] = ['0', '1', '2'].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
];

const changeSet = (sequence: number, previous: string, digest: string): ChangeSet => ({
  sequence,
  previous,
  digest,
  time: '2024-02-29T00:00:00.000Z',
  last_ids: { categories: sequence },
  put: { categories: [{ id: sequence, name: 'Phones', parent_id: null }] },
  delete: {},
});

test('a change set after a gap, a repeated one and one of another history are refused, and nothing moves', () => {
  const state = State.empty(ORIGIN);
  state.apply(changeSet(1, ORIGIN, FIRST));
  for (const [sequence, previous] of [
    [3, FIRST],
    [1, ORIGIN],
    [2, OTHER],
  ] as const) {
    assert.throws(() => state.apply(changeSet(sequence, previous, OTHER)), 'does not follow 1');
    assert.equal([state.sequence, state.digest, state.lastId('categories')], [1, FIRST, 1]);
    assert.equal([...state.ids('categories')], [1]);
  }
  state.apply(changeSet(2, FIRST, OTHER));
  assert.equal([...state.ids('categories')], [1, 2]);
});

test.run();
