/** The file of an import: what is in it, and how it is sent. */
import type { Currency } from '../messages/typed-numbers.ts';
import { type Delimiter, delimiterOf, readRecords, type Records, writeRecord } from './csv.ts';
import { serverCell } from './spreadsheet-cells.ts';

type Format = 'csv' | 'ndjson' | 'json';

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

export interface ImportFile {
  readonly name: string;
  readonly format: Format;
  /** As the user chose it. */
  readonly blob: Blob;
  /** The text and the parts of its first records; null if the format is not CSV. */
  readonly table: CsvTable | null;
}

interface CsvTable {
  /** From its first record that has a value. */
  readonly text: string;
  /** Blank lines before it. */
  readonly blank: number;
  readonly delimiter: Delimiter;
  readonly header: readonly string[];
  /** The first rows, to recognise columns by. */
  readonly sample: readonly (readonly string[])[];
  /** Whether the file was not UTF-8, and was converted. */
  readonly converted: boolean;
  /** Whether a line was left out that the server does not skip: a delimiter's name, or blank. */
  readonly shortened: boolean;
}

/** What is sent to the server. */
export interface SentFile {
  readonly file: Blob;
  /** The first cell that is sent as the server reads it; null if every cell is sent as it is. */
  readonly example: { readonly before: string; readonly after: string } | null;
}

/** A row whose cells cannot be assigned to the columns of the header. */
export class BrokenRow extends Error {
  /** From 1, the header, as the server counts. */
  readonly row: number;
  /** How many it has and should have; null if one of them has quotes that do not end it. */
  readonly cells: { readonly count: number; readonly all: number } | null;

  constructor(row: number, cells: BrokenRow['cells']) {
    super(`row ${row}: ${cells === null ? 'quotes' : `${cells.count} of ${cells.all} cells`}`);
    this.row = row;
    this.cells = cells;
  }
}

/** Of a file whose columns are renamed or left out: the server assumes it if one column is left. */
const SENT_DELIMITER = ',';

/** Rows that are shown beside a column. */
export const SAMPLE_ROWS = 3;

function formatOf(name: string): Format {
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson';
  return /\.json$/i.test(name) ? 'json' : 'csv';
}

/**
 * @param file whose name tells the format; CSV if it has no other known ending.
 * @throws DOMException if the file has changed or is gone since it was chosen.
 */
export async function readImportFile(file: File): Promise<ImportFile> {
  const format = formatOf(file.name);
  const table = format === 'csv' ? tableOf(new Uint8Array(await file.arrayBuffer())) : null;
  return { name: file.name, format, blob: file, table };
}

/** Excel reads it as the delimiter, and does not count it as a row. */
const DELIMITER_LINE = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i;

/** Blank rows above the header, of a spreadsheet or of a program that quotes every cell. */
const BLANK_LINES = /^(?:[\s,;]|"\s*")*[\r\n]/;

/** What the server skips above the header, besides the delimiter. */
const BLANK_FOR_SERVER = /^(?:[\r\n]|"")*$/;

/** Cells of a blank row, whose line ends begin no row. */
const BLANK_CELLS = /"\s*"/g;

function tableOf(bytes: Uint8Array): CsvTable {
  const { text: whole, converted } = decode(bytes);
  const [line = '', named] = DELIMITER_LINE.exec(whole) ?? [];
  const rest = whole.slice(line.length);
  const [lines = ''] = BLANK_LINES.exec(rest) ?? [];
  const blank = lines.replace(BLANK_CELLS, '').match(/\r\n|[\r\n]/g)?.length ?? 0;
  const text = rest.slice(lines.length);
  const delimiter = named === undefined ? delimiterOf(text) : (named as Delimiter);
  // The server would read a space, or another delimiter, as the name of a column.
  const shortened = line !== '' || !BLANK_FOR_SERVER.test(lines.replaceAll(delimiter, ''));
  const { records } = readRecords(text, delimiter, SAMPLE_ROWS + 1);
  const [header = [], ...sample] = records;
  return { text, blank, delimiter, header, sample, converted, shortened };
}

/** Byte order marks of UTF-16: Excel saves "Unicode Text" with one. */
const MARKS = [
  { encoding: 'utf-16le', first: 0xff, second: 0xfe },
  { encoding: 'utf-16be', first: 0xfe, second: 0xff },
] as const;

