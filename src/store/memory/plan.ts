/** The effect of many changes on the tables, prepared in steps while readers see the old state. */
import type { KindName } from '../../model/kind.ts';
import type { ChangedRows } from './changed-rows.ts';
import type { Replacements } from './orders/lists/replacements.ts';
import type { Ordering } from './orders/ordering.ts';
import type { PlannedRows, RowTable } from './row-table.ts';

/** Rows that are put between two pauses. */
const STEP_ROWS = 256;

/** The parts of the next state that differ. */
export interface TablesPlan {
  readonly changed: ChangedRows;
  readonly rows: ReadonlyMap<KindName, PlannedRows>;
  readonly lists: ReadonlyMap<Ordering, Replacements>;
  /** The orderings that existed when the plan was made. */
  readonly known: ReadonlySet<Ordering>;
}

/** Plans the rows of the tables after changes. */
export function* planRows(
  tables: Readonly<Record<KindName, RowTable>>,
  changed: ChangedRows,
): Generator<undefined, ReadonlyMap<KindName, PlannedRows>> {
  const planned = new Map<KindName, PlannedRows>();
  for (const [kind, ofKind] of changed.byKind) {
    const rows = tables[kind].plan();
    planned.set(kind, rows);
    for (const [index, { id, after }] of ofKind.entries()) {
      if (index % STEP_ROWS === 0) yield;
      rows.set(id, after);
    }
  }
  return planned;
}
