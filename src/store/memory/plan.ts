/** The effect of many changes on the tables, prepared in steps while readers see the old state. */
import type { Change } from '../../model/change.ts';
import type { KindName, Row } from '../../model/kind.ts';
import { ownersOf } from '../../model/relations.ts';
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

/**
 * Plans the tables after changes: the rows that change, and copies of their owners, which readers
 * see as changed too.
 */
export function* planRows(
  tables: Readonly<Record<KindName, RowTable>>,
  changed: ChangedRows,
): Generator<undefined, ReadonlyMap<KindName, PlannedRows>> {
  const planned = new Map<KindName, PlannedRows>();
  const of = (kind: KindName): PlannedRows => {
    let rows = planned.get(kind);
    if (rows === undefined) planned.set(kind, (rows = tables[kind].plan()));
    return rows;
  };
  for (const [kind, ofKind] of changed.byKind) {
    const rows = of(kind);
    for (const [index, { id, after }] of ofKind.entries()) {
      if (index % STEP_ROWS === 0) yield;
      rows.set(id, after);
    }
  }
  let renewed = 0;
  for (const [kind, ofKind] of changed.byKind) {
    for (const [owner, id] of ownerIds(kind, ofKind)) {
      if (renewed % STEP_ROWS === 0) yield;
      renewed += 1;
      const row = of(owner).get(id);
      // A row that changed itself is already a new object.
      const isNew = row !== undefined && changed.get(owner, id)?.after === row;
      if (row !== undefined && !isNew) of(owner).set(id, { ...row });
    }
  }
  return planned;
}

/** The owners of changed rows, before and after the change: each kind and id once. */
export function* ownerIds(
  kind: KindName,
  changes: readonly Change[],
): Generator<readonly [owner: KindName, id: number]> {
  for (const { kind: owner, foreignKey } of ownersOf(kind)) {
    const ids = new Set<number>();
    for (const { before, after } of changes) {
      for (const child of [before, after] as readonly (Row | null)[]) {
        const id = child?.[foreignKey];
        if (typeof id !== 'number' || ids.has(id)) continue;
        ids.add(id);
        yield [owner, id];
      }
    }
  }
}
