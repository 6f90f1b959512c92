/**
 * The one writer: group, draft, log, state, answers, listeners.
 *
 * Invariants:
 * 1. At most one group is being committed. The next one is formed when that one is settled, so a
 *    transaction never sees a draft that can still fail, and a failed group fails its own members
 *    and nobody else.
 * 2. The log takes a change set first, then the state moves, then its transactions are answered,
 *    then the listeners are called. Readers see durable rows only.
 * 3. A transaction is answered after its group: everything that it saw of the group is durable then.
 * 4. A transaction has no effects beyond its draft, so that a group could be run again.
 * 5. A change set that another host has made enters through the same queue, never beside a draft.
 */
import type { Low } from 'lowdb';
import { CatalogError, endsWriting, messageOf } from '../../errors.ts';
import type { Change } from '../../model/change.ts';
import { inSlices } from '../../slices.ts';
import {
  type ChangeSet,
  type ChangeSetContent,
  charactersIn,
  type EncodedChangeSet,
  rowsIn,
} from '../change-set.ts';
import { encodeChangeSet, encodeInParts } from '../files/change-set.ts';
import { reasonOf } from '../files/files.ts';
import type { Log } from '../log.ts';
import type { StoreObserver } from '../observer.ts';
import type { State } from '../state.ts';
import type { Draft, LongTransaction, Transaction } from './draft.ts';
import { type Group, type Job, runGroup } from './group.ts';

/**
 * Change sets of more rows, or of about more characters, are encoded and planned in slices. A
 * millisecond encodes some 150,000 characters.
 */
const MAX_AT_ONCE = { rows: 500, characters: 512 * 1024 };

/** One commit, as listeners see it. */
export interface Commit {
  readonly changeSet: ChangeSet;
  /** The rows of the change set, before and after. */
  readonly changes: readonly Change[];
  /** The bytes of the change set as it is kept. */
  readonly bytes: number;
}

export type CommitListener = (commit: Commit) => void;

interface Callbacks {
  /** Called if a checkpoint fails. The store continues. */
  readonly onError: (error: unknown) => void;
  /** Called if memory or disk can no longer be known. The process has to end. */
  readonly onFatal: (error: unknown) => void;
  readonly observer?: StoreObserver | undefined;
}

/** What became of a group. */
interface Outcome {
  readonly transactions: number;
  readonly content: ChangeSetContent | null;
  /** When it was begun, on the clock of `performance.now`. */
  readonly begun: number;
  readonly refused: boolean;
}

