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
 */
import type { Low } from 'lowdb';
import { CatalogError, endsWriting, messageOf } from '../errors.ts';
import type { Change } from '../model/change.ts';
import { type ChangeSet, type ChangeSetContent, charactersOf } from './change-set.ts';
import { inSlices } from '../slices.ts';
import { Draft, type LongTransaction, type Transaction } from './draft.ts';
import { encodeChangeSet, encodeInParts } from './files/change-set.ts';
import { reasonOf } from './files/files.ts';
import type { Log } from './log.ts';
import type { StoreObserver } from './observer.ts';
import type { State } from './state.ts';

/**
 * A group is closed when it has so many transactions, when its change set has about so many
 * characters, or when its transactions have run for so long. The rest waits for the next group.
 */
const MAX_GROUP = { transactions: 1024, characters: 1024 * 1024, milliseconds: 5 };

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

interface Job {
  /** Runs the transaction; gives a promise of its result if it is `alone`. */
  readonly run: (draft: Draft) => unknown;
  /** Whether it is a group of its own, and run in slices. */
  readonly alone: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A group that has run on a draft, and waits for the log. */
interface Group {
  readonly jobs: readonly Job[];
  readonly content: ChangeSetContent | null;
  /** Answers every transaction as its run ended. */
  readonly settle: readonly (() => void)[];
  /** Transactions that wrote to the draft or saw what others wrote. They fail with the group. */
  readonly dependent: readonly Job[];
}

interface Callbacks {
  /** Called if a checkpoint fails. The store continues. */
  readonly onError: (error: unknown) => void;
  /** Called if memory or disk can no longer be known. The process has to end. */
  readonly onFatal: (error: unknown) => void;
  readonly observer?: StoreObserver | undefined;
}

export class Committer {
  readonly #low: Low<State>;
  readonly #log: Log;
  readonly #callbacks: Callbacks;
  readonly #listeners: CommitListener[] = [];
  #queue: Job[] = [];
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
    if (this.#closed) {
      return Promise.reject(new CatalogError('store_closed', 'the server is shutting down'));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, alone, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
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
        const group = await runGroup(this.#low.data, this.#queue);
        this.#queue = this.#queue.slice(group.jobs.length);
        await this.#commitGroup(group, begun);
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
    this.#callbacks.observer?.committed({
      transactions: jobs.length,
      changes: content === null ? 0 : rowsIn(content),
      milliseconds: performance.now() - begun,
      refused,
    });
  }

  async #commit(content: ChangeSetContent): Promise<void> {
    this.#checkpointIfDue();
    // The state does not move in between: one group is committed at a time.
    const isLarge =
      rowsIn(content) > MAX_AT_ONCE.rows || charactersIn(content) > MAX_AT_ONCE.characters;
    const encoded = isLarge ? await inSlices(encodeInParts(content)) : encodeChangeSet(content);
    const plan = isLarge ? await inSlices(this.#low.data.plan(content)) : undefined;
    await this.#log.append(encoded);
    const { changeSet } = encoded;
    const bytes = encoded.bytes.length;
    let changes: readonly Change[];
    try {
      changes = this.#low.data.apply(changeSet, plan);
    } catch (error) {
      this.#end(error);
      throw error;
    }
    for (const listener of this.#listeners) {
      // Answers are microtasks of this turn, so that they come first.
      setImmediate(() => listener({ changeSet, changes, bytes }));
    }
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

/** Runs transactions one after the other on one draft of the state, until the group is full. */
async function runGroup(state: State, queue: readonly Job[]): Promise<Group> {
  const draft = new Draft(state);
  const end = performance.now() + MAX_GROUP.milliseconds;
  const jobs: Job[] = [];
  const settle: (() => void)[] = [];
  const dependent: Job[] = [];
  for (const job of queue) {
    if (job.alone && jobs.length > 0) break;
    jobs.push(job);
    const sawDraft = draft.dirty;
    try {
      const value = job.alone ? await job.run(draft) : job.run(draft);
      settle.push(() => job.resolve(value));
      if (draft.dirty) dependent.push(job);
    } catch (error) {
      settle.push(() => job.reject(error));
      if (sawDraft) dependent.push(job);
    }
    if (job.alone || jobs.length === MAX_GROUP.transactions) break;
    if (draft.characters >= MAX_GROUP.characters || performance.now() >= end) break;
  }
  const content = await inSlices(draft.changeSetInParts(new Date().toISOString()));
  return { jobs, content, settle, dependent };
}

/** About how many characters the rows of a change set have as JSON. */
function charactersIn({ put, before = {} }: ChangeSetContent): number {
  const lists = [...Object.values(put), ...Object.values(before)];
  return lists.reduce(
    (sum, rows) => rows.reduce((characters, row) => characters + charactersOf(row), sum),
    0,
  );
}

function rowsIn({ put, delete: deleted }: ChangeSetContent): number {
  const lists = [...Object.values(put), ...Object.values(deleted)];
  return lists.reduce((sum, { length }) => sum + length, 0);
}
