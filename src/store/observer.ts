/** What a store tells of its work while it works: for measurements, not for decisions. */
export interface StoreObserver {
  /** A group of transactions was settled, whether the disk took it or not. */
  readonly committed: (group: Group) => void;
  /** A checkpoint has ended. */
  readonly checkpointed: (checkpoint: Checkpoint) => void;
}

export interface Group {
  readonly transactions: number;
  /** Rows put or deleted; 0 where nothing had to be written. */
  readonly changes: number;
  readonly milliseconds: number;
  /** Whether the disk refused it. */
  readonly refused: boolean;
}

interface Checkpoint {
  readonly milliseconds: number;
  readonly failed: boolean;
}

/** The files of a store. */
export interface StoreSize {
  /** Bytes of the base. */
  readonly base: number;
  /** Bytes that the change sets behind it take. */
  readonly changes: number;
}
