/** Ids in a sort order behave like a sorted array under any insertions and removals. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { atOnce } from '../../../../../src/slices.ts';
import { OrderedIds } from '../../../../../src/store/memory/orders/ordered-ids.ts';

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

test('insertById and removeById keep the order of a sorted array', () => {
  const id = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.array(id), (start, toggled) => {
      const plain = new Set(start);
      const ids = new OrderedIds([...plain].sort((a, b) => a - b));
      for (const one of toggled) {
        if (plain.delete(one)) ids.removeById(one);
        else {
          plain.add(one);
          ids.insertById(one);
        }
      }
      assert.equal(
        [...ids.values()],
        [...plain].sort((a, b) => a - b),
      );
    }),
  );
  assert.throws(() => new OrderedIds([1, 3]).removeById(2), /lost row 2/);
});

test('a slice is that of an array, also past the end', () => {
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

test('thousands of ids that are inserted and removed in any order stay in order', () => {
  // Many times what one chunk holds, so that chunks are split, emptied and dropped.
  const size = 6000;
  // The two numbers have no common divisor, so every id is visited once.
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

test('appended ids follow all others, and are not in an earlier snapshot', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 5 });
  fc.assert(
    fc.property(sizes, (parts) => {
      const ids = new OrderedIds();
      const plain: number[] = [];
      for (const size of parts) {
        const more = Array.from({ length: size }, (_, at) => plain.length + at + 1);
        const snapshot = ids.snapshot();
        ids.append(more);
        assert.equal([...snapshot], plain);
        plain.push(...more);
        assert.equal([...ids.values()], plain);
        assert.is(ids.length, plain.length);
      }
      const first = plain[0];
      if (first === undefined) return;
      ids.remove(first, ascending(first));
      assert.equal([...ids.values()], plain.slice(1));
    }),
    { numRuns: 30 },
  );
});

test('replaced() returns a list with ids removed and added, and does not change the original', () => {
  const many = fc.record({
    size: fc.constantFrom(0, 1, 40, 1500, 4000),
    leave: fc.uniqueArray(fc.nat(3999)),
    from: fc.nat(4100),
    entering: fc.constantFrom(0, 1, 30, 3000),
    step: fc.constantFrom(1, 2, 7),
    later: fc.array(fc.nat(9000), { maxLength: 20 }),
  });
  fc.assert(
    fc.property(many, ({ size, leave, from, entering, step, later }) => {
      // Even ids are in the list; odd ids are added.
      const plain = Array.from({ length: size }, (_, i) => 2 * i);
      const ids = new OrderedIds(plain);
      const leaving = leave.filter((at) => at < size).map((at) => 2 * at);
      leaving.sort((a, b) => a - b);
      const more = Array.from({ length: entering }, (_, i) => 2 * (from + i * step) + 1);
      const gone = new Set(leaving);
      const expected = [...plain.filter((id) => !gone.has(id)), ...more].sort((a, b) => a - b);
      const replaced = atOnce(ids.replaced(leaving, more));
      assert.equal([...replaced.values()], expected);
      assert.is(replaced.length, expected.length);
      for (const id of later) {
        const at = expected.indexOf(id);
        if (at >= 0) {
          expected.splice(at, 1);
          replaced.remove(id, ascending(id));
        } else {
          expected.push(id);
          expected.sort((a, b) => a - b);
          replaced.insert(id, ascending(id));
        }
      }
      assert.equal([...replaced.values()], expected);
      assert.equal([...ids.values()], plain);
    }),
  );
});

test('replaced() throws if the list does not contain an id to remove', () => {
  const ids = new OrderedIds([1, 3]);
  assert.throws(() => atOnce(ids.replaced([2], [])), /lost row 2/);
  assert.throws(() => atOnce(new OrderedIds().replaced([4], [])), /lost row 4/);
});

test.run();
