/** Texts in pieces: lists and bodies of responses, the texts of a base, descriptions of pages. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cutBetweenCharacters } from '../../../src/model/characters.ts';

test('a cut within a character of two UTF-16 units comes before it, and any other stays', () => {
  const text = 'a😀😀é';
  const cuts = Array.from({ length: 6 }, (_, index) => cutBetweenCharacters(text, index + 1));
  assert.equal(cuts, [1, 1, 3, 3, 5, 6]);
  assert.is(cutBetweenCharacters(text, 100), 100, 'beyond the end');
});

test.run();
