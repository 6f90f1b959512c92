/**
 * A log of change sets that several hosts share. Each host keeps the same change sets in its own
 * `Log` (log.ts); the shared one decides which change set has which number.
 *
 * Invariants that every change log keeps:
 * 1. A change set is accepted only directly after the head: `append` compares the digest of the
 *    head with `previous`, and moves the head in the same step. So a host that was paused or cut
 *    off, and does not know the head, cannot write.
 * 2. When `append` resolves with `appended`, the change set survives the loss of any minority of
 *    the log's nodes, and a power loss of all of them.
 * 3. A change set never changes.
 */
import type { EncodedChangeSet } from './change-set.ts';

/** A place in a history. */
export interface LogPosition {
  readonly sequence: number;
  /** The digest of that change set; before the first one, the value that names the history. */
  readonly digest: string;
}

/** What became of an append. */
export type Appended =
  /** The log has exactly this change set: it was appended now, or by an earlier call. */
  | 'appended'
  /** The log has another change set under the number, and will never accept this one. */
  | 'conflict';

export interface ChangeLog {
  /**
   * The last change set that the log has accepted.
   *
   * @throws what the network throws.
   */
  head(): Promise<LogPosition>;
  /**
   * Appends a change set if it follows the head. May be repeated with the same change set.
   *
   * @throws CatalogError `body_too_large` if the log will never accept this change set. Any other
   *   error means that the outcome is not known, and that the call has to be repeated.
   */
  append(encoded: EncodedChangeSet): Promise<Appended>;
  /**
   * The change sets after a sequence, in order, verbatim: as many as one step should process.
   *
   * @param after the sequence of the last one that the caller has.
   * @param most how many the caller can use; any number if left out.
   * @returns nothing if there are no more.
   * @throws CatalogError `history_gone` if they are not kept any more, `schema_version` if a newer
   *   program has written the next one, `store_damaged`; what the network throws.
   */
  read(after: number, most?: number): Promise<readonly Uint8Array[]>;
  /**
   * Calls `listener` soon after the head has moved, and repeatedly while it does not move.
   *
   * @param listener receives null if the head is not known.
   * @returns a function that ends the calls.
   */
  follow(listener: (head: LogPosition | null) => void): () => Promise<void>;
  /**
   * Removes change sets that no host needs.
   *
   * @param below the lowest sequence that is kept.
   * @throws what the network throws.
   */
  trim(below: number): Promise<void>;
}

/** The log that this host shares with others. */
export interface SharedLog {
  readonly log: ChangeLog;
  /** See `ChangeSetContent.writer`. */
  readonly writer: string;
  /** Milliseconds that a transaction waits for the log. */
  readonly timeoutMs: number;
}
