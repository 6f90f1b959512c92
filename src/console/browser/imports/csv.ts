/** CSV files (RFC 4180) as far as the console reads and writes them itself. */
import { textOf } from '../api/text-of.ts';

const DELIMITERS = [',', ';', '\t'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

/** The delimiter that the first record has most of outside quotes; `,` if it has none. */
export function delimiterOf(text: string): Delimiter {
  const counts = { ',': 0, ';': 0, '\t': 0 };
  let inQuotes = false;
  for (const character of text) {
    if (character === '"') inQuotes = !inQuotes;
    else if (!inQuotes && (character === '\n' || character === '\r')) break;
    else if (!inQuotes && character in counts) counts[character as Delimiter] += 1;
  }
  return DELIMITERS.reduce((best, each) => (counts[each] > counts[best] ? each : best));
}

export interface Records {
  readonly records: string[][];
  /** The index of the first record whose quotes do not end where a cell ends; null for none. */
  readonly misquoted: number | null;
}

/** Position after a line break, if there is one. */
function afterBreak(text: string, at: number): number {
  if (text.startsWith('\r\n', at)) return at + 2;
  return at + 1;
}

/**
 * Reads records.
 *
 * @param max how many; the rest of the text is left alone.
 */
export function readRecords(text: string, delimiter: Delimiter, max = Infinity): Records {
  const records: string[][] = [];
  let misquoted: number | null = null;
  let at = 0;
  let record: string[] = [];
  while (at < text.length && records.length < max) {
    const { cell, end, isMisquoted } = readCell(text, at, delimiter);
    if (isMisquoted) misquoted ??= records.length;
    record.push(cell);
    if (text.charAt(end) === delimiter) {
      at = end + 1;
      if (at < text.length) continue;
      record.push('');
    } else {
      at = afterBreak(text, end);
    }
    records.push(record);
    record = [];
  }
  return { records, misquoted };
}

/** One cell from `start`; `end` is the position of what ends it. */
function readCell(text: string, start: number, delimiter: Delimiter) {
  let at = start;
  let cell = '';
  const isQuoted = text.charAt(at) === '"';
  if (isQuoted) {
    for (at += 1; at < text.length; at += 1) {
      const close = text.indexOf('"', at);
      const stop = close === -1 ? text.length : close;
      cell += text.slice(at, stop);
      at = stop;
      if (text.charAt(at + 1) !== '"') break;
      cell += '"';
      at += 1;
    }
    at += 1;
  }
  const from = at;
  while (at < text.length && !isEnd(text.charAt(at), delimiter)) at += 1;
  // Quotes that are not closed end after the text.
  const isMisquoted = isQuoted && from !== Math.min(at, text.length);
  return { cell: cell + text.slice(from, at), end: at, isMisquoted };
}

function isEnd(character: string, delimiter: Delimiter): boolean {
  return character === delimiter || character === '\n' || character === '\r';
}

/** One record, with its line break. */
export function writeRecord(cells: readonly string[], delimiter: Delimiter): string {
  return `${cells.map((cell) => quoted(cell, delimiter)).join(delimiter)}\r\n`;
}

function quoted(cell: string, delimiter: Delimiter): string {
  const plain = !cell.includes(delimiter) && !/["\r\n]/.test(cell);
  return plain ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/** The text of a value; an apostrophe begins one that a spreadsheet would take for a formula. */
export function cellOf(value: unknown): string {
  const text = textOf(value);
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
