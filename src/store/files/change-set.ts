/** The change set: what one group of commits put and deleted, and its form in a file. */
import * as v from 'valibot';
import type { KindName, Row } from '../../model/kind.ts';
import { KIND_NAMES } from '../../model/kind.ts';
import { parseShape, type Checksummed, withChecksum, verifyChecksum } from './files.ts';

export type LastIds = Readonly<Partial<Record<KindName, number>>>;

export interface ChangeSet {
  /** One more than that of the change set before. */
  readonly sequence: number;
  /** The digest of the change set before, which ties the history together. */
  readonly previous: string;
  /** ISO 8601, UTC: when the commit was made durable. For people; nothing is decided by it. */
  readonly time: string;
  /** The last id handed out, of the kinds in which it changed. */
  readonly last_ids: LastIds;
  readonly put: Readonly<Partial<Record<KindName, readonly Row[]>>>;
  readonly delete: Readonly<Partial<Record<KindName, readonly number[]>>>;
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const id = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const row = v.custom<Row>(
  (input) =>
    typeof input === 'object' &&
    input !== null &&
    !Array.isArray(input) &&
    v.is(id, (input as Row).id),
  'must be a row with an id',
);
/** A record by table. A list is none, though to valibot it is a record without members. */
const byKind = <const S extends v.GenericSchema>(shape: S) =>
  v.pipe(
    v.custom<object>((input) => !Array.isArray(input), 'must be an object, not a list'),
    v.record(v.picklist(KIND_NAMES), shape),
  );

/** Checks of a file's shape; `check` looks at the values too (check.ts). */
export const shapes = {
  count,
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  lastIds: byKind(count),
  rows: byKind(v.array(row)),
  ids: byKind(v.array(id)),
};

const changeSetShape = v.object({
  sequence: shapes.count,
  previous: shapes.digest,
  time: v.string(),
  last_ids: shapes.lastIds,
  put: shapes.rows,
  delete: shapes.ids,
});

/** @returns the file's bytes and the digest that the next change set names as `previous`. */
export function encodeChangeSet(changes: ChangeSet): Checksummed {
  return withChecksum(changes);
}

/**
 * @param path of the file, for the message.
 * @throws CatalogError `store_damaged`.
 */
export function decodeChangeSet(path: string, bytes: Buffer): ChangeSet & { digest: string } {
  const { value, digest } = verifyChecksum(path, bytes);
  return { ...(parseShape(path, changeSetShape, value) as ChangeSet), digest };
}
