/** Long-lived sets of ids, compared with a plain set. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Bitmap } from '../../../../../src/store/memory/search/bitmap.ts';
import { IdSet } from '../../../../../src/store/memory/search/id-set.ts';

const id = fc.integer({ min: 0, max: 200 });
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

function idsIn(set: IdSet): number[] {
  const bitmap = new Bitmap();
  set.addTo(bitmap);
  return [...bitmap];
}

/**
 * Ids far apart stay a sorted array, and those close together become a bitmap. They are few, so that
 * some are added or removed twice.
 */
const sparseId = fc.integer({ min: 1, max: 40 }).map((nth) => nth * 500);
/** Those of a table that has had many rows, and those that a person may have written. */
const highId = fc.integer({ min: -100, max: 100 }).map((nth) => 2 ** 32 + nth);
const stepsOf = (ids: fc.Arbitrary<number>) =>
  fc.array(fc.record({ id: ids, adds: fc.boolean() }), { maxLength: 120 });
const anySteps = fc.oneof(stepsOf(id), stepsOf(sparseId), stepsOf(highId));

test('a set has the ids that were added and not removed', () => {
  fc.assert(
    fc.property(fc.array(anySteps, { maxLength: 3 }), (parts) => {
      const all = parts.flat();
      const kept = new IdSet();
      for (const step of all) {
        if (step.adds) kept.add(step.id);
        else kept.delete(step.id);
      }
      assert.equal(idsIn(kept), plainly(all));
      assert.is(kept.size, plainly(all).length);
    }),
  );
});

test('the highest id can be added again after its removal', () => {
  const kept = new IdSet();
  for (const each of [1000, 20_000, 40_000]) kept.add(each);
  kept.delete(40_000);
  kept.add(40_000);
  assert.is(kept.size, 3);
  assert.equal(idsIn(kept), [1000, 20_000, 40_000]);
});

test('an id that is added or removed again counts once, whether ids are close together or far apart', () => {
  for (const distance of [1, 1000]) {
    const kept = new IdSet();
    const twice = Array.from({ length: 200 }, (_, at) => ((at % 100) + 1) * distance);
    for (const each of twice) kept.add(each);
    assert.is(kept.size, 100);
    for (const each of twice) if (each > 50 * distance) kept.delete(each);
    assert.is(kept.size, 50);
  }
});

/** Notes how much memory the ids take that are added to it. */
class Measuring extends Bitmap {
  bits = 0;

  override addAll(ids: ArrayLike<number>, count: number): void {
    this.bits += 32 * ids.length;
    super.addAll(ids, count);
  }

  override unite(other: Bitmap): void {
    this.bits += other.capacity;
    super.unite(other);
  }
}

for (const left of [10, 0]) {
  test(`a set of 5000 ids can shrink to ${left}, and takes an id far from them after that`, () => {
    const kept = new IdSet();
    for (let each = 1; each <= 5000; each += 1) kept.add(each);
    for (let each = 1; each <= 5000 - left; each += 1) kept.delete(each);
    const last = Array.from({ length: left }, (_, at) => 5001 - left + at);
    assert.is(kept.size, left);
    assert.equal(idsIn(kept), last);
    const measuring = new Measuring();
    kept.addTo(measuring);
    assert.ok(measuring.bits <= Math.max(left, 1) * 32 * 4, `${measuring.bits} bits`);
    kept.add(1_000_000);
    assert.is(kept.size, left + 1);
    assert.equal(idsIn(kept), [...last, 1_000_000]);
  });
}

test('a set that has lost its only id takes another one, close to it or far from it', () => {
  for (const other of [7, 1_000_000]) {
    const kept = new IdSet();
    kept.add(5);
    kept.delete(5);
    kept.add(other);
    assert.is(kept.size, 1);
    assert.equal(idsIn(kept), [other]);
  }
});

test('a set from which old ids are removed takes no more memory as its ids grow', () => {
  const kept = new IdSet();
  for (let each = 1; each <= 200_000; each += 1) {
    kept.add(each);
    if (each > 100) kept.delete(each - 100);
  }
  const measuring = new Measuring();
  kept.addTo(measuring);
  assert.ok(measuring.bits <= 100 * 32 * 4, `${measuring.bits} bits for 100 ids`);
});

test('ids that are close together take about a bit each', () => {
  const kept = new IdSet();
  for (let each = 1; each <= 5000; each += 1) kept.add(each);
  const measuring = new Measuring();
  kept.addTo(measuring);
  assert.ok(measuring.bits <= 5000 * 1.25, `${measuring.bits} bits for 5000 ids`);
});

test('a set whose ids are far apart takes less memory once most of them were removed', () => {
  const kept = new IdSet();
  for (let each = 1; each <= 1000; each += 1) kept.add(each * 100);
  for (let each = 1; each <= 990; each += 1) kept.delete(each * 100);
  const measuring = new Measuring();
  kept.addTo(measuring);
  assert.ok(measuring.bits <= 10 * 32 * 4, `${measuring.bits} bits for 10 ids`);
});

test.run();
