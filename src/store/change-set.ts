/**
 * The change set: what one group of commits put and deleted, and its form in a file.
 *
 * A file of the store is one JSON object whose last member is `sha256`, the digest of every byte
 * before `,"sha256"`. The digest is over bytes, not over values, so that a person checks it with
 * `head -c` and `sha256sum` alone.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { CatalogError, messageOf } from '../errors.ts';
import type { KindName, Row } from '../model/kind.ts';
import { KIND_NAMES } from '../model/kind.ts';

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

const SEAL = /^,"sha256":"([0-9a-f]{64})"\}\n$/;
const SEAL_LENGTH = ',"sha256":""}\n'.length + 64;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const row = v.custom<Row>(
  (input) =>
    typeof input === 'object' &&
    input !== null &&
    !Array.isArray(input) &&
    v.is(count, (input as Row).id),
  'must be a row with an id',
);
const kindName = v.picklist(KIND_NAMES);

/** Checks of a file's shape; its values were checked before they were written. */
export const shapes = {
  count,
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  lastIds: v.record(kindName, count),
  rows: v.record(kindName, v.array(row)),
  ids: v.record(kindName, v.array(count)),
};

const changeSetShape = v.object({
  sequence: shapes.count,
  previous: shapes.digest,
  time: v.string(),
  last_ids: shapes.lastIds,
  put: shapes.rows,
  delete: shapes.ids,
});

export interface Encoded {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** @returns the file's bytes and the digest that the next change set names as `previous`. */
export function encodeChangeSet(changes: ChangeSet): Encoded {
  const text = JSON.stringify(changes).slice(0, -1);
  const digest = createHash('sha256').update(text).digest('hex');
  return { bytes: Buffer.from(text + seal(digest)), digest };
}

/** The end of a file whose bytes before it have this digest. */
export function seal(digest: string): string {
  return `,"sha256":"${digest}"}\n`;
}

/**
 * @param name of the file, for the message.
 * @throws CatalogError `store_damaged`.
 */
export function decodeChangeSet(name: string, bytes: Buffer): ChangeSet & { digest: string } {
  const { value, digest } = unseal(name, bytes);
  const parsed = v.safeParse(changeSetShape, value);
  if (!parsed.success) throw damaged(name, v.summarize(parsed.issues).split('\n')[0] ?? '');
  return { ...(parsed.output as ChangeSet), digest };
}

/**
 * Verifies the digest of a file of the store and parses it.
 *
 * @throws CatalogError `store_damaged` where it is not what was written.
 */
export function unseal(name: string, bytes: Buffer): { value: unknown; digest: string } {
  const end = Math.max(bytes.length - SEAL_LENGTH, 0);
  const stated = SEAL.exec(bytes.toString('latin1', end))?.[1];
  if (stated === undefined) throw damaged(name, 'it is cut off, or not a file of the store');
  const digest = createHash('sha256').update(bytes.subarray(0, end)).digest('hex');
  if (digest !== stated) throw damaged(name, 'its checksum does not match its content');
  try {
    return { value: JSON.parse(`${bytes.toString('utf8', 0, end)}}`), digest };
  } catch (error) {
    throw damaged(name, messageOf(error));
  }
}

/** What to do about a damaged file is the same for all of them. */
export function damaged(name: string, what: string): CatalogError {
  return new CatalogError(
    'store_damaged',
    `${name} is damaged: ${what}; restore the directory from a backup, or see "Damage" in docs/storage.md`,
  );
}
