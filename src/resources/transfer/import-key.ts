/** The `Idempotency-Key` of a request to import a file (spec 1.12, 12.6). */
import type { Hash } from 'node:crypto';
import { CatalogError } from '../../errors.ts';
import type { AuditedStore } from '../audit/audited-store.ts';
import { type Created, recall, remember, type Retry } from '../idempotency.ts';
import type { ImportOrder } from './importer.ts';

/** The response to a file that was received. */
export interface Accepted {
  /** Of the import. */
  readonly id: number;
  /** JSON text of the import, as it was when the file was there. */
  readonly text: string;
  /** Whether this is the response to an earlier request with the same key. */
  readonly replayed: boolean;
}

/** The response to be kept, or why the request has none of its own. */
export interface Answer extends Pick<Accepted, 'id' | 'text'> {
  readonly refusal: Error | null;
  /** Of the id. */
  readonly namespace: string;
}

/**
 * Keeps the response under the key.
 *
 * @param digest of the file.
 * @returns the response that was kept before; null if there was none, and this one is kept now.
 * @throws CatalogError `key_reused`, also if the id of the response is of another namespace;
 *   `write_refused`, `too_many_imports`; `write_unknown` and `durability_unknown` if it may be kept.
 */
export function firstWith(
  audited: Pick<AuditedStore, 'transact'>,
  key: string,
  { kind, subject, format, match, createMissing, dryRun }: ImportOrder,
  digest: string,
  { id, text, refusal, namespace }: Answer,
): Promise<Accepted | null> {
  const asked = [format, match, [...createMissing].toSorted(), dryRun, digest];
  const retry: Retry = { subject, key, request: ['imports', kind.name, ...asked] };
  return audited.transact(subject, false, function* (transaction, now) {
    yield;
    const first = recall(transaction, retry, now);
    if (first !== null) return replayOf(first, namespace);
    if (refusal !== null) throw refusal;
    // The response has no entity tag, so the namespace has its place.
    remember(transaction, retry, { id, text, etag: namespace }, now);
    return null;
  });
}

/** Passes the bytes of a file on, and hashes them. */
export async function* hashing(
  source: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of source) {
    hash.update(bytes);
    yield bytes;
  }
}

function replayOf({ id, text, etag }: Created, namespace: string): Accepted {
  if (id === null) throw new Error('the answer to an import names no import');
  // Earlier versions kept no namespace.
  if (etag !== null && etag !== namespace) {
    throw new CatalogError(
      'key_reused',
      'the file was received with this Idempotency-Key by another host, or before a restore, and its report is not here; find out which of its rows are written, and import the others with a new key',
    );
  }
  return { id, text, replayed: true };
}
