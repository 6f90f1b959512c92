/** The candidate nearest to a word, compared with the definition of the edit distance. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nearest } from '../../../../src/resources/query/nearest.ts';

test('the candidate with the fewest edits is found, and the first of several such candidates', () => {
  assert.is(nearest('sort', ['order', 'sortby', 'page']), 'sortby');
  assert.is(nearest('SORT', ['order', 'sortby']), 'sortby', 'without regard to case');
  assert.is(nearest('sort', ['order', 'SORTBY']), 'SORTBY');
  assert.is(nearest('ab', ['ax', 'bb']), 'ax');
  assert.is(nearest('', ['long', 'a']), 'a');
  assert.is(nearest('x', []), null);
});

test('a candidate with more edits than are allowed is not found', () => {
  assert.is(nearest('sort', ['order', 'sortby'], 2), 'sortby');
  assert.is(nearest('sort', ['order', 'sortby'], 1), null);
});

/** The distance by its recursive definition. */
function distance(from: string, to: string): number {
  if (from === '' || to === '') return from.length + to.length;
  const [a, b] = [from.slice(1), to.slice(1)];
  if (from[0] === to[0]) return distance(a, b);
  return 1 + Math.min(distance(a, to), distance(from, b), distance(a, b));
}

test('no candidate has a smaller distance than the one that is found', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
  fc.assert(
    fc.property(word, fc.array(word, { minLength: 1, maxLength: 4 }), (sent, candidates) => {
      const found = nearest(sent, candidates) ?? '';
      const least = Math.min(...candidates.map((candidate) => distance(sent, candidate)));
      assert.is(distance(sent, found), least);
    }),
  );
});

test.run();
