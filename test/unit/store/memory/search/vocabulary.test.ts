/** A vocabulary finds the rows of words that contain a text, after any changes of words. */
import { heapStats } from 'bun:jsc';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { atOnce } from '../../../../../src/slices.ts';
import { Bitmap } from '../../../../../src/store/memory/search/bitmap.ts';
import { Vocabulary } from '../../../../../src/store/memory/search/vocabulary.ts';
import { WordSegment } from '../../../../../src/store/memory/search/word-segment.ts';

const letter = fc.constantFrom('a', 'b', 'c', '\0', '光', '😀');
const word = fc.string({ unit: letter, minLength: 1, maxLength: 5 });
const step = fc.record({
  row: fc.integer({ min: 1, max: 40 }),
  words: fc.uniqueArray(word, { maxLength: 4 }),
});

function rowsWith(vocabulary: Vocabulary, text: string): number[] {
  const found = new Bitmap();
  atOnce(vocabulary.find(text, found));
  return [...found];
}

/** Objects of the heap that are in use. */
function objects(): number {
  Bun.gc(true);
  return heapStats().objectCount;
}

test('the rows found are those that have a word which contains the text', () => {
  fc.assert(
    fc.property(
      // From one word in each segment to more words than there are.
      fc.constantFrom(1, 2, 7, 1000),
      fc.array(step, { maxLength: 80 }),
      fc.array(word, { minLength: 1, maxLength: 6 }),
      (segmentWords, steps, texts) => {
        const vocabulary = new Vocabulary(segmentWords);
        const rows = new Map<number, readonly string[]>();
        for (const { row, words } of steps) {
          vocabulary.delete(rows.get(row) ?? [], row);
          vocabulary.add(words, row);
          rows.set(row, words);
          // What this search has prepared must not outlive the next change.
          rowsWith(vocabulary, texts[0] ?? '');
        }
        for (const text of texts) {
          const plainly = [...rows]
            .filter(([, words]) => words.some((each) => each.includes(text)))
            .map(([row]) => row)
            .sort((a, b) => a - b);
          assert.equal(rowsWith(vocabulary, text), plainly, text);
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test('a segment tells the word at a position from others, which may have the same hash', () => {
  const segment = new WordSegment(Object.entries({ ab: 1, cd: 2 }), { isLasting: true });
  const found = ['ab', 'cd', 'a', 'abc', ''].map((each) => segment.isAt(0, each));
  assert.equal(found, [true, false, false, false, false]);
});

test('a segment counts those of its words that still have a row', () => {
  const segment = new WordSegment(Object.entries({ ab: 1, cd: 2, ef: 3 }), { isLasting: true });
  segment.add(1, 4);
  assert.equal([segment.delete(1, 2), segment.live], [false, 3]);
  assert.equal([segment.delete(1, 4), segment.live], [true, 2]);
  assert.equal([segment.delete(0, 1), segment.live], [true, 1]);
});

test('words with a common prefix are found by the prefix and by their other parts', () => {
  const vocabulary = new Vocabulary(50);
  for (let row = 1; row <= 200; row += 1) vocabulary.add([`art-${row}`, 'x'.repeat(300)], row);
  const all = Array.from({ length: 200 }, (_, at) => at + 1);
  const found = (text: string) => {
    const bitmap = new Bitmap();
    atOnce(vocabulary.find(text, bitmap));
    return [...bitmap];
  };
  assert.equal(found('art'), all);
  assert.equal(found('art-'), all);
  assert.equal(found('x'.repeat(300)), all);
  assert.equal(found('t-15'), [15, ...all.slice(149, 159)]);
  assert.equal(found('99'), [99, 199]);
  vocabulary.delete(['art-15', 'art-150'], 15);
  vocabulary.delete(['art-150'], 150);
  assert.equal(found('t-15'), all.slice(150, 159));
});

test('words that come and go do not fill a segment', () => {
  const vocabulary = new Vocabulary();
  vocabulary.add(['stays'], 1);
  for (let row = 2; row <= 400; row += 1) {
    vocabulary.add(['x'.repeat(100)], row);
    vocabulary.delete(['x'.repeat(100)], row);
  }
  assert.is([...vocabulary.find('stays', new Bitmap())].length, 0);
});

test('words that no row has any more are at most half of those that a search reads', () => {
  const { find } = WordSegment.prototype;
  let read = 0;
  WordSegment.prototype.find = function (this: WordSegment, ...how) {
    read += this.size;
    find.apply(this, how);
  };
  try {
    const vocabulary = new Vocabulary(64);
    const wordOf = (nth: number) => `word${nth}`;
    const count = 64 * 10;
    // Every second word is in two rows.
    for (let nth = 1; nth <= count; nth += 1) {
      for (let row = 1; row <= 1 + (nth % 2); row += 1) vocabulary.add([wordOf(nth)], row);
    }
    for (let nth = 1; nth <= count; nth += 1) {
      if (nth % 16 !== 0) for (const row of [1, 2]) vocabulary.delete([wordOf(nth)], row);
    }
    assert.equal(rowsWith(vocabulary, 'word'), [1]);
    assert.ok(read <= (2 * count) / 16, `${read} words are read`);
  } finally {
    WordSegment.prototype.find = find;
  }
});

test('a search pauses between segments', () => {
  const vocabulary = new Vocabulary(10);
  for (let row = 1; row <= 100; row += 1) vocabulary.add([`word${row}`], row);
  assert.is([...vocabulary.find('word', new Bitmap())].length, 10);
});

test('long words are in small segments, because each is made in one turn', () => {
  const vocabulary = new Vocabulary();
  const long = (row: number) => `${row}-`.padEnd(255, 'x');
  for (let row = 1; row <= 2000; row += 1) vocabulary.add([long(row)], row);
  assert.is([...vocabulary.find('1999-x', new Bitmap())].length, 15);
  for (let row = 1; row <= 2000; row += 1) vocabulary.delete([long(row)], row);
  for (let row = 1; row <= 2000; row += 1) vocabulary.add([`${row}`], row);
  assert.is([...vocabulary.find('1999', new Bitmap())].length, 0);
});

test('an index holds no object for each word, so that collections of garbage need not visit it', () => {
  const WORDS = 100_000;
  const vocabulary = new Vocabulary();
  const before = objects();
  for (let row = 1; row <= WORDS; row += 1) vocabulary.add([`article-${row}`], row);
  // The recent words are objects, and each segment is a few.
  assert.ok(objects() - before < WORDS / 10, `${objects() - before} objects`);
  assert.equal(rowsWith(vocabulary, 'article-39999'), [39_999]);
});

test.run();
