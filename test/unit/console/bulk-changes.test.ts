/** The values that a bulk edit of the console computes. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  changesOf,
  parsePercent,
  percentOf,
} from '../../../src/console/browser/lists/bulk/changes.ts';

const exact = { step: 1, minus: 0 };

test('a percentage may have a sign, a per cent sign, and a decimal point or comma', () => {
  for (const [text, hundredths] of [
    ['5', 500],
    ['+5 %', 500],
    ['-2.5', -250],
    ['−2,25', -225],
    ['', null],
    ['five', null],
    ['1.234', null],
  ] as const) {
    assert.is(parsePercent(text), hundredths, text);
  }
});

test('a percentage is added exactly, and the price is rounded to the chosen step', () => {
  assert.is(percentOf(64_900, 500, exact), 68_145);
  assert.is(percentOf(64_900, 500, { step: 100, minus: 1 }), 68_099);
  assert.is(percentOf(10, 500, exact), 11, 'half a unit is rounded up');
  assert.is(percentOf(1, -10_000, { step: 100, minus: 1 }), 0, 'never below 0');
  assert.is(percentOf(9_007_199_254_740_991, 0, exact), 9_007_199_254_740_991);
});

test('0 per cent changes nothing, and a positive percentage never lowers a price', () => {
  const amount = fc.integer({ min: 0, max: 1_000_000_000 });
  fc.assert(
    fc.property(amount, fc.integer({ min: 0, max: 100_000 }), (price, hundredths) => {
      assert.is(percentOf(price, 0, exact), price);
      assert.ok(percentOf(price, hundredths, exact) >= price);
    }),
  );
});

test('a small price is not rounded to 0', () => {
  const ending = { step: 100, minus: 1 };
  for (const [price, after] of [
    [0, 0],
    [1, 99],
    [49, 99],
    [99, 99],
    [149, 99],
    [151, 199],
  ] as const) {
    assert.is(percentOf(price, 0, ending), after, String(price));
  }
  assert.is(percentOf(49, 0, { step: 100, minus: 0 }), 100);
});

test('items that already have the new value are not changed', () => {
  const items = [
    { id: 1, stock: 7 },
    { id: 2, stock: 8 },
  ];
  const changes = changesOf(items, { kind: 'set', attribute: 'stock', value: 7 });
  assert.equal(
    changes.map(({ item, before, after }) => [item.id, before, after]),
    [[2, 8, 7]],
  );
});

test.run();
