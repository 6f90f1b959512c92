/** How texts are compared in a search (spec 4.7). */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { foldText, wordsOf } from '../../../src/model/text-folding.ts';

const SAME: readonly (readonly [string, string])[] = [
  ['PHONE', 'phone'],
  ['Straße', 'STRASSE'],
  ['STRAẞE', 'Straße'],
  ['ﬃ', 'ffi'],
  ['Ｐｈｏｎｅ　１２', 'phone 12'],
  ['Crème Brûlée', 'creme brulee'],
  ['Cre\u0300me', 'crème'],
  ['İstanbul', 'istanbul'],
  ['ΟΔΟΣ', 'οδος'],
  ['ΐ', 'Ϊ́'],
  ['ガラス', 'ガラス'],
  ['①', '1'],
  ['x²', 'X2'],
];

for (const [a, b] of SAME) {
  test(`a search treats ${a} and ${b} as equal`, () => assert.is(foldText(a), foldText(b)));
}

test('a dotless i is not folded to i', () => {
  assert.is.not(foldText('ısı'), foldText('isi'));
});

test('a sigma at the end of a word is folded like one in the middle', () => {
  assert.ok(foldText('ΟΔΟΣΗΜΟ').startsWith(foldText('ΟΔΟΣ')));
  assert.ok(foldText('ΟΔΟΣΗΜΟ').startsWith(foldText('οδος')));
});

test('a folded text has every letter of the text, in lower case and without accents', () => {
  for (const [text, folded] of [
    ['Ağrı', 'agrı'],
    ['ıI', 'ıi'],
    ['ΟΔΟΣ ὁδός', 'οδοσ οδοσ'],
    ['Maß und GROẞ', 'mass und gross'],
    ['Ⅻ ﬀ ½', 'xii ff 1⁄2'],
    ['𐐀𐐨', '𐐨𐐨'],
  ] as const) {
    assert.is(foldText(text), folded);
  }
});

test('folding a folded text does not change it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const folded = foldText(text);
      assert.is(foldText(folded), folded);
    }),
    { numRuns: 3000 },
  );
});

test('upper and lower case of every letter are folded to the same text, except for a dotless i and an iota subscript', () => {
  const [DOTLESS_I, IOTA_SUBSCRIPT] = ['\u0131', '\u0345'];
  const differing: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const letter = String.fromCodePoint(code);
    const [upper, lower] = [letter.toUpperCase(), letter.toLowerCase()];
    if (upper === letter && lower === letter) continue;
    const folded = foldText(letter);
    if (foldText(upper) !== folded || foldText(lower) !== folded) differing.push(letter);
  }
  assert.equal(
    differing.filter((letter) => !letter.normalize('NFKD').includes(IOTA_SUBSCRIPT)),
    [DOTLESS_I],
  );
});

test('ASCII text is folded to lower case', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      assert.is(foldText(text), text.toLowerCase());
    }),
  );
});

test('words are separated by any Unicode white space, and contain none', () => {
  assert.equal(wordsOf(''), []);
  assert.equal(wordsOf(' \t\n'), []);
  assert.equal(wordsOf(' 128  gb\u2003silver\u0085phone '), ['128', 'gb', 'silver', 'phone']);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(wordsOf(text), text.split(/\p{White_Space}+/u).filter(Boolean));
    }),
  );
});

test.run();
