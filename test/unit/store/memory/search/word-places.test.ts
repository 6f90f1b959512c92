/** The places of words are those that were set last, however many words there are. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WordPlaces } from '../../../../../src/store/memory/search/word-places.ts';

/** Words, of which many come again. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', '光'), maxLength: 3 });
const step = fc.record({ word, isDeleted: fc.boolean() });

test('a word has the place that was set last, and none once it is deleted', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const words: string[] = [];
      const places = new WordPlaces((place, each) => words[place] === each);
      const plainly = new Map<string, number>();
      for (const { word: each, isDeleted } of steps) {
        if (isDeleted) {
          places.delete(each);
          plainly.delete(each);
        } else {
          const place = words.push(each) - 1;
          places.set(each, place);
          plainly.set(each, place);
        }
        assert.is(places.get(each), plainly.get(each));
      }
      for (const each of words) assert.is(places.get(each), plainly.get(each));
    }),
    { numRuns: 500 },
  );
});

test('places are found while the table grows, and after most words are deleted', () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `word-${at}`);
  const places = new WordPlaces((place, each) => words[place] === each);
  for (const [at, each] of words.entries()) places.set(each, at);
  for (const [at, each] of words.entries()) assert.is(places.get(each), at);
  for (const [at, each] of words.entries()) if (at % 10 !== 0) places.delete(each);
  for (const [at, each] of words.entries()) {
    assert.is(places.get(each), at % 10 === 0 ? at : undefined);
  }
});

test.run();
