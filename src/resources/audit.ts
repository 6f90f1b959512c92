/**
 * The audit trail: who wrote which row, when, and its values before and after. An entry is written
 * in the commit that it describes, so neither exists without the other.
 */
import type { Row } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { ownersOf } from '../model/relations.ts';
import { append, clearInParts, type Entry } from '../store/bounded.ts';
import type { Transaction } from '../store/writer/draft.ts';
import type { Change } from '../model/change.ts';

/** Bytes of entries that are kept, unless it was set otherwise. */
export const DEFAULT_AUDIT_BYTES = 16 * 1024 * 1024;

/** Who writes, and when. */
export interface Author {
  /** Whom the token is for; null if no token is required. */
  readonly subject: string | null;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/**
 * Adds an entry for each row of an audited kind that the transaction has written so far, in the
 * order of its first writes, and deletes the oldest entries to make room. Yields between entries.
 *
 * @param most bytes of entries that are kept. With 0 none are kept, and earlier ones are deleted.
 */
export function* audit(
  transaction: Transaction,
  author: Author,
  most: number,
): Generator<undefined, void> {
  let stamp: Stamp | undefined;
  for (const change of transaction.written()) {
    yield;
    if (!KINDS[change.kind].audited) continue;
    if (most === 0) {
      yield* clearInParts(transaction, AUDITS);
      return;
    }
    stamp ??= ownStamp(transaction, author, change);
    append(transaction, AUDITS, { ...stamp, ...actOf(change) }, (_, kept) => kept.bytes > most);
  }
}

/** A change of something that is not a row of the store. Its texts are JSON; null for nothing. */
export type Act = Pick<Entry<'audits'>, 'action' | 'resource' | 'resource_id' | 'before' | 'after'>;

/** Adds an entry about such a change. @param most as of {@link audit}. */
export function auditAct(transaction: Transaction, act: Act, author: Author, most: number): void {
  if (most === 0) return;
  append(transaction, AUDITS, { ...stampOf(author), ...act }, (_, kept) => kept.bytes > most);
}

/** An entry without the attributes that the table adds. */
export function entryOf(change: Change, author: Author): Entry<'audits'> {
  return { ...stampOf(author), ...actOf(change) };
}

type Stamp = Pick<Entry<'audits'>, 'time' | 'subject'>;

function stampOf({ subject, time }: Author): Stamp {
  return { time: new Date(time).toISOString(), subject };
}

/**
 * An undo takes the records of a SKU for written with it if their entries follow that of the SKU
 * with the same time and subject. So a request that begins with a record gets the next millisecond
 * if the entry before it has these.
 *
 * @param first what the request wrote first.
 */
function ownStamp(transaction: Transaction, author: Author, first: Change): Stamp {
  const stamp = stampOf(author);
  if (ownersOf(first.kind).length === 0) return stamp;
  const last = transaction.get(AUDITS, transaction.lastId(AUDITS));
  const isSame = last?.time === stamp.time && last.subject === stamp.subject;
  return isSame ? stampOf({ ...author, time: author.time + 1 }) : stamp;
}

function actOf({ kind, id, before, after }: Change): Omit<Entry<'audits'>, 'time' | 'subject'> {
  return {
    action: before === null ? 'create' : after === null ? 'delete' : 'update',
    resource: kind,
    resource_id: id,
    before: textOf(before),
    after: textOf(after),
  };
}

/** The `resource` of entries about accounts. */
export const USERS = 'users';

const AUDITS = 'audits';

function textOf(row: Row | null): string | null {
  return row && JSON.stringify(row);
}
