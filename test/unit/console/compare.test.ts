/** Where two versions of a text differ. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compare } from '../../../src/console/browser/forms/conflict/compare.ts';

test('a text is divided into what both have and what only it has', () => {
  for (const [text, other, before, own, after] of [
    ['one two three', 'one 2 three', 'one ', 'two', ' three'],
    ['one three', 'one two three', 'one t', '', 'hree'],
    ['same', 'same', 'same', '', ''],
    ['', 'all', '', '', ''],
    ['aa', 'aaa', 'aa', '', ''],
    ['a 😀 b', 'a 😁 b', 'a ', '😀', ' b'],
  ] as const) {
    assert.equal(compare(text, other), { before, own, after }, `${text} / ${other}`);
  }
});

test('the parts of any text make the text, and no character is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '😁', '🈀') });
  fc.assert(
    fc.property(text, text, (one, another) => {
      const { before, own, after } = compare(one, another);
      assert.is(before + own + after, one);
      for (const part of [before, own, after]) assert.ok(part.isWellFormed(), part);
    }),
  );
});

test.run();
