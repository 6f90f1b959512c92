/** Rows of files that are read in pieces (spec 12.8). */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { JSON_LIMITS } from '../../../../src/json/json-limits.ts';
import { FileProblem } from '../../../../src/resources/transfer/reading/file-problem.ts';
import { fileRows } from '../../../../src/resources/transfer/reading/file-rows.ts';

/** Rows of a CSV file in pieces, with the header first, and the number of each. */
async function rowsOf(pieces: readonly Uint8Array[]): Promise<[number, unknown][]> {
  const found: [number, unknown][] = [];
  const source = (async function* () {
    yield* pieces;
  })();
  const onHeader = (names: readonly string[], row: number) => found.push([row, names]);
  for await (const rows of fileRows('csv', source, JSON_LIMITS, onHeader)) {
    for (const { row, content } of rows) found.push([row, 'cells' in content && content.cells]);
  }
  return found;
}

/** A text in pieces of one to eight bytes. */
function piecesOf(text: string, sizes: readonly number[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + (sizes[turn % sizes.length] ?? 1);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

test('each row may end with CRLF, LF or CR, with each of the delimiters, wherever a piece ends', async () => {
  const rows = fc.array(
    fc.tuple(fc.stringMatching(/^[a-zé" ]{1,6}$/), fc.stringMatching(/^[\na;]{0,4}$/)),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  const ends = fc.array(fc.constantFrom('\r\n', '\n', '\r'), { minLength: 1, maxLength: 4 });
  const delimiters = fc.constantFrom(',', ';', '\t');
  const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(rows, delimiters, ends, sizes, async (cells, delimiter, lineEnds, pieces) => {
      const quoted = cells.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`));
      const text = quoted
        .map((row, index) => row.join(delimiter) + (lineEnds[index % lineEnds.length] ?? ''))
        .join('');
      const wanted = cells.map((row, index) => [index + 1, row]);
      assert.equal(await rowsOf(piecesOf(text, pieces)), wanted);
    }),
    { numRuns: 300 },
  );
});

test('a line of "" is a row with an empty cell, and an empty line is ignored, wherever a piece ends', async () => {
  const lines = fc.array(fc.constantFrom('', '""', 'a', '"\n"'), { minLength: 1, maxLength: 8 });
  const end = fc.constantFrom('\r\n', '\n', '\r');
  const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(lines, end, fc.boolean(), sizes, async (texts, lineEnd, isOpen, pieces) => {
      const all = ['name', ...texts];
      const text = all.join(lineEnd) + (isOpen ? '' : lineEnd);
      const wanted = all.flatMap((line, index) =>
        line === '' ? [] : [[index + 1, [line.replaceAll('"', '')]]],
      );
      assert.equal(await rowsOf(piecesOf(text, pieces)), wanted);
    }),
    { numRuns: 300 },
  );
});

test('blank lines before the header are counted, wherever a piece ends', async () => {
  const blank = fc.constantFrom('', ';', ';;;', ',,', '\t\t');
  const blanks = fc.array(blank, { minLength: 1, maxLength: 4 });
  const end = fc.constantFrom('\r\n', '\n', '\r');
  const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(blanks, end, sizes, async (before, lineEnd, pieces) => {
      const text = [...before, 'a;b;c,d', '1;2;3', ''].join(lineEnd);
      assert.equal(await rowsOf(piecesOf(text, pieces)), [
        [before.length + 1, ['a', 'b', 'c,d']],
        [before.length + 2, ['1', '2', '3']],
      ]);
    }),
    { numRuns: 300 },
  );
});

test('a long header is read whole, and the first rows before the end of the file', async () => {
  const names = Array.from({ length: 2000 }, (_, at) => `name ${at}`);
  const text = `${names.join(';')}\n${`${names.join(';')}\n`.repeat(20)}`;
  let pulled = 0;
  const source = (async function* () {
    for (const piece of piecesOf(text, [1000])) {
      pulled += piece.length;
      yield piece;
    }
  })();
  const headers: (readonly string[])[] = [];
  const add = (header: readonly string[]) => headers.push(header);
  for await (const rows of fileRows('csv', source, JSON_LIMITS, add)) {
    if (rows.length === 0) continue;
    assert.equal(headers, [names]);
    assert.ok(pulled < text.length / 2, `${pulled} bytes for the first rows`);
    return;
  }
  assert.unreachable('there are no rows');
});

test('a row is limited in bytes of CSV, and in characters of NDJSON and JSON', async () => {
  const most = 4 * 1024 * 1024;
  const spare = '{"name":""}'.length;
  const json = (length: number) => `{"name":"${'€'.repeat(length - spare)}"}`;
  const read = async (format: 'csv' | 'ndjson' | 'json', text: string) => {
    const source = (async function* () {
      yield new TextEncoder().encode(text);
    })();
    let count = 0;
    for await (const rows of fileRows(format, source, JSON_LIMITS, () => {})) count += rows.length;
    return count;
  };
  const refusal = (format: 'csv' | 'ndjson' | 'json', text: string) =>
    read(format, text).then(String, messageOf);

  assert.is(await read('ndjson', `${json(most)}\n`), 1);
  assert.is(await read('json', `[${json(most)}]`), 1);
  assert.match(await refusal('ndjson', json(most + 1)), `is longer than ${most} characters`);
  assert.match(await refusal('json', `[${json(most + 1)}]`), `is longer than ${most} characters`);
  assert.match(await refusal('csv', `name\n${'€'.repeat(most / 3 + 1)}\n`), `bytes of ${most}`);
});

/** Rows of a file in pieces, with the number of each. */
async function valuesOf(format: 'json' | 'ndjson', pieces: readonly Uint8Array[]) {
  const found: [number, unknown][] = [];
  const source = (async function* () {
    yield* pieces;
  })();
  for await (const rows of fileRows(format, source, JSON_LIMITS, () => {})) {
    for (const { row, content } of rows) found.push([row, 'value' in content && content.value]);
  }
  return found;
}

test('the elements of a JSON array are rows, whatever white space is around them, wherever a piece ends', async () => {
  const values = fc.array(fc.json({ maxDepth: 2 }), { maxLength: 5 });
  const spaces = fc.array(fc.stringMatching(/^[ \n\r\t]{0,3}$/), { minLength: 1, maxLength: 5 });
  const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(values, spaces, sizes, async (texts, between, pieces) => {
      const tokens = texts.flatMap((text, index) => (index === 0 ? [text] : [',', text]));
      const spaced = ['', '[', ...tokens, ']', ''].map(
        (token, index) => token + (between[index % between.length] ?? ''),
      );
      const wanted = texts.map((text, index) => [index + 1, JSON.parse(text)]);
      assert.equal(await valuesOf('json', piecesOf(spaced.join(''), pieces)), wanted);
    }),
    { numRuns: 300 },
  );
});

test('an empty line of NDJSON is no row, and the lines after it keep their numbers', async () => {
  const text = '\n{"id":1}\r\n \n{"id":2}\n\n';
  for (const size of [1, 3, text.length]) {
    assert.equal(await valuesOf('ndjson', piecesOf(text, [size])), [
      [2, { id: 1 }],
      [4, { id: 2 }],
    ]);
  }
});

const LONG = `"${'x'.repeat(70_000)}"`;

for (const [format, text, row] of [
  ['json', '[,]', 1],
  ['json', '[{},]', 2],
  ['json', '[{},,{}]', 2],
  ['json', '[{}]]', 2],
  ['json', '[] []', 1],
  ['json', '[{]}]', 1],
  ['json', `[{},{"name":${LONG},}]`, 2],
  ['ndjson', '{}\n{"price":1.5,}', 2],
  ['ndjson', `{}\n\n{"name":${LONG},}`, 3],
] as const) {
  test(`what is not ${format} is refused with the number of its row: ${text.slice(0, 20)}`, async () => {
    let problem: unknown;
    await valuesOf(format, [new TextEncoder().encode(text)]).catch((error) => (problem = error));
    assert.instance(problem, FileProblem);
    assert.match(messageOf(problem), /^the file is not (?:an array of JSON|JSON)/);
    assert.is((problem as FileProblem).row, row);
  });
}

test.run();
