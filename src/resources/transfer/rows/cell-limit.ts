/** How long a cell of CSV may be (spec 12.8). */
import * as v from 'valibot';
import type { Kind } from '../../../model/kind.ts';
import { MAX_TEXT_UNITS } from '../reading/file-row.ts';
import type { Cell } from './cells.ts';
import type { RowProblem } from './row-problems.ts';

/** UTF-16 units of a cell other than `specs`, at most: a text and its apostrophe (spec 12.5). */
const MAX_CELL_UNITS = MAX_TEXT_UNITS + 1;

/** The problem of a cell that is longer than any value: to read it would block the event loop. */
export function lengthProblem(kind: Kind, { column, raw }: Cell): RowProblem | null {
  if (raw.length <= MAX_CELL_UNITS || column.form === 'specs') return null;
  const own = column.form === 'plain' ? maxCharacters(kind, column.attribute) : undefined;
  const bound = own === undefined ? `${MAX_CELL_UNITS} UTF-16 units` : `${own} characters`;
  return { column: column.sent, message: `must be at most ${bound} long` };
}

/** Characters of a value, at most, as its schema declares them: each has one or two units. */
function maxCharacters(kind: Kind, attribute: string): number | undefined {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'input') return undefined;
  const { maxLength } = v.getMetadata(declared.schema);
  return typeof maxLength === 'number' ? maxLength : undefined;
}
