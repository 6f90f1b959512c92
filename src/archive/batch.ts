/** The change sets of one upload. */
import { CatalogError } from '../errors.ts';
import type { LogPosition } from '../store/change-log.ts';
import type { Store } from '../store/store.ts';
import { MAX_CHANGE_SETS } from './archive-objects.ts';
import type { ArchivedChanges } from './names.ts';

/** Bytes from which on an object takes no further change set. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface Batch extends Omit<ArchivedChanges, 'name'> {
  /** When the first of them was made, ISO 8601, UTC. */
  readonly begun: string;
  /** The change sets as the store keeps them: a line each. */
  readonly lines: readonly Uint8Array[];
}

/**
 * @param store with change sets after the position.
 * @param limit of change sets.
 * @throws CatalogError `archive_refused` if the change set at the position is another in the store;
 *   `history_gone`, `store_damaged`, `store_unreadable`.
 */
export async function readBatch(
  store: Pick<Store, 'encodedSince'>,
  position: LogPosition,
  limit = MAX_CHANGE_SETS,
): Promise<Batch> {
  const lines: Uint8Array[] = [];
  let size = 0;
  let [first, last] = [0, 0];
  let [begun, time, digest] = ['', '', ''];
  for await (const { changeSet, bytes } of store.encodedSince(position.sequence)) {
    if (lines.length === 0) {
      if (changeSet.previous !== position.digest) throw anotherHistory(position);
      [first, begun] = [changeSet.sequence, changeSet.time];
    }
    ({ sequence: last, time, digest } = changeSet);
    lines.push(bytes);
    size += bytes.length;
    if (lines.length >= limit || size >= MAX_BYTES) break;
  }
  if (lines.length === 0) throw new Error(`there is no change set after ${position.sequence}`);
  return { first, last, begun, time, digest, lines };
}

/** @returns the error for an archive of another history. */
export function anotherHistory({ sequence }: LogPosition): CatalogError {
  return new CatalogError(
    'archive_refused',
    `the archive has another history: its change set ${sequence} differs from that of this store; name an empty prefix or directory with --archive`,
  );
}
