/** The change set: everything that one group of transactions puts and deletes. */
import type { KindName, Row } from '../model/kind.ts';

export type LastIds = Readonly<Partial<Record<KindName, number>>>;

/** A change set as a draft proposes it. */
export interface ChangeSetContent {
  /** One more than the sequence of the change set before. */
  readonly sequence: number;
  /** The digest of the change set before. It chains the history together. */
  readonly previous: string;
  /** ISO 8601, UTC: when the change set was made. For people; nothing is decided by it. */
  readonly time: string;
  /** The last id assigned, for each kind in which it changed. */
  readonly last_ids: LastIds;
  /**
   * A random value of the process that made it, if hosts share a log: two hosts that do the same in
   * the same millisecond make different bytes, so that each can tell whose change set the log took.
   */
  readonly writer?: string | undefined;
  /** New and changed rows, by ascending id. */
  readonly put: Readonly<Partial<Record<KindName, readonly Row[]>>>;
  /** Ids of deleted rows, ascending. */
  readonly delete: Readonly<Partial<Record<KindName, readonly number[]>>>;
  /**
   * Changed and deleted rows of published kinds as they were, by ascending id, as far as no audit
   * entry in `put` tells it: for readers of changes, who cannot know the state before. Earlier
   * versions did not write it.
   */
  readonly before?: Readonly<Partial<Record<KindName, readonly Row[]>>>;
}

/** A change set with its identity. */
export interface ChangeSet extends ChangeSetContent {
  /** SHA-256 of its encoded content, in hexadecimal. The next change set names it as `previous`. */
  readonly digest: string;
}

/** A change set and the bytes that every copy of it consists of. */
export interface EncodedChangeSet {
  readonly changeSet: ChangeSet;
  readonly bytes: Uint8Array;
}

/** @returns about how many characters a row has as JSON. */
export function charactersOf(row: Row): number {
  let sum = 0;
  for (const name in row) {
    const value = row[name];
    sum += name.length + (typeof value === 'string' ? value.length : 0) + 8;
  }
  return sum;
}

/** About how many characters the rows of a change set have as JSON. */
export function charactersIn({ put, before = {} }: ChangeSetContent): number {
  const lists = [...Object.values(put), ...Object.values(before)];
  return lists.reduce(
    (sum, rows) => rows.reduce((characters, row) => characters + charactersOf(row), sum),
    0,
  );
}

/** How many rows a change set puts and deletes. */
export function rowsIn({ put, delete: deleted }: ChangeSetContent): number {
  const lists = [...Object.values(put), ...Object.values(deleted)];
  return lists.reduce((sum, { length }) => sum + length, 0);
}
