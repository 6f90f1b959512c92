/** spec 12.8: what is found in CSV before the parser reads it: too many cells, or a stray quote. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CsvGuard } from '../../../../../src/resources/transfer/reading/csv-guard.ts';
import { MAX_TEXT_UNITS } from '../../../../../src/resources/transfer/reading/file-row.ts';

const MAX_CELLS = 10_000;

/** The message about a text, and the character at which it stops, wherever the text is cut. */
function foundIn(text: string, delimiter = ',') {
  const whole = new CsvGuard(delimiter).find(text);
  const cuts = fc.array(fc.nat(text.length), { maxLength: 4 });
  fc.assert(
    fc.property(cuts, (places) => {
      const guard = new CsvGuard(delimiter);
      let begin = 0;
      for (const end of [...places.toSorted((a, b) => a - b), text.length]) {
        const found = guard.find(text.slice(begin, end));
        if (found !== null) {
          assert.equal({ ...found, at: begin + found.at }, whole);
          return;
        }
        begin = end;
      }
      assert.is(whole, null);
    }),
    { numRuns: 5 },
  );
  return whole;
}

const delimiters = [',', ';', '\t'];

test('a row may have 10,000 cells, and the rows of a file any number, whatever ends them', () => {
  for (const delimiter of delimiters) {
    const row = delimiter.repeat(MAX_CELLS - 1);
    for (const end of ['\n', '\r', '\r\n']) {
      assert.is(foundIn(`${row}${end}`.repeat(3), delimiter), null);
      const found = foundIn(`${row}${end}${row}${delimiter}${end}`, delimiter);
      assert.equal(found, {
        at: row.length + end.length + MAX_CELLS - 1,
        message: 'has more than 10000 cells',
      });
    }
  }
});

test('delimiters and ends of lines within quotes belong to the cell', () => {
  assert.is(foundIn(`"${','.repeat(2 * MAX_CELLS)}",a`), null);
  assert.is(foundIn(`"a""${','.repeat(2 * MAX_CELLS)}""",a`), null);
  // The quotes of the first cell have ended.
  assert.is(foundIn(`"a"${','.repeat(MAX_CELLS)}`)?.message, 'has more than 10000 cells');
  // A line that ends within quotes does not begin a new row.
  const half = ','.repeat(MAX_CELLS / 2);
  assert.is(foundIn(`${half}"\n"${half}`)?.message, 'has more than 10000 cells');
});

test('a quote within a long cell without quotes around it is found, and left to the parser in others', () => {
  const long = 'x'.repeat(MAX_TEXT_UNITS + 1);
  const message = 'the file is not CSV: a cell without quotes around it contains a quote';
  assert.equal(foundIn(`a,${long}"`), { at: 2 + long.length, message });
  assert.is(foundIn(`a,${long.slice(1)}"`), null, 'a short cell');
  assert.is(foundIn(`"${long}""${long}"`), null, 'a cell with quotes around it');
  for (const end of [',', '\n', '\r']) {
    assert.is(foundIn(`${long}${end}"a"`), null, 'the quotes of the next cell');
    assert.is(foundIn(`"a"${end}${long}${end}"a"`), null);
  }
});

test.run();
