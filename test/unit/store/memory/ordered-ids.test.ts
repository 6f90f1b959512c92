/** Ids in a sort order behave like a sorted array under any insertions and removals. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OrderedIds } from '../../../../src/store/memory/ordered-ids.ts';

const ascending = (id: number) => (other: number) => other < id;
const descending = (id: number) => (other: number) => other > id;

test('random inserts and removals keep the order of a sorted array', () => {
  const id = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.array(id), fc.boolean(), (start, toggled, up) => {
      const before = up ? ascending : descending;
      const compare = (a: number, b: number) => (up ? a - b : b - a);
      const plain = start.toSorted(compare);
      const ids = new OrderedIds(plain);
      for (const one of toggled) {
        const at = plain.indexOf(one);
        if (at >= 0) {
          plain.splice(at, 1);
          ids.remove(one, before(one));
        } else {
          plain.push(one);
          plain.sort(compare);
          ids.insert(one, before(one));
        }
        assert.is(ids.length, plain.length);
      }
      assert.equal([...ids.values()], plain);
    }),
  );
});

test('a slice is what an array gives, past the end too', () => {
  const size = 5000;
  const plain = Array.from({ length: size }, (_, i) => i + 1);
  const ids = new OrderedIds(plain);
  const bound = fc.integer({ min: 0, max: size + 100 });
  fc.assert(
    fc.property(bound, fc.oneof(bound, fc.constant(Number.POSITIVE_INFINITY)), (offset, count) => {
      assert.equal(ids.slice(offset, count), plain.slice(offset, offset + count));
    }),
  );
});

test('thousands of ids that come in any order and go in any order stay in place', () => {
  // Many times what one chunk holds, so that chunks are split, emptied and dropped.
  const size = 6000;
  // Steps of a number without a common divisor visit every id once.
  const shuffled = Array.from({ length: size }, (_, i) => ((i * 2347) % size) + 1);
  const ids = new OrderedIds();
  for (const id of shuffled) ids.insert(id, ascending(id));
  assert.equal(
    [...ids.values()],
    Array.from({ length: size }, (_, i) => i + 1),
  );
  for (const id of shuffled.slice(0, size - 3)) ids.remove(id, ascending(id));
  assert.equal(
    [...ids.values()],
    shuffled.slice(size - 3).toSorted((a, b) => a - b),
  );
  for (const id of shuffled.slice(size - 3)) ids.remove(id, ascending(id));
  assert.is(ids.length, 0);
  assert.equal(ids.slice(0, 10), []);
  ids.insert(7, ascending(7));
  assert.equal([...ids.values()], [7]);
});

test('removing an id that is not there is an error, and changes nothing', () => {
  const ids = new OrderedIds([1, 3]);
  assert.throws(() => ids.remove(2, ascending(2)), /lost row 2/);
  assert.throws(() => ids.remove(4, ascending(4)), /lost row 4/);
  assert.equal([...ids.values()], [1, 3]);
  assert.is(ids.length, 2);
});

test.run();
