/** Parsing of the lifetimes of tokens, such as `--expires 8h`. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseDuration } from '../../../src/auth/duration.ts';
import { CatalogError } from '../../../src/errors.ts';

const TEN_YEARS = 315_360_000;

/** The seconds; null if it is refused as wrong usage. */
function seconds(text: string): number | null {
  try {
    return parseDuration(text);
  } catch (error) {
    assert.ok(error instanceof CatalogError, `${text}: ${String(error)}`);
    assert.is(error.code, 'usage');
    assert.is(error.exit, 2);
    assert.not.match(error.message, /\n/);
    return null;
  }
}

test('a number with a unit is converted to seconds', () => {
  for (const [text, wanted] of [
    ['1s', 1],
    ['90s', 90],
    ['30m', 1800],
    ['8h', 28_800],
    ['08h', 28_800],
    ['7d', 604_800],
    ['2w', 1_209_600],
    ['3650d', TEN_YEARS],
    ['315360000s', TEN_YEARS],
  ] as const) {
    assert.is(seconds(text), wanted, text);
  }
});

test('zero and more than ten years are refused', () => {
  for (const text of ['0s', '0h', '000d', '3651d', '522w', '315360001s', '999999999w']) {
    assert.is(seconds(text), null, text);
  }
});

test('text that is not a number and a unit is refused', () => {
  for (const text of [
    '',
    's',
    '8',
    'h8',
    '8 h',
    ' 8h',
    '8h ',
    '8h\n',
    '8H',
    '8hours',
    '1h30m',
    '-1h',
    '+1h',
    '1.5h',
    '1e2s',
    '0x1h',
    '٨h',
    '1y',
    '9999999999s',
  ]) {
    assert.is(seconds(text), null, JSON.stringify(text));
  }
});

test('any text is either refused or a whole number of seconds from 1 to ten years', () => {
  const digits = fc.nat({ max: 1_000_000_000 }).map(String);
  const unit = fc.constantFrom(...Array.from('smhdwyHM '), '');
  const text = fc.oneof(
    fc.string(),
    fc.tuple(digits, unit).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (each) => {
      const found = seconds(each);
      assert.ok(found === null || (Number.isInteger(found) && found >= 1 && found <= TEN_YEARS));
    }),
  );
});

test.run();
