/**
 * The log that stores change sets: the files of one directory, or a list in tests.
 *
 * Invariants that every log keeps:
 * 1. A change set is in the log whole or not at all, and never changes.
 * 2. When `append` resolves, the change set survives a crash of the process and of the machine.
 *    When it rejects, the change set is not in the log and never will be; the one exception is the
 *    CatalogError `durability_unknown`. After that and after `second_writer` the process has to end.
 * 3. The state that `open` returns is the fold of {@link State.apply} over all change sets.
 */
import type { EncodedChangeSet } from './change-set.ts';
import type { StoreSize } from './observer.ts';
import type { State } from './state.ts';

export interface Log {
  /**
   * Reads the state as of the last change set. Called once, before everything else.
   *
   * @returns null if there is no store yet.
   * @throws CatalogError `store_damaged`, `store_unreadable`, `schema_version`.
   */
  open(): Promise<State | null>;
  /**
   * Appends the change set that follows the last one. One call at a time.
   *
   * @throws what the disk throws; CatalogError `durability_unknown`, `second_writer`.
   */
  append(encoded: EncodedChangeSet): Promise<void>;
  /**
   * The change sets after a sequence, in order, up to the last one at the time of the call.
   *
   * @throws CatalogError `history_gone` if some of them are not kept any more, or if the sequence
   *   is beyond the last one; `store_damaged`, `store_unreadable`.
   */
  since(sequence: number): AsyncIterable<EncodedChangeSet>;
  /** Whether so much has been appended that the state should be written as a new base. */
  readonly checkpointDue: boolean;
  /**
   * Writes the state as of the call as the base from which `open` starts; creates the store if
   * there is none. One call at a time; change sets may be appended meanwhile.
   *
   * @throws what the disk throws, in which case the old base stays; CatalogError
   *   `durability_unknown`.
   */
  checkpoint(state: State): Promise<void>;
  /** Releases what the log holds open. */
  close(): Promise<void>;
}

/** A log with the figures that a store reports. */
export interface StoreLog extends Log {
  readonly size: StoreSize;
  /** The sequence of the base: of the last checkpoint, or of the creation. */
  readonly baseSequence: number;
  /**
   * Copies what the state that `open` returned still shares with a file that it has mapped.
   *
   * @returns the steps, which throw as `MappedFile.copy` (src/disk/system/mapped-file.ts); null if
   *   there is nothing to copy.
   */
  copyBase(): Generator<void, void> | null;
  /** The lowest sequence after which {@link Log.since} gives the changes. */
  readonly oldest: number;
}
