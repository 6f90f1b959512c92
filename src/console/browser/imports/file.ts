/** The file of an import: what is in it, and how it is sent. */
import { type Delimiter, delimiterOf, readRecords, type Records, writeRecord } from './csv.ts';

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
  readonly text: string;
  readonly delimiter: Delimiter;
  readonly header: readonly string[];
  /** The first rows, to recognise columns by. */
  readonly sample: readonly (readonly string[])[];
  /** Whether the file was not UTF-8, and was converted. */
  readonly converted: boolean;
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
const SAMPLE_ROWS = 3;

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

function tableOf(bytes: Uint8Array): CsvTable {
  const { text, converted } = decode(bytes);
  const delimiter = delimiterOf(text);
  const { records } = readRecords(text, delimiter, SAMPLE_ROWS + 1);
  const [header = [], ...sample] = records;
  return { text, delimiter, header, sample, converted };
}

/** Byte order marks of UTF-16: Excel saves "Unicode Text" with one. */
const MARKS = [
  { encoding: 'utf-16le', first: 0xff, second: 0xfe },
  { encoding: 'utf-16be', first: 0xfe, second: 0xff },
] as const;

/** UTF-8, or UTF-16 with a byte order mark; anything else was saved by a spreadsheet of Windows. */
function decode(bytes: Uint8Array): { text: string; converted: boolean } {
  const mark = MARKS.find(({ first, second }) => bytes[0] === first && bytes[1] === second);
  if (mark !== undefined) {
    return { text: new TextDecoder(mark.encoding).decode(bytes), converted: true };
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
 * The file as it is sent: with the names of the catalog, without the columns that are left out.
 *
 * @throws BrokenRow if columns are renamed or left out, and a row does not have the cells of the header:
 *   the server, which refuses such a row, could not tell any more.
 */
export function mappedFile({ blob, table, format }: ImportFile, mapping: Mapping): Blob {
  const type = MEDIA_TYPES[format];
  if (table === null) return new Blob([blob], { type });
  const { text, delimiter, header } = table;
  const same = mapping.every((name, at) => name === header[at]);
  if (same && !table.converted) return new Blob([blob], { type });
  const kept = mapping.flatMap((name, at) => (name === null ? [] : [at]));
  const names = kept.map((at) => mapping[at] ?? '');
  const found = readRecords(text, delimiter);
  requireCells(found, header.length);
  // Empty lines count when the server names rows, so they stay.
  const lines = found.records.slice(1).map((cells) =>
    isEmptyLine(cells)
      ? '\r\n'
      : writeRecord(
          kept.map((at) => cells[at] ?? ''),
          SENT_DELIMITER,
        ),
  );
  return new Blob([writeRecord(names, SENT_DELIMITER), ...lines], { type });
}

function isEmptyLine(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === '';
}

/** @param all cells of each row. @throws BrokenRow for the first row that has others. */
function requireCells({ records, misquoted }: Records, all: number): void {
  const at = records.findIndex((cells) => cells.length !== all && !isEmptyLine(cells));
  if (misquoted !== null && (at === -1 || misquoted <= at))
    throw new BrokenRow(misquoted + 1, null);
  const count = records[at]?.length;
  if (count !== undefined) throw new BrokenRow(at + 1, { count, all });
}
