/**
 * The rows of a file, read in pieces (spec 12.8): one piece, its rows and the beginning of the next
 * row are in memory.
 */
import { CsvError, parse as csvParser } from 'csv-parse';
import { parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../../errors.ts';
import { FileProblem } from './file-problem.ts';
import type { Format } from '../formats.ts';
import { jsonElements } from './json-elements.ts';

/** Bytes of one row, at most: the longest SPU, with every character escaped, has fewer. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;

/** Bytes in which the header of a CSV file ends. */
const HEADER_BYTES = 16 * 1024;

/** Named, because an editor may have added lines with another end than that of the header. */
const LINE_ENDS = ['\r\n', '\n', '\r'];

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
 * @returns the rows of each piece, as they are read.
 * @throws FileProblem, after the rows before the problem.
 */
export async function* fileRows(
  format: Format,
  source: AsyncIterable<Uint8Array>,
  onHeader: (names: readonly string[]) => void,
): AsyncGenerator<readonly FileRow[]> {
  const checked = checkedUtf8(source);
  const pieces = format === 'csv' ? csvRows(checked, onHeader) : jsonRows(format, checked);
  let count = 0;
  for await (const rows of pieces) {
    const left = MAX_ROWS - count;
    count += rows.length;
    yield rows.length > left ? rows.slice(0, left) : rows;
    const surplus = rows[left];
    if (surplus !== undefined) throw new FileProblem(`has more than ${MAX_ROWS} rows`, surplus.row);
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
): AsyncGenerator<readonly FileRow[]> {
  let head = '';
  let ended = false;
  while (head.length < HEADER_BYTES && !ended) {
    const next = await source.next();
    if (next.done === true) ended = true;
    else head += next.value;
  }
  const records = new CsvRecords(delimiterOf(head));
  let row = 0;
  let width = 0;
  const rowsOf = (found: readonly (readonly string[])[]): FileRow[] => {
    const rows: FileRow[] = [];
    for (const cells of found) {
      row += 1;
      if (row === 1) {
        width = cells.length;
        onHeader(cells);
      } else if (cells.length > 1 || cells[0] !== '') {
        rows.push({ row, content: contentOf(cells, width) });
      }
    }
    return rows;
  };
  try {
    yield rowsOf(await records.in(head));
    for await (const text of source) yield rowsOf(await records.in(text));
    yield rowsOf(await records.end());
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield rowsOf(records.taken());
    throw new FileProblem(`the file is not CSV: ${messageOf(error)}`, row + 1);
  }
  if (row === 0) throw new FileProblem('the file is empty; the first row names the columns', 1);
}

/** The records of a CSV text that comes in pieces. */
class CsvRecords {
  readonly #parser: ReturnType<typeof csvParser>;
  #found: (readonly string[])[] = [];

  constructor(delimiter: string) {
    this.#parser = csvParser({
      delimiter,
      record_delimiter: LINE_ENDS,
      relax_column_count: true,
      skip_empty_lines: false,
      max_record_size: MAX_ROW_BYTES,
      // Null keeps a record out of the stream, whose iteration costs more than the parsing.
      on_record: (cells: string[]) => {
        this.#found.push(cells);
        return null;
      },
    });
    // Each error is thrown by the write that finds it.
    this.#parser.on('error', () => {});
  }

  /** @returns the records that end in a piece. @throws CsvError. */
  async in(text: string): Promise<readonly (readonly string[])[]> {
    if (text !== '') {
      await new Promise<void>((resolve, reject) => {
        this.#parser.write(text, (error) => (error ? reject(error) : resolve()));
      });
    }
    return this.taken();
  }

  /** @returns the record that ends with the text. @throws CsvError. */
  async end(): Promise<readonly (readonly string[])[]> {
    await new Promise<void>((resolve, reject) => {
      this.#parser.once('error', reject).end(resolve);
    });
    return this.taken();
  }

  /** The records that were found and not yet taken. */
  taken(): readonly (readonly string[])[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }
}

function contentOf(cells: readonly string[], width: number): FileRow['content'] {
  if (cells.length === width) return { cells };
  return { problem: `has ${cells.length} cells, but the header has ${width}` };
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
    const [header = []] = parseCsv(head, {
      delimiter,
      record_delimiter: LINE_ENDS,
      to: 1,
      relax_column_count: true,
    });
    return (header as readonly string[]).length;
  } catch {
    return 0;
  }
}

async function* jsonRows(
  format: Exclude<Format, 'csv'>,
  source: AsyncIterable<string>,
): AsyncGenerator<readonly FileRow[]> {
  const pieces = format === 'json' ? jsonElements(source, MAX_ROW_BYTES) : lines(source);
  let row = 0;
  for await (const texts of pieces) {
    const rows: FileRow[] = [];
    for (const text of texts) {
      row += 1;
      if (format === 'ndjson' && text.trim() === '') continue;
      try {
        rows.push({ row, content: { value: JSON.parse(text) as unknown } });
      } catch {
        yield rows;
        const what =
          format === 'json' ? 'an array of JSON objects' : 'JSON, an object on each line';
        throw new FileProblem(`the file is not ${what}`, row);
      }
    }
    yield rows;
  }
}

/** The lines that end in each piece. */
async function* lines(source: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  let row = 1;
  for await (const text of source) {
    const parts = text.split('\n');
    parts[0] = rest + (parts[0] ?? '');
    for (const [index, part] of parts.entries()) {
      if (part.length > MAX_ROW_BYTES) {
        throw new FileProblem(`a line has more than ${MAX_ROW_BYTES} bytes`, row + index);
      }
    }
    rest = parts.pop() ?? '';
    row += parts.length;
    yield parts;
  }
  if (rest !== '') yield [rest];
}