/** A change set of another host that waits for its turn. */
interface Received {
  readonly received: EncodedChangeSet;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Committer {
  readonly #low: Low<State>;
  readonly #log: Log;
  readonly #callbacks: Callbacks;
  readonly #listeners: CommitListener[] = [];
  #queue: (Job | Received)[] = [];
  #running: Promise<void> | null = null;
  #checkpoint: Promise<void> | null = null;
  #closed = false;
  /** Why nothing more may be committed: only a new start knows what is on the disk. */
  #fatality: unknown = null;

  /** @param low the database over `log`, already read. */
  constructor(low: Low<State>, log: Log, callbacks: Callbacks) {
    this.#low = low;
    this.#log = log;
    this.#callbacks = callbacks;
  }

  /** Transactions that wait for a group. */
  get waiting(): number {
    return this.#queue.length;
  }

  /**
   * Runs a transaction. Transactions run in the order of the calls.
   *
   * @param run synchronous, and without effects beyond its draft.
   * @returns what `run` returned, once it is durable.
   * @throws what `run` throws; CatalogError `integrity`, `referred_to`, `write_refused`,
   *   `store_closed`. Nothing was changed in these cases.
   */
  submit<T>(run: (draft: Transaction) => T): Promise<T> {
    return this.#enqueue((draft) => draft.run(run), false);
  }

  /**
   * Runs a transaction that does much, in slices between which the event loop turns. It is a group
   * of its own: until it is committed no other transaction runs, and readers see the state before.
   *
   * @returns and throws as {@link Committer.submit}.
   */
  submitLong<T>(run: LongTransaction<T>): Promise<T> {
    return this.#enqueue((draft) => inSlices(draft.runInParts(run)), true);
  }

  #enqueue<T>(run: (draft: Draft) => T | Promise<T>, alone: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#wait({ run, alone, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /**
   * Commits a change set that another host has made, with the bytes that it has there.
   *
   * @returns once it is durable here and readers see it.
   * @throws CatalogError `history_differs` if it does not follow the last one, `write_refused`,
   *   `store_closed`. Nothing was changed in these cases.
   */
  receive(received: EncodedChangeSet): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#wait({ received, resolve, reject });
    });
  }

  #wait(job: Job | Received): void {
    if (this.#closed) {
      job.reject(new CatalogError('store_closed', 'the server is shutting down'));
      return;
    }
    this.#queue.push(job);
    this.#running ??= this.#drain();
  }

  /** Calls `listener` after every commit. A listener that throws does not affect the commit. */
  listen(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** Takes no more transactions, and waits for those it has and for a checkpoint under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#checkpoint;
  }

  /** Never rejects: nobody would see it, and later transactions would wait for ever. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const begun = performance.now();
      try {
        const [next] = this.#queue;
        if (next !== undefined && 'received' in next) {
          this.#queue = this.#queue.slice(1);
          await this.#commitReceived(next, begun);
        } else {
          const group = await runGroup(this.#low.data, transactionsOf(this.#queue));
          this.#queue = this.#queue.slice(group.jobs.length);
          await this.#commitGroup(group, begun);
        }
        if (!this.#low.data.settled) await inSlices(this.#low.data.settle());
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#running = null;
  }

  /** A defect: what has become of a group is not known. */
  #fail(cause: unknown): void {
    this.#end(new Error(`a commit could not be completed: ${messageOf(cause)}`, { cause }));
  }

  /** Rejects the queue and everything later: it would be written after what nobody knows. */
  #end(fatality: unknown): void {
    this.#fatality = fatality;
    this.#closed = true;
    for (const job of this.#queue) job.reject(fatality);
    this.#queue = [];
    this.#callbacks.onFatal(fatality);
  }

  async #commitGroup(group: Group, begun: number): Promise<void> {
    const { jobs, content, settle, dependent } = group;
    let refused = false;
    if (content !== null) {
      try {
        await this.#commit(content);
      } catch (error) {
        refused = true;
        const refusal = this.#refusal(error);
        // The first call decides a promise: `settle` has no effect on these jobs any more.
        for (const job of dependent) job.reject(refusal);
      }
    }
    for (const answer of settle) answer();
    this.#report({ transactions: jobs.length, content, begun, refused });
  }

  async #commitReceived({ received, resolve, reject }: Received, begun: number): Promise<void> {
    const { changeSet } = received;
    const { sequence, digest } = this.#low.data;
    if (changeSet.sequence !== sequence + 1 || changeSet.previous !== digest) {
      const what = `change set ${changeSet.sequence} does not follow ${sequence} of this store`;
      reject(new CatalogError('history_differs', `${what}: the stores have different histories`));
      return;
    }
    let refused = false;
    try {
      await this.#append(received);
      resolve();
    } catch (error) {
      refused = true;
      reject(this.#refusal(error));
    }
    this.#report({ transactions: 1, content: changeSet, begun, refused });
  }

  async #commit(content: ChangeSetContent): Promise<void> {
    const encoded = isLarge(content)
      ? await inSlices(encodeInParts(content))
      : encodeChangeSet(content);
    await this.#append(encoded);
  }

  async #append(encoded: EncodedChangeSet): Promise<void> {
    this.#checkpointIfDue();
    const { changeSet } = encoded;
    // The state does not move in between: one change set is committed at a time.
    const plan = isLarge(changeSet) ? await inSlices(this.#low.data.plan(changeSet)) : undefined;
    await this.#log.append(encoded);
    let changes: readonly Change[];
    try {
      changes = this.#low.data.apply(changeSet, plan);
    } catch (error) {
      this.#end(error);
      throw error;
    }
    for (const listener of this.#listeners) {
      // Answers are microtasks of this turn, so that they come first.
      setImmediate(() => listener({ changeSet, changes, bytes: encoded.bytes.length }));
    }
  }

  #report({ transactions, content, begun, refused }: Outcome): void {
    this.#callbacks.observer?.committed({
      transactions,
      changes: content === null ? 0 : rowsIn(content),
      milliseconds: performance.now() - begun,
      refused,
    });
  }

  /** The new base is as of the last commit. Commits go on while it is written. */
  #checkpointIfDue(): void {
    if (this.#checkpoint !== null || !this.#log.checkpointDue) return;
    this.#checkpoint = this.#low
      .write()
      .catch(this.#callbacks.onError)
      .finally(() => {
        this.#checkpoint = null;
      });
  }

  #refusal(cause: unknown): unknown {
    if (this.#fatality !== null) return this.#fatality;
    if (endsWriting(cause)) this.#end(cause);
    if (cause instanceof CatalogError) return cause;
    return new CatalogError(
      'write_refused',
      `the disk refused the write (${reasonOf(cause)}); nothing was changed`,
      { cause },
    );
  }
}

/** The transactions up to the next change set of another host. */
function* transactionsOf(queue: readonly (Job | Received)[]): Generator<Job> {
  for (const job of queue) {
    if ('received' in job) return;
    yield job;
  }
}

function isLarge(content: ChangeSetContent): boolean {
  return rowsIn(content) > MAX_AT_ONCE.rows || charactersIn(content) > MAX_AT_ONCE.characters;
}
