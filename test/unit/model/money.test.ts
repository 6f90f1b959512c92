/** spec 12.3: an amount is written as a decimal of its currency, and is never rounded. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Money } from '../../../src/model/money.ts';

/** Currencies by the digits after their decimal point (ISO 4217). */
const CURRENCIES = { JPY: 0, EUR: 2, KWD: 3 };

for (const [currency, digits] of Object.entries(CURRENCIES)) {
  test(`an amount of ${currency} has ${digits} decimals, and is read back as it was`, () => {
    const money = new Money(currency);
    const form =
      digits === 0 ? /^(?:0|[1-9]\d*)$/ : new RegExp(`^(?:0|[1-9]\\d*)\\.\\d{${digits}}$`);
    const amounts = fc.oneof(fc.nat(12_000), fc.maxSafeNat());
    fc.assert(
      fc.property(amounts, (amount) => {
        const text = money.decimal(amount);
        assert.match(text, form);
        assert.is(text.replace('.', '').replace(/^0+(?=\d)/, ''), String(amount));
        assert.is(money.parse(text), amount);
      }),
    );
  });
}

test('decimals that are left out are 0', () => {
  const euro = new Money('EUR');
  assert.equal(
    ['19.99', '19.9', '19', '0', '007'].map((text) => euro.parse(text)),
    [1999, 1990, 1900, 0, 700],
  );
});

test('a text that is no decimal of the currency has no amount', () => {
  const euro = new Money('EUR');
  for (const text of [
    '',
    '.',
    '1.',
    '.5',
    '-1',
    '+1',
    '1e2',
    ' 1',
    '1 ',
    '1,5',
    '1.2.3',
    '1.999',
  ]) {
    assert.is(euro.parse(text), null, text);
  }
  assert.is(new Money('JPY').parse('1.0'), null);
});

test('a decimal has at most 24 characters', () => {
  const euro = new Money('EUR');
  assert.is(euro.parse('19.99'.padStart(24, '0')), 1999);
  assert.is(euro.parse('19.99'.padStart(25, '0')), null);
});

test('a currency that is malformed is an error', () => {
  assert.throws(
    () => new Money('euro').digits,
    (error: unknown) => error instanceof RangeError,
  );
});

test.run();
