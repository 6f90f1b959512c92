/** Sets of ids are what a plain set is. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Bitmap, SortedIds } from '../../../../../src/store/memory/search/id-set.ts';

const id = fc.integer({ min: 0, max: 200 });
const steps = fc.array(fc.record({ id, adds: fc.boolean() }), { maxLength: 120 });

const ascending = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b);

/** Adds and removes the same ids in a plain set. */
function plainly(all: readonly { id: number; adds: boolean }[]): number[] {
  const plain = new Set<number>();
  for (const step of all) {
    if (step.adds) plain.add(step.id);
    else plain.delete(step.id);
  }
  return ascending(plain);
}

test('ids that are kept are those that were added and not removed', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const sorted = new SortedIds();
      for (const step of all) {
        if (step.adds) sorted.add(step.id);
        else sorted.delete(step.id);
      }
      const bitmap = new Bitmap(0);
      sorted.addTo(bitmap);
      assert.equal([...bitmap], plainly(all));
      assert.is(sorted.size, plainly(all).length);
    }),
  );
});

test('a bitmap has and lists the ids that were added and not removed', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 300 }), (all, lastId) => {
      const bitmap = new Bitmap(lastId);
      for (const step of all) {
        if (step.adds) bitmap.add(step.id);
        else bitmap.delete(step.id);
      }
      const plain = plainly(all);
      assert.equal([...bitmap], plain);
      for (let each = 0; each < 210; each += 1) assert.is(bitmap.has(each), plain.includes(each));
    }),
  );
});

test('the intersection of two bitmaps of any lengths has the ids that are in both', () => {
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.uniqueArray(id), id, id, (a, b, lengthA, lengthB) => {
      const [first, second] = [new Bitmap(lengthA), new Bitmap(lengthB)];
      for (const each of a) first.add(each);
      for (const each of b) second.add(each);
      first.intersect(second);
      assert.equal([...first], ascending(new Set(a).intersection(new Set(b))));
    }),
  );
});

test.run();
