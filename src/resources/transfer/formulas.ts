/**
 * Cells that a spreadsheet would take for a formula (spec 12.5): an export puts an apostrophe
 * before them, which an import removes.
 */

const FORMULA = /^'*[=+\-@\t\r]/;

const GUARDED = /^'+[=+\-@\t\r]/;

/** The text of a cell. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The value that the text of a cell stands for. */
export function unguardFormula(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}
