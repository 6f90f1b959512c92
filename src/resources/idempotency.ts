/**
 * Requests that clients may retry: the response to the first request is stored in the commit of
 * what it created, and returned again for a request with the same key (`Idempotency-Key`, after the
 * draft of the IETF's HTTPAPI group).
 */
import { hash } from 'node:crypto';
import { CatalogError } from '../errors.ts';
import { existingRow, type RowOf } from '../model/rows.ts';
import { append, expire } from '../store/bounded.ts';
import type { Transaction } from '../store/writer/draft.ts';
import type { View } from '../store/view.ts';

/** Milliseconds for which a key is valid. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Keys, and bytes of responses, that are kept at most. */
interface ShelfBound {
  readonly keys: number;
  readonly bytes: number;
}

/** For each subject: its keys never displace those of another subject. The newest always stays. */
const SUBJECT_BOUND: ShelfBound = { keys: 10_000, bytes: 8 * 1024 * 1024 };

/** For all requests without a token together, because any client can send them. */
const ANONYMOUS_BOUND: ShelfBound = { keys: 1_000, bytes: 2 * 1024 * 1024 };

/** Expired keys, of any subject, that a new key removes at most. */
const MAX_EXPIRED = 2;

/** A request that its client may retry. */
export interface Retry {
  /** Who sends it, so that keys of two clients never collide; null if no token is required. */
  readonly subject: string | null;
  /** As the client chose it. */
  readonly key: string;
  /** What the request asks for, as a JSON value. */
  readonly request: unknown;
}

/** Who sends a request that creates something. */
export interface Sender {
  /** Whom the token is for; null if no token is required. */
  readonly subject: string | null;
  /** `Idempotency-Key`, as the client chose it; null without one. */
  readonly key: string | null;
}

/** The response to a creation, or to a file that was received. */
export interface Created {
  /** Null for an array of objects. */
  readonly id: number | null;
  /** JSON text. */
  readonly text: string;
  /** Null for an array of objects. */
  readonly etag: string | null;
}

export interface Creation extends Created {
  /** Whether this is the response to an earlier request with the same key. */
  readonly replayed: boolean;
}

/**
 * Creates something, unless an earlier request with the same key has created it.
 *
 * @param request what it asks for, as a JSON value.
 * @param now milliseconds since the epoch.
 * @throws CatalogError `key_reused`; what `create` throws.
 */
export function* createOnce(
  transaction: Transaction,
  { subject, key }: Sender,
  request: unknown,
  now: number,
  create: () => Generator<undefined, Created>,
): Generator<undefined, Creation> {
  const retry: Retry | null = key === null ? null : { subject, key, request };
  const first = retry && recall(transaction, retry, now);
  if (first !== null) return { ...first, replayed: true };
  const created = yield* create();
  if (retry !== null) remember(transaction, retry, created, now);
  return { ...created, replayed: false };
}

/**
 * @param now milliseconds since the epoch.
 * @returns the response to the first request with the key; null if there was none in its lifetime.
 * @throws CatalogError `key_reused` if the first request was a different one.
 */
export function recall(view: View, retry: Retry, now: number): Created | null {
  const row = keptRow(view, retry, now);
  if (row === null) return null;
  if (row.digest !== digestOf(retry)) {
    throw new CatalogError(
      'key_reused',
      'the Idempotency-Key was used with another request; choose a new one',
    );
  }
  const { created, body, etag } = row;
  return { id: created, text: body, etag: etag === '' ? null : etag };
}

/** Whether the answer to a request with the key is stored, whatever it asked for. */
export function isKept(view: View, retry: Pick<Retry, 'subject' | 'key'>, now: number): boolean {
  return keptRow(view, retry, now) !== null;
}

type KeyRow = RowOf<typeof KEYS>;

function keptRow(view: View, retry: Pick<Retry, 'subject' | 'key'>, now: number): KeyRow | null {
  for (const id of view.matching(KEYS, 'key', nameOf(retry))) {
    const row = existingRow(view, KEYS, id);
    if (!isExpired(row, now)) return row;
  }
  return null;
}

/** Stores the response, and removes the subject's oldest ones that have expired or are too many. */
export function remember(
  transaction: Transaction,
  retry: Retry,
  { id: created, text, etag }: Created,
  now: number,
): void {
  expire(transaction, KEYS, (oldest) => isExpired(oldest, now), MAX_EXPIRED);
  const { keys, bytes: most } = retry.subject === null ? ANONYMOUS_BOUND : SUBJECT_BOUND;
  const values = { key: nameOf(retry), digest: digestOf(retry), time: now };
  const response = { shelf: shelfOf(retry), created, etag: etag ?? '', body: text };
  append(transaction, KEYS, { ...values, ...response }, (oldest, { rows, bytes }) => {
    return isExpired(oldest, now) || rows > keys || bytes > most;
  });
}

const KEYS = 'idempotency_keys';

function isExpired({ time }: KeyRow, now: number): boolean {
  return now - time >= KEY_LIFETIME_MS;
}

/** The shelf of requests without a subject is never that of a subject. */
function shelfOf({ subject }: Retry): string {
  return subject === null ? 'anonymous' : `subject ${subject}`;
}

function nameOf({ subject, key }: Pick<Retry, 'subject' | 'key'>): string {
  return JSON.stringify([subject, key]);
}

function digestOf({ request }: Retry): string {
  return hash('sha256', JSON.stringify(request), 'hex');
}
