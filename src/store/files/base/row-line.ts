/**
 * The lines of a base that are rows, as we write them: `{"id":`, the other attributes, `}`, and
 * what separates rows and tables. At first, only the id and the end of a line are read.
 */
import { messageOf } from '../../../errors.ts';
import type { KindName } from '../../../model/kind.ts';
import { naturalAt } from '../../memory/plain-value.ts';
import type { RowParser } from '../../memory/text-table.ts';
import { isRow } from '../change-set.ts';
import { damaged } from '../files.ts';

const COMMA = 0x2c;
const BRACKET = 0x5d;
const BRACE = 0x7d;

/** What is between two rows of a table. */
export const BETWEEN_ROWS = ',\n';

/** What follows the last table, up to the checksum. */
export const TABLES_END = ']\n}';

/** @returns the text between the rows of the table before and those of the nth table. */
export function tableBeginning(kind: KindName, nth: number): string {
  return `${nth === 0 ? '' : '],\n'}"${kind}":[`;
}

/** How the line of a row begins. */
const BEGINNING = Buffer.from('{"id":');

/** What follows a row in its line: the number of bytes, and what the next line has to be. */
export interface Closing {
  readonly length: number;
  readonly next: 'row' | 'table' | 'end';
}

export const MORE_ROWS: Closing = { length: 1, next: 'row' };
const MORE_TABLES: Closing = { length: 2, next: 'table' };
const NO_MORE: Closing = { length: 1, next: 'end' };

/**
 * @param end of the line, in bytes.
 * @returns null if the line does not end like that of a row.
 */
export function closingOf(bytes: Buffer, end: number): Closing | null {
  const last = bytes[end - 1];
  const before = bytes[end - 2];
  if (before === BRACE) return last === COMMA ? MORE_ROWS : last === BRACKET ? NO_MORE : null;
  const isTablesEnd = last === COMMA && before === BRACKET && bytes[end - 3] === BRACE;
  return isTablesEnd ? MORE_TABLES : null;
}

/**
 * @param start of the line, in bytes.
 * @returns the row's id; null if the line does not begin like that of a row.
 */
export function idIn(bytes: Buffer, start: number): number | null {
  for (let at = 0; at < BEGINNING.length; at += 1) {
    if (bytes[start + at] !== BEGINNING[at]) return null;
  }
  const id = naturalAt(bytes, start + BEGINNING.length);
  return id === undefined || id === 0 ? null : id;
}

/** @param path of the base, for messages. */
export function parserOf(path: string, kind: KindName): RowParser {
  return {
    row(text, id) {
      try {
        const row: unknown = JSON.parse(text);
        if (isRow(row) && row.id === id) return row;
      } catch (error) {
        throw damaged(path, `row ${id} of ${kind}: ${messageOf(error)}`);
      }
      throw damaged(path, `row ${id} of ${kind} has another id as well`);
    },
    rows(texts) {
      try {
        const rows: unknown = JSON.parse(`[${texts}]`);
        return Array.isArray(rows) && rows.every(isRow) ? rows : null;
      } catch {
        // Reading them one by one finds the one that is damaged.
        return null;
      }
    },
  };
}
