/** How columns of a file are called. */
import { attributeLabel } from '../parts/attributes.ts';

/** Columns that are no attribute by themselves. */
const ATTRIBUTES: Readonly<Record<string, string>> = { spu: 'spu_id', parent: 'parent_id' };

/**
 * @param column of a CSV file, perhaps with a currency after the name, as in `price EUR`.
 * @returns the label of its attribute; the column itself if there is none.
 */
export function columnLabel(column: string): string {
  const bare = column.replace(/ [A-Z]{3}$/, '');
  return attributeLabel(ATTRIBUTES[bare] ?? bare) || column;
}
