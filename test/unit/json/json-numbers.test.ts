/** spec 2.1: a fraction of JSON is not rounded to an integer. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hasFraction, numberOf } from '../../../src/json/json-numbers.ts';

const NUMBERS: readonly (readonly [token: string, value: number])[] = [
  ['0', 0],
  ['-0', -0],
  ['0.0', 0],
  ['-0e-5', -0],
  ['1.0', 1],
  ['10e-1', 1],
  ['1.50e1', 15],
  ['12.340E+2', 1234],
  ['1.5', 1.5],
  ['100e-3', 0.1],
  ['9007199254740993', 9_007_199_254_740_992],
  ['1e400', Number.POSITIVE_INFINITY],
  ['4503599627370497.7', Number.NaN],
  ['9007199254740990.9', Number.NaN],
  ['45035996273704977.0e-1', Number.NaN],
  ['1.00000000000000000001', Number.NaN],
  ['-1.00000000000000000001e0', Number.NaN],
  ['1e-400', Number.NaN],
  ['-1e-400', Number.NaN],
  ['0.00000000000000000000000000000000000000000001e-400', Number.NaN],
  ['1e-99999999999999999999', Number.NaN],
  ['1e99999999999999999999', Number.POSITIVE_INFINITY],
  ['0e-99999999999999999999', 0],
];

for (const [token, value] of NUMBERS) {
  test(`the number ${token} is ${value}`, () => {
    assert.ok(Object.is(numberOf(token), value), String(numberOf(token)));
  });
}

test('an integer stays one however its point is moved, and is none with one digit more', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.nat(30), (integer, places) => {
      const token = `${integer}${'0'.repeat(places)}e-${places}`;
      assert.is(numberOf(token), integer);
      assert.not.ok(Number.isInteger(numberOf(`${integer}.${'0'.repeat(places)}1`)));
    }),
  );
});

test('a text with a fraction is found', () => {
  for (const text of ['1.5', '[1.5]', '{"a":1e-5}', '{"a": -12.0}', '[1,\n2E-1]', '"a 1.5"']) {
    assert.ok(hasFraction(text), text);
  }
  for (const text of ['1', '[15]', '{"a":1e5}', '{"a":"v1.5"}', '"1-5"']) {
    assert.not.ok(hasFraction(text), text);
  }
});

test.run();
