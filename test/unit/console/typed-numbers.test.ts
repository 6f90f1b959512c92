/** Numbers and prices as people type them: read as the user's language writes them, or refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  amountOf,
  examplePrice,
  wholeOf,
} from '../../../src/console/browser/messages/typed-numbers.ts';

const DOLLAR = { code: 'USD', digits: 2 };
const YEN = { code: 'JPY', digits: 0 };
const DINAR = { code: 'KWD', digits: 3 };

const said = (value: number | null) => (value === null ? 'is refused' : `is ${value}`);

for (const [locale, text, value] of [
  ['en', '1234', 1234],
  ['en', ' 0042 ', 42],
  ['en', '1,234', 1234],
  ['en', '1,234,567', 1_234_567],
  ['en', '1 234', 1234],
  ['en', '1’234', 1234],
  ['en', '1.234', null],
  ['en', '12,34', null],
  ['en', '0,234', null],
  ['en', '1,2345', null],
  ['en', '1,234.0', null],
  ['en', '1e3', null],
  ['en', '-1', null],
  ['en', '', null],
  ['en', '9007199254740992', null],
  ['en-IN', '12,34,567', 1_234_567],
  ['en-IN', '1,234,567', null],
  ['de', '1.234', 1234],
  ['de', '1.234.567', 1_234_567],
  ['de', '1\u00a0234', 1234],
  ['de', '1,234', null],
  ['de', '1.23', null],
  ['de-CH', '1’234', 1234],
  ['de-CH', "1'234", 1234],
  ['de-AT', '1.234', 1234],
] as const) {
  test(`the number "${text}" in ${locale} ${said(value)}`, () => {
    assert.is(wholeOf(text, locale), value);
  });
}

for (const [locale, text, value] of [
  ['en', '649', 64_900],
  ['en', '649.5', 64_950],
  ['en', '.99', 99],
  ['en', '1,234', 123_400],
  ['en', '1,234.50', 123_450],
  ['en', '$1,234.50', 123_450],
  ['en', '1234.50 USD', 123_450],
  ['en', '1 234.50', 123_450],
  ['en', '1.234', null],
  ['en', '1.234,50', 123_450],
  ['en', '649,50', 64_950],
  ['en', '0,234', null],
  ['en', '1.234.567', null],
  ['en', '1,234,50', null],
  ['en', '1.2.3', null],
  ['en', '12$50', null],
  ['en', '1 23', null],
  ['en', '-1', null],
  ['en', '', null],
  ['en', '.', null],
  ['en-IN', '12,34,567.50', 123_456_750],
  ['de', '1.234', 123_400],
  ['de', '1.234,50', 123_450],
  ['de', '1.234,50 $', 123_450],
  ['de', '1234,5', 123_450],
  ['de', '12.50', 1250],
  ['de', '1,234', null],
  ['de', '0.234', null],
  ['de', '1,234.50', 123_450],
  ['de-CH', '1’234.50', 123_450],
  ['de-AT', '1.234,50', 123_450],
] as const) {
  test(`the price "${text}" in ${locale} ${said(value)} cents`, () => {
    assert.is(amountOf(text, locale, DOLLAR), value);
  });
}

for (const [locale, currency, text, value] of [
  ['en', YEN, '1,234', 1234],
  ['en', YEN, '1.234', null],
  ['en', YEN, '1.5', null],
  ['de', YEN, '1.234', 1234],
  ['de', YEN, '1,234', null],
  ['en', DINAR, '1.234', 1234],
  ['en', DINAR, '1,234', 1_234_000],
  ['de', DINAR, '1.234', 1_234_000],
  ['de', DINAR, '1,234', 1234],
] as const) {
  test(`the price "${text}" in ${locale} and ${currency.code} ${said(value)}`, () => {
    assert.is(amountOf(text, locale, currency), value);
  });
}

test('a price is read while the currency of the shop is not known yet', () => {
  assert.is(amountOf('1,234.50', 'en', { code: '', digits: 2 }), 123_450);
});

test('the example of a message is a price that is read', () => {
  for (const locale of ['en', 'en-IN', 'de', 'de-AT', 'de-CH']) {
    for (const currency of [DOLLAR, YEN, DINAR]) {
      const scale = 10 ** currency.digits;
      const value = currency.digits === 0 ? 1234 : 1234.5 * scale;
      assert.is(amountOf(examplePrice(locale, currency), locale, currency), value, locale);
    }
  }
});

test.run();
