/** Bitmaps of ids, compared with plain sets. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Bitmap } from '../../../../../src/store/memory/search/bitmap.ts';

/** Ids near a number, so that some are drawn twice. */
const near = (middle: number) => fc.integer({ min: -40, max: 40 }).map((nth) => middle + nth);

/** Ids of a small table, around the numbers at which 22, 31 and 32 bits end, and the highest. */
const id = fc.oneof(
  fc.nat(200),
  near(2 ** 22),
  near(2 ** 31),
  near(2 ** 32),
  fc.constant(Number.MAX_SAFE_INTEGER),
);
const ids = fc.uniqueArray(id, { maxLength: 60 });
const steps = fc.array(fc.record({ id, adds: fc.boolean() }), { maxLength: 120 });

const ascending = (all: Iterable<number>) => [...all].sort((a, b) => a - b);

function bitmapOf(all: Iterable<number>): Bitmap {
  const bitmap = new Bitmap();
  for (const each of all) bitmap.add(each);
  return bitmap;
}

test('a bitmap has, counts and lists the ids that were added and not removed', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const bitmap = new Bitmap();
      const plain = new Set<number>();
      for (const step of all) {
        if (step.adds) bitmap.add(step.id);
        else bitmap.delete(step.id);
        if (step.adds) plain.add(step.id);
        else plain.delete(step.id);
      }
      assert.equal([...bitmap], ascending(plain));
      assert.is(bitmap.count(), plain.size);
      const others = all.flatMap((step) => [step.id, step.id + 32, step.id % 2 ** 32]);
      for (const each of others) assert.is(bitmap.has(each), plain.has(each));
    }),
  );
});

test('a slice of a bitmap equals the slice of an array of its ids', () => {
  const bound = fc.oneof(fc.nat(60), fc.constant(Number.POSITIVE_INFINITY));
  fc.assert(
    fc.property(ids, fc.nat(60), bound, (all, offset, limit) => {
      const expected = ascending(all).slice(offset, offset + limit);
      assert.equal(bitmapOf(all).slice(offset, limit), expected);
    }),
  );
});

test('two bitmaps of any lengths intersect and unite as sets do', () => {
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      const common = bitmapOf(a);
      common.intersect(bitmapOf(b));
      assert.equal([...common], ascending(new Set(a).intersection(new Set(b))));
      const all = bitmapOf(a);
      all.unite(bitmapOf(b));
      assert.equal([...all], ascending(new Set(a).union(new Set(b))));
    }),
  );
});

test('addAll adds the first ids of a list, in whatever order they are', () => {
  fc.assert(
    fc.property(ids, fc.array(id, { maxLength: 40 }), fc.nat(40), (before, more, most) => {
      const bitmap = bitmapOf(before);
      const count = Math.min(most, more.length);
      bitmap.addAll(more, count);
      assert.equal([...bitmap], ascending(new Set([...before, ...more.slice(0, count)])));
    }),
  );
});

test('addAt adds the ids at positions of a list, and returns the positions that are empty', () => {
  const short = id.filter((each) => each < 2 ** 32);
  const list = fc.array(short, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(list, fc.array(fc.nat(39)), (all, wanted) => {
      const positions = wanted.filter((at) => at < all.length);
      const bitmap = new Bitmap();
      const empty = bitmap.addAt(Uint32Array.from(all), Uint16Array.from(positions));
      const found = positions.map((at) => all[at] ?? 0);
      assert.equal([...bitmap], ascending(new Set(found.filter((each) => each !== 0))));
      assert.equal(
        empty,
        positions.filter((at) => all[at] === 0),
      );
    }),
  );
});

test('addReferring adds the ids whose reference is in another bitmap', () => {
  const first = fc.constantFrom(0, 2 ** 22 - 64, 2 ** 22, 2 ** 32);
  const places = fc.array(fc.tuple(fc.nat(63), fc.oneof(id, fc.constant(0))), { maxLength: 40 });
  fc.assert(
    fc.property(ids, first, fc.nat(32), places, (owners, begin, length, referring) => {
      const references = new Float64Array(64);
      for (const [at, to] of referring) references[at] = to;
      const before = Array.from({ length }, (_, at) => begin + at);
      const found = bitmapOf(before);
      const to = owners.filter((each) => each !== 0);
      found.addReferring(begin, references, bitmapOf(to));
      const added = [...references].flatMap((each, at) => (to.includes(each) ? [begin + at] : []));
      assert.equal([...found], ascending(new Set([...before, ...added])));
    }),
  );
});

test('a high id takes the memory of a few thousand low ones', () => {
  for (const high of [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    assert.ok(bitmapOf([1, high]).capacity <= 2 ** 17, `${high}`);
  }
});

test.run();
