/** Numbers of texts, compared with those of a map. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HashedNumbers } from '../../../../../src/store/memory/maps/hashed-numbers.ts';

/** Texts of which many come again, and whose hashes collide, as those of others seldom do. */
const TEXT = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', '光') });

for (const [name, hashOf] of [
  ['all hashes are the same', () => 7],
  ['all hashes are at the end of a part', () => 2 ** 32 - 1],
  ['the hashes are at both ends of a part', (text: string) => ((text.length + 5) % 8) * 256],
  ['the hashes are random', undefined],
] as const) {
  test(`a number is found by its text if ${name}`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(TEXT, fc.boolean()), { maxLength: 80, size: 'max' }),
        (calls) => {
          const hashed = new HashedNumbers(hashOf);
          const byText = new Map<string, number>();
          const texts = ['no number is 0'];
          for (const [text, isAdded] of calls) {
            const number = byText.get(text);
            if (isAdded && number === undefined) {
              byText.set(text, texts.push(text) - 1);
              hashed.add(text, texts.length - 1);
            } else if (!isAdded && number !== undefined) {
              hashed.remove(text, number);
              byText.delete(text);
            }
          }
          for (const text of [...texts, 'd']) {
            const found = hashed.get(text, (number, wanted) => texts[number] === wanted);
            assert.is(found, byText.get(text));
          }
          assert.equal(new Set(hashed.numbers()), new Set(byText.values()));
        },
      ),
    );
  });
}

test('numbers are found while the parts grow, and after most are removed', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) => `word-${at}`);
  const hashed = new HashedNumbers();
  const find = (text: string) => hashed.get(text, (number, each) => texts[number - 1] === each);
  for (const [at, text] of texts.entries()) hashed.add(text, at + 1);
  for (const [at, text] of texts.entries()) assert.is(find(text), at + 1);
  for (const [at, text] of texts.entries()) if (at % 10 !== 0) hashed.remove(text, at + 1);
  for (const [at, text] of texts.entries()) {
    assert.is(find(text), at % 10 === 0 ? at + 1 : undefined);
  }
});

test('removing a number that a text does not have throws an error', () => {
  const hashed = new HashedNumbers(() => 1);
  assert.throws(() => hashed.remove('a', 1), /the number 1 is lost/);
  hashed.add('a', 1);
  assert.throws(() => hashed.remove('a', 2), /the number 2 is lost/);
});

test.run();
