/**
 * The one writer.
 *
 * Invariants:
 * 1. At most one group is on its way to the disk. The next is formed when that one is settled, so
 *    a transaction never sees a draft that can still fail, and a failed group takes nobody along
 *    but its own members.
 * 2. Disk first, memory second, answers third, listeners last. Readers of the tables see durable
 *    rows only.
 * 3. A transaction is settled after its group is: what it saw of the group is then durable.
 */
import type { Low } from 'lowdb';
import { CatalogError } from '../errors.ts';
import type { KindName } from '../model/kind.ts';
import type { ChangeSet } from './files/change-set.ts';
import type { StoreState } from './state.ts';
import { Draft, type Transaction } from './draft.ts';
import { reasonOf } from './files/files.ts';
import type { StoreObserver } from './observer.ts';
import type { Change } from '../model/change.ts';
import type { Tables } from './memory/tables.ts';

/** Transactions in one group at most; the rest waits for the next. */
const MAX_GROUP_SIZE = 1024;

export type CommitListener = (changes: readonly Change[]) => void;

interface Job {
  readonly run: (draft: Transaction) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class Committer {
  readonly #low: Low<StoreState>;
  readonly #tables: Tables;
  readonly #listeners: CommitListener[] = [];
  readonly #fatal: (error: unknown) => void;
  readonly #observer: StoreObserver | undefined;
  #queue: Job[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  /** @param fatal is called when memory or disk can no longer be known; the process has to end. */
  constructor(
    low: Low<StoreState>,
    tables: Tables,
    fatal: (error: unknown) => void,
    observer?: StoreObserver,
  ) {
    this.#low = low;
    this.#tables = tables;
    this.#fatal = fatal;
    this.#observer = observer;
  }

  /** Transactions that wait for a group. */
  get waiting(): number {
    return this.#queue.length;
  }

  /**
   * Runs a transaction in the order of the calls.
   *
   * @param run synchronous, and without effects beyond its draft.
   * @returns what `run` returned, once it is durable.
   * @throws what `run` throws; CatalogError `integrity`, `referred_to`, `write_refused`,
   *   `store_closed`. Nothing was changed then.
   */
  submit<T>(run: (draft: Transaction) => T): Promise<T> {
    if (this.#closed) {
      return Promise.reject(new CatalogError('store_closed', 'the server is shutting down'));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Calls `listener` after every commit; its failure does not reach the commit. */
  listen(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** Takes no more transactions, and waits for those that it has. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const jobs = this.#queue.slice(0, MAX_GROUP_SIZE);
      this.#queue = this.#queue.slice(MAX_GROUP_SIZE);
      await this.#commitGroup(jobs);
    }
    this.#running = null;
  }

  async #commitGroup(jobs: readonly Job[]): Promise<void> {
    const begun = performance.now();
    let refused = false;
    const draft = new Draft(this.#tables, this.#low.data.lastIds);
    const settle: (() => void)[] = [];
    const dependent: Job[] = [];
    for (const job of jobs) {
      const sawDraft = draft.dirty;
      try {
        const value = draft.run(job.run);
        settle.push(() => job.resolve(value));
        if (draft.dirty) dependent.push(job);
      } catch (error) {
        settle.push(() => job.reject(error));
        if (sawDraft) dependent.push(job);
      }
    }
    const changes = draft.changes();
    // Ids are spent even where the rows that had them are gone again within the group.
    if (changes.length > 0 || Object.keys(draft.lastIds()).length > 0) {
      try {
        await this.#persist(draft, changes);
      } catch (error) {
        refused = true;
        const refusal = this.#refusal(error);
        // Rejecting first decides those promises: what `settle` says of them then has no effect.
        for (const job of dependent) job.reject(refusal);
      }
    }
    for (const conclude of settle) conclude();
    this.#observer?.committed({
      transactions: jobs.length,
      changes: changes.length,
      milliseconds: performance.now() - begun,
      refused,
    });
  }

  async #persist(draft: Draft, changes: readonly Change[]): Promise<void> {
    const document = this.#low.data;
    const staged = changeSetOf(document, draft, changes);
    document.staged = staged;
    await this.#low.write();
    try {
      this.#tables.apply(changes);
    } catch (error) {
      this.#fatal(error);
      throw error;
    }
    Object.assign(document.lastIds, staged.last_ids);
    document.sequence = staged.sequence;
    document.time = staged.time;
    this.#notify(changes);
  }

  #notify(changes: readonly Change[]): void {
    for (const listener of this.#listeners) {
      // After the answers, which are microtasks of the same turn.
      setImmediate(() => listener(changes));
    }
  }

  #refusal(cause: unknown): unknown {
    if (cause instanceof CatalogError) {
      if (cause.code === 'durability_unknown') this.#fatal(cause);
      return cause;
    }
    return new CatalogError(
      'write_refused',
      `the disk refused the write (${reasonOf(cause)}); nothing was changed`,
      { cause },
    );
  }
}

function changeSetOf(document: StoreState, draft: Draft, changes: readonly Change[]): ChangeSet {
  const put: Partial<Record<KindName, NonNullable<Change['after']>[]>> = {};
  const deleted: Partial<Record<KindName, number[]>> = {};
  for (const { kind, id, after } of changes) {
    if (after === null) (deleted[kind] ??= []).push(id);
    else (put[kind] ??= []).push(after);
  }
  return {
    sequence: document.sequence + 1,
    previous: document.previous,
    time: new Date().toISOString(),
    last_ids: draft.lastIds(),
    put,
    delete: deleted,
  };
}
