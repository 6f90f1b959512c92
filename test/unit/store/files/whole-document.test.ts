/** A document of any layout is read in pieces as `JSON.parse` reads it whole. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseInPieces } from '../../../../src/store/files/base/whole-document.ts';
import { cut, lengths } from '../../../support/bases.ts';

/** What is in the way of one who reads byte by byte. */
const aText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\\"', '],[', '{"id":1}', '__proto__', 'é😀', '1'),
);

const aRow = fc.dictionary(aText, fc.oneof(aText, fc.integer(), fc.boolean(), fc.constant(null)));

/** A document with tables, and members that look like some. */
const aDocument = fc.record({
  schema: fc.integer(),
  access: fc.dictionary(aText, fc.oneof(fc.array(aRow), fc.jsonValue(), aText)),
  tables: fc.dictionary(aText, fc.array(aRow)),
  other: fc.jsonValue(),
});

const aLayout = fc.constantFrom<number | string>(0, 1, '\t', ' \n');

/** Bytes of an array that are parsed together: from single rows to all of them. */
const someBytes = fc.constantFrom(1, 20, 1e6);

/** Pieces with a memory of their own each. */
const piecesOf = (text: string, cuts: readonly number[]) =>
  Array.from(cut(Buffer.from(text), cuts), (piece) => Buffer.from(piece));

const parse = (text: string, cuts: readonly number[], bytes: number) =>
  parseInPieces(piecesOf(text, cuts), bytes);

test('every document, in every layout and cut anywhere, has the value that JSON.parse gives it', () => {
  fc.assert(
    fc.property(aDocument, aLayout, lengths, someBytes, (document, layout, cuts, bytes) => {
      const text = JSON.stringify(document, null, layout);
      assert.is(JSON.stringify(parse(text, cuts, bytes)), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('so has every other value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), lengths, someBytes, (value, cuts, bytes) => {
      const text = JSON.stringify(value);
      assert.is(JSON.stringify(parse(text, cuts, bytes)), text);
    }),
  );
});

test('what JSON.parse refuses is refused', () => {
  const document = '{"a":{"b":[{"c":[1,{"d":"]"}]},2],"e":[]},"f":[[3,[]],4]}';
  const change = fc.tuple(
    fc.nat(document.length - 1),
    fc.nat(2),
    fc.constantFrom('', '[', ']', '{', '}', ',', '"', ':', '1', ' ', '\\'),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), lengths, someBytes, (changes, cuts, bytes) => {
      const text = changes.reduce(
        (before, [at, removed, put]) => before.slice(0, at) + put + before.slice(at + removed),
        document,
      );
      const outcome = (read: () => unknown) => {
        try {
          return JSON.stringify(read());
        } catch (error) {
          assert.instance(error, SyntaxError, text);
          return 'refused';
        }
      };
      const expected = outcome(() => JSON.parse(text));
      assert.is(
        outcome(() => parse(text, cuts, bytes)),
        expected,
        text,
      );
    }),
    { numRuns: 2000 },
  );
});

for (const array of ['[ ,1]', '[,1]', '[1, ,2]', '[1, ]', '[ , ]']) {
  test(`the commas of ${array} are refused, wherever its rows are cut`, () => {
    const text = `{"a":{"b":${array}}}`;
    for (const bytes of [1, 2, 1e6])
      assert.throws(
        () => parse(text, [1], bytes),
        (error: Error) => error instanceof SyntaxError,
      );
  });
}

test('an array may hold nothing but spaces', () => {
  for (const bytes of [1, 1e6])
    assert.equal(parse('{"a":{"b":[  ]}}', [1], bytes), { a: { b: [] } });
});

test('of two members with one name the last counts', () => {
  const text = '{"a":{"b":[1],"b":[2]},"a":{"b":[3],"b":[4]}}';
  assert.equal(parse(text, [1], 1), { a: { b: [4] } });
});

test('a part that is too long is refused, and not held', () => {
  const half = Buffer.alloc(33 * 1024 * 1024, ' ');
  const pieces = [Buffer.from('{"a":{"b":['), half, half, Buffer.from(']}}')];
  assert.throws(() => parseInPieces(pieces), /a part of it has more than 67108864 bytes/);
});

test('rows take no more than their pieces at once', () => {
  const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'x'.repeat(id % 50) }));
  const text = JSON.stringify({ tables: { books: rows } });
  const pieces = piecesOf(text, [4096]);
  const count = pieces.length;
  assert.ok(count > 900);
  assert.equal(parseInPieces(pieces), { tables: { books: rows } });
  assert.equal(pieces, [], 'they can be given back');
});

test.run();
