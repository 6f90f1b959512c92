/** Rows of files that are read in pieces (spec 12.8). */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { JSON_LIMITS } from '../../../../src/json/json-limits.ts';
import { fileRows } from '../../../../src/resources/transfer/reading/file-rows.ts';

/** Rows of a CSV file in pieces, with the header first. */
async function rowsOf(pieces: readonly Uint8Array[]): Promise<[number, unknown][]> {
  const found: [number, unknown][] = [];
  const source = (async function* () {
    yield* pieces;
  })();
  const onHeader = (names: readonly string[]) => found.push([1, names]);
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

test.run();
