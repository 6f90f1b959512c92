/** The rows of a file, read in pieces (spec 12.8): at most one piece and one row are in memory. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse as csvParser } from 'csv-parse';
import { parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../../errors.ts';
import { FileProblem } from './file-problem.ts';
import type { Format } from '../formats.ts';
import { jsonElements } from './json-elements.ts';

/** Bytes of one row, at most: the longest SPU, with every character escaped, has fewer. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;

/** Bytes in which the header of a CSV file ends. */
const HEADER_BYTES = 16 * 1024;

/** Rows of one file. */
const MAX_ROWS = 1_000_000;

export interface FileRow {
  /** As a spreadsheet counts: the header is 1; of NDJSON the line, of JSON the element from 1. */
  readonly row: number;
  /** Cells of CSV by their columns, or an object. */
  readonly content:
    | { readonly cells: readonly string[] }
    | { readonly value: unknown }
    | { readonly problem: string };
}

/**
 * @param onHeader is given the names of the columns before the first row of a CSV file.
 * @throws FileProblem.
 */
export async function* fileRows(
  format: Format,
  source: AsyncIterable<Uint8Array>,
  onHeader: (names: readonly string[]) => void,
): AsyncGenerator<FileRow> {
  const checked = checkedUtf8(source);
  const rows = format === 'csv' ? csvRows(checked, onHeader) : jsonRows(format, checked);
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (count > MAX_ROWS) throw new FileProblem(`has more than ${MAX_ROWS} rows`, row.row);
    yield row;
  }
}

/** Decodes the file without a byte order mark. @throws FileProblem. */
async function* checkedUtf8(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of source) yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new FileProblem('the file is not UTF-8');
    throw error;
  }
}

async function* csvRows(
  source: AsyncGenerator<string>,
  onHeader: (names: readonly string[]) => void,
): AsyncGenerator<FileRow> {
  let head = '';
  let ended = false;
  while (head.length < HEADER_BYTES && !ended) {
    const next = await source.next();
    if (next.done === true) ended = true;
    else head += next.value;
  }
  const parser = csvParser({
    delimiter: delimiterOf(head),
    relax_column_count: true,
    skip_empty_lines: false,
    max_record_size: MAX_ROW_BYTES,
  });
  // What fails in it is thrown by the iteration over the records.
  const feeding = feed(parser, head, source);
  let row = 0;
  let width = 0;
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      row += 1;
      if (row === 1) {
        width = cells.length;
        onHeader(cells);
      } else if (cells.length > 1 || cells[0] !== '') {
        yield { row, content: contentOf(cells, width) };
      }
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')) {
      throw new FileProblem(`the file is not CSV: ${messageOf(error)}`, row + 1);
    }
    throw error;
  } finally {
    parser.destroy();
    await feeding;
  }
  if (row === 0) throw new FileProblem('the file is empty; the first row names the columns', 1);
}

function contentOf(cells: readonly string[], width: number): FileRow['content'] {
  if (cells.length === width) return { cells };
  return { problem: `has ${cells.length} cells, but the header has ${width}` };
}

type CsvParser = ReturnType<typeof csvParser>;

async function feed(parser: CsvParser, head: string, rest: AsyncGenerator<string>): Promise<void> {
  const write = async (text: string) => {
    if (parser.destroyed || text === '') return;
    if (parser.write(text)) await nextTurn();
    else await drained(parser);
  };
  try {
    await write(head);
    for await (const text of rest) {
      if (parser.destroyed) return;
      await write(text);
    }
    parser.end();
  } catch (error) {
    parser.destroy(error instanceof Error ? error : new Error(messageOf(error)));
  }
}

/** Waits until the parser takes more, or none at all. */
function drained(parser: CsvParser): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      parser.off('drain', settle).off('close', settle);
      resolve();
    };
    parser.on('drain', settle).on('close', settle);
  });
}

/** The delimiter by which the header has the most columns; a comma if there is one alone. */
function delimiterOf(head: string): string {
  let best = { delimiter: ',', columns: 0 };
  for (const delimiter of [',', ';', '\t']) {
    const columns = columnsIn(head, delimiter);
    if (columns > best.columns) best = { delimiter, columns };
  }
  return best.delimiter;
}

function columnsIn(head: string, delimiter: string): number {
  try {
    const [header = []] = parseCsv(head, { delimiter, to: 1, relax_column_count: true });
    return (header as readonly string[]).length;
  } catch {
    return 0;
  }
}

async function* jsonRows(
  format: Exclude<Format, 'csv'>,
  source: AsyncIterable<string>,
): AsyncGenerator<FileRow> {
  const texts = format === 'json' ? jsonElements(source, MAX_ROW_BYTES) : lines(source);
  let row = 0;
  for await (const text of texts) {
    row += 1;
    if (format === 'ndjson' && text.trim() === '') continue;
    try {
      yield { row, content: { value: JSON.parse(text) as unknown } };
    } catch {
      const what = format === 'json' ? 'an array of JSON objects' : 'JSON, an object on each line';
      throw new FileProblem(`the file is not ${what}`, row);
    }
  }
}

async function* lines(source: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  let row = 1;
  for await (const text of source) {
    const parts = text.split('\n');
    for (const [index, part] of parts.entries()) {
      if (rest.length + part.length > MAX_ROW_BYTES) {
        throw new FileProblem(`a line has more than ${MAX_ROW_BYTES} bytes`, row);
      }
      rest += part;
      if (index === parts.length - 1) break;
      yield rest;
      rest = '';
      row += 1;
    }
  }
  if (rest !== '') yield rest;
}
