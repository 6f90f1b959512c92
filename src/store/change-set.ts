/** The change set: everything that one group of transactions puts and deletes. */
import type { KindName, Row } from '../model/kind.ts';

export type LastIds = Readonly<Partial<Record<KindName, number>>>;

/** A change set as a draft proposes it. */
export interface ChangeSetContent {
  /** One more than the sequence of the change set before. */
  readonly sequence: number;
  /** The digest of the change set before. It chains the history together. */
  readonly previous: string;
  /** When the change set was made, ISO 8601, UTC. For people, and for restores to a time. */
  readonly time: string;
  /** The last id assigned, for each kind in which it changed. */
  readonly last_ids: LastIds;
  /**
   * A random value of the process that made it, if hosts share a log. With it, two hosts that make
   * the same changes in the same millisecond produce different bytes, so that each knows whose
   * change set the log accepted.
   */
  readonly writer?: string | undefined;
  /** New and changed rows, by ascending id. */
  readonly put: Readonly<Partial<Record<KindName, readonly Row[]>>>;
  /** Ids of deleted rows, ascending. */
  readonly delete: Readonly<Partial<Record<KindName, readonly number[]>>>;
  /**
   * Changed and deleted rows of published kinds as they were, by ascending id, unless an audit
   * entry in `put` records that: for readers of changes, which cannot know the state before.
   * Earlier versions did not write it.
   */
  readonly before?: Readonly<Partial<Record<KindName, readonly Row[]>>>;
}

/** A change set with its identity. */
export interface ChangeSet extends ChangeSetContent {
  /** SHA-256 of its encoded content, in hexadecimal. The next change set names it as `previous`. */
  readonly digest: string;
}

/** A change set and its bytes, which are the same in every copy. */
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

/**
 * A change set by its number, for a message.
 *
 * @param sequence as a client asked for it; the largest safe integer stands for every number from
 *   there on, so it is not the number that the client sent.
 */
export function changeSetLabel(sequence: number): string {
  return sequence < Number.MAX_SAFE_INTEGER
    ? `change set ${sequence}`
    : 'a change set with such a large number';
}

/** How many rows a change set puts and deletes. */
export function rowsIn({ put, delete: deleted }: ChangeSetContent): number {
  const lists = [...Object.values(put), ...Object.values(deleted)];
  return lists.reduce((sum, { length }) => sum + length, 0);
}
