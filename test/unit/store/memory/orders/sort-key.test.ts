/** spec 4.3: strings compare by code point, null comes first, false before true. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sortKey } from '../../../../../src/store/memory/orders/sort-key.ts';

/** The order of two strings, one code point after the other. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(left.length - right.length);
}

function byKey(a: string | number, b: string | number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Characters at the edges of the ranges that UTF-16 puts in another order. */
const edges = fc.constantFrom(
  'a',
  'é',
  '\ud7ff',
  '\ue000',
  '\uf8ff',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
);
const text = fc.oneof(
  fc.string({ unit: edges, maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);

test('strings are ordered by code point', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.is(byKey(sortKey(a), sortKey(b)), byCodePoint(a, b));
    }),
    { numRuns: 2000 },
  );
});

test('strings with a common beginning are ordered by what follows it', () => {
  fc.assert(
    fc.property(text, text, text, (prefix, a, b) => {
      assert.is(byKey(sortKey(prefix + a), sortKey(prefix + b)), byCodePoint(a, b));
    }),
    { numRuns: 1000 },
  );
});

test('numbers are ordered by value', () => {
  const number = fc.maxSafeNat();
  fc.assert(
    fc.property(number, number, (a, b) => {
      assert.is(byKey(sortKey(a), sortKey(b)), Math.sign(a - b));
    }),
  );
});

test('null comes before every number, and false before true', () => {
  assert.ok(sortKey(null) < sortKey(0));
  assert.ok(sortKey(null) < sortKey(1));
  assert.ok(sortKey(false) < sortKey(true));
  assert.ok(sortKey(null) < sortKey(false));
});

test.run();
