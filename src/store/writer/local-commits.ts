/** Commits a change set on this host: log, state, listeners, and a checkpoint if one is due. */
import type { Low } from 'lowdb';
import { CatalogError, endsWriting } from '../../errors.ts';
import type { Change } from '../../model/change.ts';
import { inSlices } from '../../slices.ts';
import {
  type ChangeSet,
  type ChangeSetContent,
  type EncodedChangeSet,
  rowsIn,
} from '../change-set.ts';
import { encodeChangeSet, encodeInParts } from '../files/change-set.ts';
import { reasonOf } from '../files/files.ts';
import type { Log } from '../log.ts';
import type { Reports } from '../observer.ts';
import type { State } from '../state.ts';

/**
 * Change sets with more rows, or approximately more characters, are encoded and planned in slices.
 * A millisecond encodes some 150,000 characters.
 */
const MAX_AT_ONCE = { rows: 1000, characters: 512 * 1024 };

/** One commit, as listeners see it. */
export interface Commit {
  readonly changeSet: ChangeSet;
  /** The rows of the change set, before and after. */
  readonly changes: readonly Change[];
  /** The size of the change set as it is stored. */
  readonly bytes: number;
}

export type CommitListener = (commit: Commit) => void;

type Callbacks = Pick<Reports, 'onError' | 'onFatal'>;

export class LocalCommits {
  readonly #low: Low<State>;
  readonly #log: Log;
  readonly #callbacks: Callbacks;
  readonly #listeners: CommitListener[] = [];
  #checkpoint: Promise<void> | null = null;

  /** @param low the database over `log`, already read. */
  constructor(low: Low<State>, log: Log, callbacks: Callbacks) {
    this.#low = low;
    this.#log = log;
    this.#callbacks = callbacks;
  }

  get state(): State {
    return this.#low.data;
  }

  /**
   * Calls `listener` after every commit. The commit stands if a listener throws, but the exception
   * is not caught.
   */
  listen(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** @throws CatalogError `history_differs` if a change set does not follow the last one. */
  requireNext(changeSet: ChangeSet): void {
    const { sequence, digest } = this.state;
    if (changeSet.sequence === sequence + 1 && changeSet.previous === digest) return;
    const what = `change set ${changeSet.sequence} does not follow ${sequence} of this store`;
    throw new CatalogError('history_differs', `${what}: the stores have different histories`);
  }

  /** Completes the work that the last commit deferred; answers need not wait for it. */
  async settle(): Promise<void> {
    if (!this.state.settled) await inSlices(this.state.settle());
  }

  /** Waits for a checkpoint under way. */
  async close(): Promise<void> {
    await this.#checkpoint;
  }

  /**
   * Makes the change set that follows the state durable, and then visible to readers. One call at a
   * time.
   *
   * @throws what {@link Log.append} and {@link State.apply} throw.
   */
  async commit(encoded: EncodedChangeSet): Promise<void> {
    await this.settle();
    this.#checkpointIfDue();
    const { changeSet, bytes } = encoded;
    // The state does not move in between: one change set is committed at a time.
    const plan = isLarge(changeSet, bytes.length)
      ? await inSlices(this.state.plan(changeSet))
      : undefined;
    await this.#log.append(encoded);
    let changes: readonly Change[];
    try {
      changes = this.state.apply(changeSet, plan);
    } catch (error) {
      this.#callbacks.onFatal(error);
      throw error;
    }
    for (const listener of this.#listeners) {
      // Answers are microtasks of this turn, so they are sent before the listeners run.
      setImmediate(() => listener({ changeSet, changes, bytes: bytes.length }));
    }
  }

  /** The new base is as of the last commit. Commits go on while it is written. */
  #checkpointIfDue(): void {
    if (this.#checkpoint !== null || !this.#log.checkpointDue) return;
    const { onError, onFatal } = this.#callbacks;
    this.#checkpoint = this.#low
      .write()
      .catch((error: unknown) => (endsWriting(error) ? onFatal : onError)(error))
      .finally(() => {
        this.#checkpoint = null;
      });
  }
}

/**
 * @param characters about how many the change set has as JSON, or more.
 * @returns the bytes of a change set; yields to the event loop while a large one is encoded.
 */
export async function encode(
  content: ChangeSetContent,
  characters: number,
): Promise<EncodedChangeSet> {
  return isLarge(content, characters) ? inSlices(encodeInParts(content)) : encodeChangeSet(content);
}

/** @param characters about how many the change set has as JSON. */
function isLarge(content: ChangeSetContent, characters: number): boolean {
  return characters > MAX_AT_ONCE.characters || rowsIn(content) > MAX_AT_ONCE.rows;
}

/** The error for a write of which nothing is on the disk. */
export function refusedByDisk(cause: unknown): CatalogError {
  const message = `the disk refused the write (${reasonOf(cause)}); nothing was changed`;
  return new CatalogError('write_refused', message, { cause });
}
