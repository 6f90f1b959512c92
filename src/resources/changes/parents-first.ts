/** The order of changed rows of a kind whose rows refer to each other, such as categories. */
import type { Row } from '../../model/kind.ts';

/** Rows that are read between two pauses. */
const STEP_ROWS = 256;

/**
 * The rows in the given order, except that a row follows the one that it refers to.
 *
 * @param attribute holds the id of the other row, or null.
 * @returns null at each step after which a reader may pause.
 */
export function* parentsFirst(
  rows: readonly Row[],
  attribute: string,
): Generator<null, readonly Row[]> {
  const waiting = new Map<number, Row>();
  for (const row of rows) {
    waiting.set(row.id, row);
    if (waiting.size % STEP_ROWS === 0) yield null;
  }
  const ordered: Row[] = [];
  for (const [index, row] of rows.entries()) {
    if (index > 0 && index % STEP_ROWS === 0) yield null;
    const chain: Row[] = [];
    let next = waiting.get(row.id);
    while (next !== undefined) {
      waiting.delete(next.id);
      chain.push(next);
      next = waiting.get(Number(next[attribute]));
    }
    for (const each of chain.toReversed()) ordered.push(each);
  }
  return ordered;
}
