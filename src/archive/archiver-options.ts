/** What an archiver is given, and what it says of itself. */
import type { Store } from '../store/store.ts';
import type { ArchiveObjects } from './archive-objects.ts';
import type { ArchiveRecord } from './record.ts';

/** The store, as far as an archive reads it. */
type ArchivedStore = Pick<
  Store,
  'sequence' | 'digest' | 'oldest' | 'baseSequence' | 'snapshot' | 'encodedSince' | 'onCommit'
>;

/** The accounts and keys of a data directory. */
export interface PrivateFiles {
  /** Whether they are others than at the last read. */
  changed(): boolean;
  /** @throws what the file system throws. */
  read(): Uint8Array;
}

export interface ArchiverOptions {
  readonly store: ArchivedStore;
  readonly objects: ArchiveObjects;
  /** Null if they are not archived. */
  readonly privateFiles: PrivateFiles | null;
  readonly record: ArchiveRecord;
  /** Milliseconds that a restore can go back; null for all of it. */
  readonly keep: number | null;
  /** Called with what fails; the archive tries again. Once for each failure in a row of the same. */
  readonly onError: (error: unknown) => void;
  /** Called with what the operator should know. */
  readonly warn: (message: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds to the next attempt, by the number of failures in a row. */
  readonly retryDelay?: ((failures: number) => number) | undefined;
  /** Milliseconds that change sets are gathered for one object; 200 if left out. */
  readonly gatherMs?: number | undefined;
}

/** How far an archive is behind its store. */
export interface ArchiveFigures {
  /** Change sets that are not in the archive yet. */
  readonly changeSets: number;
  /** Since the oldest of them was made. */
  readonly seconds: number;
  /** Why the last attempt failed; null if it did not. */
  readonly failing: string | null;
}