/** The encoding of UTF-16 by its mark, or by one half of the first character, which is 0. */
function wideEncodingOf([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0 || second === 0) return first === 0 ? 'utf-16be' : 'utf-16le';
  return MARKS.find((mark) => mark.first === first && mark.second === second)?.encoding;
}

/** UTF-8 or UTF-16; anything else was saved by a spreadsheet of Windows. */
function decode(bytes: Uint8Array): { text: string; converted: boolean } {
  const encoding = wideEncodingOf(bytes);
  if (encoding !== undefined) {
    return { text: new TextDecoder(encoding).decode(bytes), converted: true };
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), converted: false };
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), converted: true };
  }
}

/** For each column of the file the one of the catalog; null leaves it out. */
export type Mapping = readonly (string | null)[];

/** A name without what people write differently. */
function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Recognises columns: by their names, as the server does, and then by names and labels of the
 * console that differ only in case, accents and signs.
 *
 * @param labels of the columns, in the order of the columns.
 */
export function recognise(
  header: readonly string[],
  columns: readonly string[],
  labels: readonly string[],
): Mapping {
  const named = new Set(header.filter((name) => columns.includes(name)));
  const taken = new Set<string>();
  return header.map((name) => {
    const column = named.has(name) ? name : alike(name, columns, labels);
    if (column === null || taken.has(column)) return null;
    if (column !== name && named.has(column)) return null;
    taken.add(column);
    return column;
  });
}

/** The column that a name probably means; null if none is like it. */
function alike(name: string, columns: readonly string[], labels: readonly string[]): string | null {
  const wanted = folded(name);
  if (wanted === '') return null;
  const found = columns.filter(
    (column, at) => folded(column) === wanted || folded(labels[at] ?? '') === wanted,
  );
  // People write the names of brands and categories rather than their ids, which have equal labels.
  return found.find((column) => !column.endsWith('_id')) ?? found[0] ?? null;
}

/**
 * The file as it is sent: with the names of the catalog, without the columns that are left out. A
 * spreadsheet whose decimal mark is a comma separates cells by other signs, and has cells that the
 * server does not read.
 *
 * @param currency of the shop.
 * @param headless whether its first record is a row, so that a header is sent before it.
 * @throws BrokenRow if the file cannot be sent as it is, and a row does not have the cells of the
 *   header: the server, which refuses such a row, could not tell any more.
 */
export function mappedFile(
  { blob, table, format }: ImportFile,
  mapping: Mapping,
  currency: Currency,
  headless = false,
): SentFile {
  const type = MEDIA_TYPES[format];
  const asItIs = { file: new Blob([blob], { type }), example: null };
  if (table === null) return asItIs;
  const { text, blank, delimiter, header, converted, shortened } = table;
  const named = mapping.every((name, at) => name === header[at]);
  const same = named && !converted && !shortened && !headless;
  if (same && delimiter === SENT_DELIMITER) return asItIs;
  const kept = mapping.flatMap((name, at) => (name === null ? [] : [at]));
  const names = kept.map((at) => mapping[at] ?? '');
  const found = readRecords(text, delimiter);
  let example: SentFile['example'] = null;
  const sentCell = (before: string, column: string) => {
    if (delimiter === SENT_DELIMITER) return before;
    const after = serverCell(column, before, currency);
    if (after !== before) example ??= { before, after };
    return after;
  };
  // Empty lines count when the server names rows, so they stay.
  const lines = found.records.slice(headless ? 0 : 1).map((cells) =>
    isEmptyLine(cells)
      ? '\r\n'
      : writeRecord(
          kept.map((at) => sentCell(cells[at] ?? '', mapping[at] ?? '')),
          SENT_DELIMITER,
        ),
  );
  if (same && example === null) return asItIs;
  requireCells(found, header.length, blank);
  const before = ['\r\n'.repeat(blank), writeRecord(names, SENT_DELIMITER)];
  return { file: new Blob([...before, ...lines], { type }), example };
}

function isEmptyLine(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === '';
}

/**
 * @param all cells of each row.
 * @param before the first record, as many lines.
 * @throws BrokenRow for the first row that has others.
 */
function requireCells({ records, misquoted }: Records, all: number, before: number): void {
  const at = records.findIndex((cells) => cells.length !== all && !isEmptyLine(cells));
  if (misquoted !== null && (at === -1 || misquoted <= at))
    throw new BrokenRow(before + misquoted + 1, null);
  const count = records[at]?.length;
  if (count !== undefined) throw new BrokenRow(before + at + 1, { count, all });
}
