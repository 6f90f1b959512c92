/** A document of any layout is read in pieces as `JSON.parse` reads it whole. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseInPieces } from '../../../src/json/piecewise-parser.ts';
import { cut, lengths } from '../../support/bases.ts';

/** Texts that are difficult for a parser that reads byte by byte. */
const aText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\\"', '],[', '{"id":1}', '__proto__', 'é😀', '1'),
);

const aRow = fc.dictionary(aText, fc.oneof(aText, fc.integer(), fc.boolean(), fc.constant(null)));

/** A document with tables, and members that look like tables. */
const aDocument = fc.record({
  schema: fc.integer(),
  access: fc.dictionary(aText, fc.oneof(fc.array(aRow), fc.jsonValue(), aText)),
  tables: fc.dictionary(aText, fc.array(aRow)),
  other: fc.jsonValue(),
});

const aLayout = fc.constantFrom<number | string>(0, 1, '\t', ' \n');

/** The bytes of an array that are parsed together: from single rows to all of them. */
const someBytes = fc.constantFrom(1, 20, 1e6);

/** Pieces, each in its own buffer. */
const piecesOf = (text: string, cuts: readonly number[]) =>
  Array.from(cut(Buffer.from(text), cuts), (piece) => Buffer.from(piece));

const parse = (text: string, cuts: readonly number[], bytes: number) =>
  parseInPieces(piecesOf(text, cuts), bytes);

test('a document in any layout, cut anywhere, has the value that JSON.parse returns', () => {
  fc.assert(
    fc.property(aDocument, aLayout, lengths, someBytes, (document, layout, cuts, bytes) => {
      const text = JSON.stringify(document, null, layout);
      assert.is(JSON.stringify(parse(text, cuts, bytes)), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('any other JSON value, cut anywhere, has the value that JSON.parse returns', () => {
  fc.assert(
    fc.property(fc.jsonValue(), lengths, someBytes, (value, cuts, bytes) => {
      const text = JSON.stringify(value);
      assert.is(JSON.stringify(parse(text, cuts, bytes)), text);
    }),
  );
});

test('a text is refused if and only if JSON.parse refuses it', () => {
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
  test(`the misplaced commas of ${array} are refused, wherever its rows are cut`, () => {
    const text = `{"a":{"b":${array}}}`;
    for (const bytes of [1, 2, 1e6])
      assert.throws(
        () => parse(text, [1], bytes),
        (error: Error) => error instanceof SyntaxError,
      );
  });
}

test('an array that contains only spaces is empty', () => {
  for (const bytes of [1, 1e6])
    assert.equal(parse('{"a":{"b":[  ]}}', [1], bytes), { a: { b: [] } });
});

test('if an object has two members with the same name, the last one counts', () => {
  const text = '{"a":{"b":[1],"b":[2]},"a":{"b":[3],"b":[4]}}';
  assert.equal(parse(text, [1], 1), { a: { b: [4] } });
});

test('a part of more than 64 MiB is refused before the rest of it is taken', () => {
  const half = Buffer.alloc(33 * 1024 * 1024, ' ');
  const rest = [half, Buffer.from(']}}')];
  const pieces = [Buffer.from('{"a":{"b":['), half, half, ...rest];
  assert.throws(() => parseInPieces(pieces), /a part of it has more than 67108864 bytes/);
  assert.is(pieces.length, rest.length);
});

/** The texts that a call gives to JSON.parse. */
function textsParsedBy(call: () => void): string[] {
  const texts: string[] = [];
  const { parse: original } = JSON;
  JSON.parse = (text: string) => {
    texts.push(text);
    return original(text);
  };
  try {
    call();
    return texts;
  } finally {
    JSON.parse = original;
  }
}

test('the rows of an array are parsed about 256 KiB at a time', () => {
  const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, name: 'x'.repeat(100) }));
  const pieces = piecesOf(JSON.stringify({ tables: { books: rows } }), [4096]);
  const texts = textsParsedBy(() => parseInPieces(pieces));
  const all = texts.join('').length;
  const longest = Math.max(...texts.map(({ length }) => length));
  assert.ok(all > 3_000_000, `${all} bytes`);
  assert.ok(longest > 256 * 1024 && longest < 257 * 1024, `${longest} bytes`);
});

test('the list of pieces is empty after parsing, so that their memory can be freed', () => {
  const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'x'.repeat(id % 50) }));
  const text = JSON.stringify({ tables: { books: rows } });
  const pieces = piecesOf(text, [4096]);
  const count = pieces.length;
  assert.ok(count > 900);
  assert.equal(parseInPieces(pieces), { tables: { books: rows } });
  assert.equal(pieces, [], 'they can be given back');
});

test.run();
