/** A row of a file, and how long it may be (spec 12.8). */
import type { JsonLimits } from '../../../json/json-limits.ts';

/** Bytes of one row of CSV, at most: the longest SPU, with every character escaped, has fewer. */
export const MAX_ROW_BYTES = 4 * 1024 * 1024;

/** UTF-16 units of one row of NDJSON or JSON, at most. */
export const MAX_ROW_UNITS = 4 * 1024 * 1024;

/** UTF-16 units of one text, at most: those of the longest description, an SPU's. */
export const MAX_TEXT_UNITS = 2 * 65_536;

/** The most characters with which JSON can write one UTF-16 unit: `\u00e9`. */
const ESCAPED = 6;

/** Members of one object, at most. No object of the API has as many. */
const MAX_MEMBERS = 1000;

/** The limits of the JSON of a row, given those of a body. */
export function rowLimits({ depth, elements }: JsonLimits): Required<JsonLimits> {
  return { depth, elements, members: MAX_MEMBERS, characters: ESCAPED * MAX_TEXT_UNITS };
}

export interface FileRow {
  /** CSV: as a spreadsheet counts, the header is 1. NDJSON: the line. JSON: the element, from 1. */
  readonly row: number;
  /** About how many characters it has in the file. */
  readonly units: number;
  /** Cells of CSV by their columns, or an object. */
  readonly content:
    | { readonly cells: readonly string[] }
    | { readonly value: unknown }
    | { readonly problem: string };
}
