/**
 * The rows of a file, read in pieces (spec 12.8): only one piece, its rows and the beginning of the
 * next row are in memory.
 */
import type { JsonLimits } from '../../../json/json-limits.ts';
import type { Format } from '../formats.ts';
import { csvRows, type OnHeader } from './csv-rows.ts';
import { FileProblem } from './file-problem.ts';
import { type FileRow, rowLimits } from './file-row.ts';
import { jsonRows } from './json-rows.ts';

/** Rows of one file, at most. */
const MAX_ROWS = 1_000_000;

/**
 * @param limits the JSON limits of a body.
 * @param onHeader is called before the first row of a CSV file.
 * @returns the rows of each piece, as they are read.
 * @throws FileProblem, after the rows before the problem.
 */
export async function* fileRows(
  format: Format,
  source: AsyncIterable<Uint8Array>,
  limits: JsonLimits,
  onHeader: OnHeader,
): AsyncGenerator<readonly FileRow[]> {
  const checked = checkedUtf8(source);
  const pieces =
    format === 'csv' ? csvRows(checked, onHeader) : jsonRows(format, checked, rowLimits(limits));
  let count = 0;
  for await (const rows of pieces) {
    const left = MAX_ROWS - count;
    count += rows.length;
    yield rows.length > left ? rows.slice(0, left) : rows;
    const surplus = rows[left];
    if (surplus !== undefined)
      throw new FileProblem(`the file has more than ${MAX_ROWS} rows`, surplus.row);
  }
}

/** Decodes the file and drops a byte order mark. @throws FileProblem. */
async function* checkedUtf8(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of source) yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError)
      throw new FileProblem('the file is not UTF-8; save it in UTF-8');
    throw error;
  }
}
