/** The values of cells that name no row, and what is wrong with others (spec 12.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../../../src/model/kinds.ts';
import { Money } from '../../../../../src/model/money.ts';
import { LabelError } from '../../../../../src/resources/transfer/labels.ts';
import { amountOf, plainValue } from '../../../../../src/resources/transfer/rows/cell-values.ts';

/** @returns what `read` returns, or what is wrong. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof LabelError) return error.message;
    throw error;
  }
}

test('an amount has at most as many decimals as its currency', () => {
  const dollars = 'must be an amount in USD: digits, with at most 2 decimals after "."';
  const yen = 'must be an amount in JPY: digits, with no decimals';
  for (const [currency, text, outcome] of [
    ['USD', '19.9', 1990],
    ['USD', '19.999', dollars],
    ['USD', '19,99', dollars],
    ['USD', '', 'must not be empty'],
    ['JPY', '1990', 1990],
    ['JPY', '19.9', yen],
  ] as const) {
    assert.is(
      outcomeOf(() => amountOf(text, new Money(currency))),
      outcome,
      `${text} ${currency}`,
    );
  }
});

test('a value has the type of its attribute', () => {
  const digits = 'must be a whole number in digits';
  for (const [attribute, text, outcome] of [
    ['stock', '007', 7],
    ['stock', '', 'must not be empty'],
    ['stock', '-1', digits],
    ['price', '19.99', `${digits}; for decimals name it "price USD"`],
    ['is_launched', 'TRUE', true],
    ['is_launched', 'false', false],
    ['is_launched', 'untrue', 'must be true or false'],
    ['is_launched', 'falsely', 'must be true or false'],
    ['is_launched', '', 'must be true or false'],
    ['code', '', null],
    ['code', '007', '007'],
    ['caption', '', ''],
  ] as const) {
    assert.is(
      outcomeOf(() => plainValue(text, KINDS.skus, attribute, new Money('USD'))),
      outcome,
      `${attribute} ${text}`,
    );
  }
});

test.run();
