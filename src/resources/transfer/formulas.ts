/**
 * Cells that a spreadsheet would take for a formula (spec 12.5): they get an apostrophe, which is
 * taken off again.
 */

const FORMULA = /^'*[=+\-@\t\r]/;

const GUARDED = /^'+[=+\-@\t\r]/;

/** The text of a cell. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** What the text of a cell stands for. */
export function unguardFormula(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}
