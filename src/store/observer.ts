/** Where a store reports its work and its failures. */
export interface Reports {
  /** Called with failures in the background. The store continues. */
  readonly onError: (error: unknown) => void;
  /** Called if the content of memory or disk is no longer known. The process has to end. */
  readonly onFatal: (error: unknown) => void;
  readonly observer?: StoreObserver | undefined;
}

/** What a store reports about its work, for measurements. */
export interface StoreObserver {
  /** The disk has begun to write a change set. @param writing settles when it has ended. */
  readonly appending: (writing: Promise<unknown>) => void;
  /** A group of transactions was answered, committed or refused. */
  readonly committed: (group: GroupReport) => void;
  /** A checkpoint has ended. */
  readonly checkpointed: (checkpoint: Checkpoint) => void;
}

export interface GroupReport {
  readonly transactions: number;
  /** Rows put or deleted; 0 if nothing had to be written. */
  readonly changes: number;
  readonly milliseconds: number;
  /**
   * What refused the write; null if nothing did. A change set that the log of several hosts has is
   * written until the disk accepts it.
   */
  readonly refused: 'disk' | 'log' | null;
}

interface Checkpoint {
  readonly milliseconds: number;
  readonly failed: boolean;
}

/** The size of a store's files, in bytes. */
export interface StoreSize {
  /** Of the base. */
  readonly base: number;
  /** Of the change sets after the base, as they occupy the disk. */
  readonly changes: number;
}
