/** Which rows of a file are written, in the words of the report of an import that failed. */

export const NOTHING_WRITTEN = 'no row is written';

/** Why an import ended when the server did. */
export const STOPPED = 'the import was stopped; import again the rows that were not written';

/**
 * @param rows of the file that are written.
 * @param next the row after them; null if it is not known.
 */
export function writtenBefore(rows: number, next: number | null): string {
  if (rows === 0) return NOTHING_WRITTEN;
  const which = next === null ? `first ${rows} rows` : `rows before row ${next}`;
  return `the ${which} are written, the others are not`;
}

/**
 * The same if the last commit may have been carried out.
 *
 * @param rows of the file that are written for certain.
 * @param first row of the commit. @param last row of the commit.
 */
export function perhapsWritten(rows: number, first: number, last: number): string {
  const which = first === last ? `row ${first} is` : `rows ${first} to ${last} are`;
  const unknown = `it is not known whether ${which} written, and no later row is`;
  return rows === 0 ? unknown : `the rows before row ${first} are written; ${unknown}`;
}
