/** The rows of CSV (spec 12.8). */
import { CsvError, parse as csvParser } from 'csv-parse';
import { parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../../errors.ts';
import { following } from '../../../streams.ts';
import { CsvGuard } from './csv-guard.ts';
import { FileProblem } from './file-problem.ts';
import { type FileRow, MAX_ROW_BYTES } from './file-row.ts';

/** UTF-16 units, at least, in which the delimiter is detected; a header is shorter. */
const HEADER_BYTES = 16 * 1024;

/** Set instead of detected, because an editor may have added lines with another line end. */
const LINE_ENDS = ['\r\n', '\n', '\r'];

/** Bytes of an empty line, at most: those of its end. */
const EMPTY_LINE_BYTES = 2;

/** Blank lines at the beginning: a spreadsheet saves blank rows above the header like this. */
const BLANK_LINES = /^[\r\n,;\t]*[\r\n]/;

/** A cell of a blank row above the header, which may have another delimiter. */
const BLANK_CELL = /^[,;\t]*$/;

/** A record of the text. */
interface CsvRecord {
  readonly cells: readonly string[];
  /** Including the end of its last line. */
  readonly bytes: number;
}

/** Gets the names of the columns, and the row that they are in. */
export type OnHeader = (names: readonly string[], row: number) => void;

/**
 * @param onHeader is called before the first row.
 * @returns the rows that end in each piece.
 * @throws FileProblem, after the rows before the problem.
 */
export async function* csvRows(
  source: AsyncGenerator<string>,
  onHeader: OnHeader,
): AsyncGenerator<readonly FileRow[]> {
  let head = '';
  let ended = false;
  while (head.length < HEADER_BYTES && !ended) {
    const next = await source.next();
    if (next.done === true) ended = true;
    else head += next.value;
  }
  const delimiter = delimiterOf(head);
  const guard = new CsvGuard(delimiter);
  const records = new CsvRecords(delimiter);
  let row = 0;
  let width = 0;
  const rowsOf = (found: readonly CsvRecord[]): FileRow[] => {
    const rows: FileRow[] = [];
    for (const record of found) {
      row += 1;
      if (width === 0) {
        if (record.cells.every((cell) => BLANK_CELL.test(cell))) continue;
        width = record.cells.length;
        onHeader(record.cells, row);
      } else if (!isEmptyLine(record) && !isBlank(record, width)) {
        rows.push({ row, units: record.bytes, content: contentOf(record.cells, width) });
      }
    }
    return rows;
  };
  try {
    for await (const text of following(head, source)) {
      const stop = guard.find(text);
      yield rowsOf(await records.in(text.slice(0, stop?.at)));
      if (stop !== null) throw new FileProblem(stop.message, row + 1);
    }
    yield rowsOf(await records.end());
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield rowsOf(records.taken());
    throw new FileProblem(`the file is not CSV: ${messageOf(error)}`, row + 1);
  }
  if (width === 0) throw new FileProblem('the file is empty; the first row names the columns', 1);
}

/** A line with nothing on it; a line of `""` is a row with an empty cell. */
function isEmptyLine({ cells, bytes }: CsvRecord): boolean {
  return cells.length === 1 && cells[0] === '' && bytes <= EMPTY_LINE_BYTES;
}

/** A row without a value, as a spreadsheet saves a blank one: `,,,`. */
function isBlank(record: CsvRecord, width: number): boolean {
  const { cells } = record;
  return width > 1 && cells.length === width && cells.every((cell) => cell === '');
}

function contentOf(cells: readonly string[], width: number): FileRow['content'] {
  if (cells.length === width) return { cells };
  return { problem: `has ${cells.length} cells, but the header has ${width}` };
}

/** The records of a CSV text that comes in pieces. */
class CsvRecords {
  readonly #parser: ReturnType<typeof csvParser>;
  #found: CsvRecord[] = [];
  /** Bytes of the records so far. */
  #bytes = 0;
  /** The character that the text so far ends with. */
  #last = '\n';

  constructor(delimiter: string) {
    this.#parser = csvParser({
      delimiter,
      record_delimiter: LINE_ENDS,
      relax_column_count: true,
      skip_empty_lines: false,
      max_record_size: MAX_ROW_BYTES,
      // Null keeps a record out of the stream, whose iteration costs more than the parsing.
      on_record: (cells: string[], { bytes }) => {
        this.#found.push({ cells, bytes: bytes - this.#bytes });
        this.#bytes = bytes;
        return this.#forgetWidth();
      },
    });
    // Each error is thrown by the write that finds it.
    this.#parser.on('error', () => {});
  }

  /**
   * The parser compares the width of every record with that of the first. If they differ, it copies
   * the record by way of JSON for an error that is not used: 4 MiB take 100 ms, and 200 ms if they
   * are commas. So every record is made the first one.
   */
  #forgetWidth(): null {
    Object.assign(this.#parser.info, { records: 0 });
    return null;
  }

  /** @returns the records that end in a piece. @throws CsvError. */
  async in(text: string): Promise<readonly CsvRecord[]> {
    if (text !== '') {
      this.#last = text.slice(-1);
      await new Promise<void>((resolve, reject) => {
        this.#parser.write(text, (error) => (error ? reject(error) : resolve()));
      });
    }
    return this.taken();
  }

  /** @returns the record that ends with the text. @throws CsvError. */
  async end(): Promise<readonly CsvRecord[]> {
    // Every line gets an end, also the last one, so that only an empty line is as short as its end.
    const isOpen = this.#last !== '\n' && this.#last !== '\r';
    await new Promise<void>((resolve, reject) => {
      this.#parser.once('error', reject).end(isOpen ? '\n' : '', () => resolve());
    });
    return this.taken();
  }

  /** The records that were found and not yet taken. */
  taken(): readonly CsvRecord[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }
}

/** The delimiter that gives the header the most columns; a comma if there is only one column. */
function delimiterOf(head: string): string {
  const begin = head.replace(BLANK_LINES, '');
  let best = { delimiter: ',', columns: 0 };
  for (const delimiter of [',', ';', '\t']) {
    const columns = columnsIn(begin, delimiter);
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
