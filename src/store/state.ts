/** The document that lowdb holds: the committed state, and what the next write is to append. */
import { randomBytes } from 'node:crypto';
import type { KindName, Row } from '../model/kind.ts';
import { ALL_KINDS } from '../model/kinds.ts';
import type { ChangeSet } from './files/change-set.ts';
import { perKind } from '../model/per-kind.ts';
import { RowTable } from './memory/row-table.ts';

export interface StoreState {
  /** Of the last change set that is contained. */
  sequence: number;
  /** The digest of that change set; before the first, what tells this history from others. */
  previous: string;
  /** When that change set was written, ISO 8601, UTC; null where nobody knows. */
  time: string | null;
  readonly lastIds: Record<KindName, number>;
  readonly rows: Record<KindName, RowTable>;
  /** What the next write is to append; null to write the whole document as a new base. */
  staged: ChangeSet | null;
}

/** A document at one instant, which stays as it is. */
export interface Snapshot {
  readonly sequence: number;
  readonly previous: string;
  readonly time: string | null;
  readonly lastIds: Readonly<Record<KindName, number>>;
  /** By ascending id. */
  readonly rows: Readonly<Record<KindName, Iterable<Row>>>;
}

/** A document without rows, from which a store begins. */
export function emptyDocument(): StoreState {
  return {
    sequence: 0,
    previous: randomBytes(32).toString('hex'),
    time: null,
    lastIds: perKind(() => 0),
    rows: perKind(() => new RowTable()),
    staged: null,
  };
}

/** @returns a copy of references: cheap whatever the number of rows. */
export function snapshotOf({ sequence, previous, time, lastIds, rows }: StoreState): Snapshot {
  return {
    sequence,
    previous,
    time,
    lastIds: { ...lastIds },
    rows: perKind(({ name }) => rows[name].snapshot()),
  };
}

/** Brings a document forward by the change set that follows it. */
export function replay(document: StoreState, changes: ChangeSet & { digest: string }): void {
  for (const { name } of ALL_KINDS) {
    const table = document.rows[name];
    for (const row of changes.put[name] ?? []) table.set(row);
    for (const id of changes.delete[name] ?? []) table.delete(id);
  }
  Object.assign(document.lastIds, changes.last_ids);
  document.sequence = changes.sequence;
  document.previous = changes.digest;
  document.time = changes.time;
}
