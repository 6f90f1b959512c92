/** The options of an archiver, and the status that it reports. */
import type { Store } from '../store/store.ts';
import type { ArchiveObjects } from './archive-objects.ts';
import type { ArchiveRecord } from './record.ts';

/** What an archive reads of the store. */
type ArchivedStore = Pick<
  Store,
  | 'sequence'
  | 'digest'
  | 'time'
  | 'oldest'
  | 'baseSequence'
  | 'snapshot'
  | 'encodedSince'
  | 'onCommit'
>;

/** The accounts and keys of a data directory. */
export interface PrivateFiles {
  /** Whether they have changed since the last read. */
  changed(): boolean;
  /** @throws CatalogError `access_file`, `key_file` if one is damaged; what the file system throws. */
  read(): Uint8Array;
}

export interface ArchiverOptions {
  readonly store: ArchivedStore;
  readonly objects: ArchiveObjects;
  /** Null if they are not archived. */
  readonly privateFiles: PrivateFiles | null;
  readonly record: ArchiveRecord;
  /** Milliseconds that a restore can go back; null for no limit. */
  readonly keep: number | null;
  /** Called with failures, once for equal ones in a row. The archive retries. */
  readonly onError: (error: unknown) => void;
  /** Called with what the operator should know. */
  readonly warn: (message: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds to the next attempt, by the number of failures in a row and the last of them. */
  readonly retryDelay?: ((failures: number, error: unknown) => number) | undefined;
  /** Milliseconds that change sets are gathered for one object; 200 if left out. */
  readonly gatherMs?: number | undefined;
}

/** How far an archive is behind its store, and whether that is because of a failure. */
export interface ArchiveStatus {
  /** Change sets that are not in the archive yet. */
  readonly changeSets: number;
  /**
   * Seconds since the oldest of them was made, or since a change of accounts or keys was found that
   * is not in the archive yet; 0 if there is neither.
   */
  readonly seconds: number;
  /** Why the last attempt failed; null if it did not. */
  readonly failing: string | null;
}
