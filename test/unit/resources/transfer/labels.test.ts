/** Category paths and specifications in a cell (spec 12.4). */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  joinPairs,
  LabelError,
  pairText,
  parsePairs,
  parsePath,
  pathText,
} from '../../../../src/resources/transfer/labels.ts';
import { atOnce } from '../../../../src/slices.ts';

const pairsOf = (text: string, most = 10) => atOnce(parsePairs(text, most));

/** The message of the error, or null if the text is valid. */
function problemOf(parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    assert.instance(error, LabelError);
    return (error as LabelError).message;
  }
}

const name = fc
  .string({ unit: fc.constantFrom('\\', ';', '=', '>', ' ', 'a', '\u{1f600}'), minLength: 1 })
  .filter((text) => /[^ ]/.test(text));

test('specifications and paths are read back as they were written, whatever names they contain', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 5 }), (pairs) => {
      assert.equal(pairsOf(joinPairs(pairs.map(pairText))), pairs);
    }),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 3 }), (names) => {
      assert.equal(parsePath(pathText(names)), names);
    }),
  );
});

test('spaces around a name are removed, unless they are escaped with a backslash', () => {
  const names: [text: string, name: string][] = [
    ['  a  b  ', 'a  b'],
    ['a\\ ', 'a '],
    ['a\\   ', 'a '],
    ['\\  a', '  a'],
    [' \\ ', ' '],
    ['a\\\\ ', 'a\\'],
    ['a\\b', 'ab'],
    ['a\\\nb', 'a\nb'],
  ];
  for (const [text, wanted] of names) assert.equal(parsePath(text), [wanted], text);
});

test('a name that is empty, cut off or longer than 255 characters is refused', () => {
  const longest = '\\\ud83d\\\ude00'.repeat(255);
  assert.equal(parsePath(longest), ['\u{1f600}'.repeat(255)]);
  const spaces = ' '.repeat(1000);
  assert.equal(parsePath(`${spaces}${longest}${spaces}`), ['\u{1f600}'.repeat(255)]);
  assert.is(
    problemOf(() => parsePath(`${longest}a`)),
    'has a name that is too long',
  );
  for (const text of [' ', 'a > ', '> a']) {
    assert.is(
      problemOf(() => parsePath(text)),
      'has an empty name',
      text,
    );
  }
  assert.is(
    problemOf(() => parsePath('a\\')),
    'ends with a single \\',
  );
});

test('too many specifications, malformed ones and a path of more than three levels are refused', () => {
  assert.is(pairsOf('a=b;a=b', 2).length, 2);
  assert.is(
    problemOf(() => pairsOf('a=b;a=b;a=b', 2)),
    'has more than 2 specifications',
  );
  assert.is(pairsOf('a=b\\;c;a=b', 2).length, 2, 'an escaped separator does not separate');
  assert.is(parsePath('a>b>c').length, 3);
  assert.is(
    problemOf(() => parsePath('a>b>c>d')),
    'must have at most three levels',
  );
  for (const text of ['a', 'a=b=c', '=', 'a=b;c'])
    assert.ok(
      problemOf(() => pairsOf(text)),
      text,
    );
});

test('reading specifications pauses after each of them, and often within a long text', () => {
  const pausesIn = (text: string) => {
    const reading = parsePairs(text, 1000);
    let pauses = 0;
    try {
      while (reading.next().done !== true) pauses += 1;
    } catch (error) {
      assert.instance(error, LabelError);
    }
    return pauses;
  };
  assert.ok(pausesIn('a=b;'.repeat(99).concat('a=b')) >= 100);
  const million = 1024 * 1024;
  for (const text of ['a'.repeat(million), '\\a'.repeat(million / 2)]) {
    const pauses = pausesIn(text);
    assert.ok(pauses >= 30 && pauses <= 100, `${pauses} pauses`);
  }
});

test.run();
