/** What owners have, and all of them together. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Places, Tally } from '../../src/places.ts';

test('a tally adds what each owner gets and loses, and all of it', () => {
  const tally = new Tally<string | null>();
  tally.add('ann', 3);
  tally.add(null, 2);
  tally.add('ann', -1);
  assert.equal([tally.of('ann'), tally.of(null), tally.of('bob'), tally.total], [2, 2, 0, 4]);
  tally.add('ann', -2);
  assert.equal([tally.of('ann'), tally.total], [0, 2]);
});

test('a subject gets its share of the places, all together the total, and each again once left', () => {
  const refusal = (limit: string) => new Error(limit);
  const places = new Places({ total: 3, share: 2, refusal });
  const leave = places.take('ann');
  places.take('ann');
  assert.throws(() => places.take('ann'), /own/);
  places.take(null);
  assert.throws(() => places.take('bob'), /all/);
  leave();
  assert.is(places.taken, 2);
  leave();
  assert.is(places.taken, 2, 'a place is given back once');
  places.take('bob');
  assert.throws(() => places.take('bob'), /all/);
});

test.run();
