/**
 * The single writer: each group passes through draft, log, state, answers and listeners.
 *
 * Invariants:
 * 1. At most one group is being committed, and the next one is formed when it is settled. So a
 *    transaction sees no draft that can still fail, and a failed group fails only its own members.
 * 2. The log stores a change set first, then the state moves, then its transactions are answered,
 *    then the listeners are called. Readers see durable rows only.
 * 3. A transaction is answered after its group, when everything that it saw of it is durable.
 * 4. A transaction has no effects beyond its draft, so it may run again: if hosts share a log and
 *    another one wrote first, after its change sets are applied; if its group fails, see {@link refuse}.
 * 5. A change set of another host is applied through the same queue, never while a draft is in use.
 * 6. A transaction whose change set may be in the shared log is never refused: it is answered when
 *    the outcome is known, or with `write_unknown` after {@link SharedLog.timeoutMs}.
 */
import type { Low } from 'lowdb';
import { CatalogError, endsWriting, messageOf } from '../../errors.ts';
import { inSlices } from '../../slices.ts';
import type { Appended, SharedLog } from '../change-log.ts';
import { type ChangeSetContent, type EncodedChangeSet, rowsIn } from '../change-set.ts';
import type { Log } from '../log.ts';
import type { GroupReport, Reports } from '../observer.ts';
import type { State } from '../state.ts';
import { CatchUps } from './catch-ups.ts';
import type { Draft, LongTransaction, Transaction } from './draft.ts';
import { type Group, type Job, refuse, runGroup } from './group.ts';
import { type Foreign, isForeign, tooLate, WriteQueue } from './queue.ts';
import { type CommitListener, encode, LocalCommits, refusedByDisk } from './local-commits.ts';
import { isEndOfLog, SharedCommits, unavailable, unknownOutcome } from './shared-commits.ts';

export interface CommitterOptions extends Reports {
  /** The log that this host shares with others; without it, this host commits on its own. */
  readonly shared?: SharedLog | undefined;
}

/** What became of a group. */
interface Outcome {
  readonly transactions: number;
  readonly content: ChangeSetContent | null;
  readonly begun: number;
  readonly refused: GroupReport['refused'];
}

export class Committer {
  readonly #local: LocalCommits;
  readonly #shared: SharedCommits | null;
  readonly #options: CommitterOptions;
  readonly #queue = new WriteQueue();
  readonly #catchUps = new CatchUps((job) => this.#wait(job), this.#catchUp.bind(this));
  #running: Promise<void> | null = null;
  #closed = false;
  /** Why nothing more may be committed: only a new start can find out what is on the disk. */
  #fatality: unknown = null;
  /** Why no transaction is accepted: the shared log does not answer, or cannot be read further. */
  #unavailable: CatalogError | null = null;

  /** @param low the database over `log`, already read. */
  constructor(low: Low<State>, log: Log, options: CommitterOptions) {
    const { onError, shared } = options;
    this.#local = new LocalCommits(low, log, { onError, onFatal: (error) => this.#end(error) });
    this.#shared = shared ? new SharedCommits(shared.log, this.#local, onError) : null;
    this.#options = options;
  }

  /** Transactions that wait for a group. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Whether transactions are refused because of the shared log. */
  get isLogUnavailable(): boolean {
    return this.#unavailable !== null;
  }

  /**
   * Runs a transaction. Transactions run in the order of the calls.
   *
   * @param run synchronous, and without effects beyond its draft: it may run more than once.
   * @returns what `run` returned, once it is durable.
   * @throws what `run` throws; CatalogError `integrity`, `referred_to`, `write_refused`,
   *   `store_closed`, `log_unavailable`. Nothing was changed in these cases. CatalogError
   *   `write_unknown` if the shared log may have taken it.
   */
  submit<T>(run: (draft: Transaction) => T): Promise<T> {
    return this.#enqueue((draft) => draft.run(run), false);
  }

  /**
   * Runs a large transaction in slices. It is a group of its own: no other transaction runs until
   * it is committed. See {@link Committer.submit}.
   */
  submitLong<T>(run: LongTransaction<T>): Promise<T> {
    return this.#enqueue((draft) => inSlices(draft.runInParts(run)), true);
  }

  #enqueue<T>(run: (draft: Draft) => T | Promise<T>, alone: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const submitted = performance.now();
      const job = { run, alone, submitted, resolve: resolve as (value: unknown) => void, reject };
      if (this.#unavailable === null) this.#wait(job);
      else reject(this.#unavailable);
    });
  }

  /**
   * Commits a change set that another host has made, with the same bytes.
   *
   * @returns once it is durable here and readers see it.
   * @throws CatalogError `history_differs` if it does not follow the last one, `write_refused`,
   *   `store_closed`. Nothing was changed in these cases.
   */
  receive(received: EncodedChangeSet): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#wait({ take: () => this.#receive(received).then(resolve), reject });
    });
  }

  /**
   * Applies the change sets that other hosts have appended to the shared log.
   *
   * @param target a sequence that the log is known to have; nothing is read if it is here already.
   * @throws CatalogError `log_unavailable` if this host cannot follow the log, `store_closed`.
   */
  catchUp(target: number): Promise<void> {
    return this.#catchUps.join(target);
  }

  #wait(job: Job | Foreign): void {
    if (this.#closed) {
      job.reject(tooLate(this.#fatality));
      return;
    }
    this.#queue.push(job);
    this.#running ??= this.#drain();
  }

  /** Calls `listener` after every commit. A listener that throws does not affect the commit. */
  listen(listener: CommitListener): void {
    this.#local.listen(listener);
  }

  /** Accepts no more transactions, and waits for queued ones and for a checkpoint under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#shared?.close();
    await this.#running;
    await this.#local.close();
  }

  /**
   * Never rejects: no caller would see it, and later transactions would wait forever. Every
   * iteration awaits something, so that this cannot end before the caller has stored the promise.
   */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      try {
        const next = this.#queue.first;
        if (next !== undefined && isForeign(next)) {
          this.#queue.remove(1);
          await next.take().catch((error: unknown) => next.reject(this.#refusal(error)));
        } else {
          await this.#queue.gather();
          const begun = performance.now();
          const writer = this.#options.shared?.writer;
          const group = await runGroup(this.#local.state, this.#queue.transactions(), writer);
          this.#queue.remove(group.jobs.length);
          // A checkpoint that failed meanwhile has rejected the group with the rest of the queue.
          if (this.#fatality === null) await this.#commitGroup(group, begun);
        }
        await this.#local.settle();
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#running = null;
  }

  /** Handles a defect after which the outcome of a group is not known. */
  #fail(cause: unknown): void {
    this.#end(new Error(`a commit could not be completed: ${messageOf(cause)}`, { cause }));
  }

  /** Rejects the queue and everything later, which would be written on top of an unknown state. */
  #end(fatality: unknown): void {
    this.#fatality = fatality;
    this.#closed = true;
    this.#queue.rejectAll(tooLate(fatality));
    this.#options.onFatal(fatality);
  }

  async #commitGroup(group: Group, begun: number): Promise<void> {
    const { jobs, content, characters, answers } = group;
    let refused: Outcome['refused'] = null;
    if (content !== null) {
      try {
        const change = await encode(content, characters);
        if (this.#shared === null) await this.#local.commit(change);
        else if ((await this.#append(this.#shared, change, group)) === 'conflict') {
          this.#runAgain(jobs);
          return;
        }
      } catch (error) {
        refused = this.#shared === null ? 'disk' : 'log';
        const refusal = this.#refusal(error);
        const mayRunAgain = this.#shared === null && this.#fatality === null;
        this.#queue.putBack(refuse(group, refusal, mayRunAgain));
      }
    }
    for (const answer of answers.values()) answer();
    this.#report({ transactions: jobs.length, content, begun, refused });
  }

  /** @returns `conflict` once the change sets of the other hosts are applied. */
  #append(shared: SharedCommits, change: EncodedChangeSet, group: Group): Promise<Appended> {
    return this.#withTimeout(shared, group, async () => {
      const appended = await shared.append(change);
      if (appended === 'conflict') await shared.catchUp();
      return appended;
    });
  }

  /** Transactions past their deadline do not run again: they were answered, or are rejected now. */
  #runAgain(jobs: readonly Job[]): void {
    const oldest = performance.now() - (this.#options.shared?.timeoutMs ?? 0);
    const late = jobs.filter(({ submitted }) => submitted < oldest);
    for (const job of late) job.reject(unavailable('other hosts wrote first at every attempt'));
    this.#queue.putBack(jobs.filter(({ submitted }) => submitted >= oldest));
  }

  async #receive(received: EncodedChangeSet): Promise<void> {
    const begun = performance.now();
    this.#local.requireNext(received.changeSet);
    let refused: Outcome['refused'] = 'disk';
    try {
      await this.#local.commit(received);
      refused = null;
    } finally {
      this.#report({ transactions: 1, content: received.changeSet, begun, refused });
    }
  }

  async #catchUp(target: number): Promise<void> {
    const shared = this.#shared;
    if (shared === null || this.#local.state.sequence >= target) return;
    await this.#withTimeout(shared, null, () => shared.catchUp());
  }

  /**
   * Runs an operation on the shared log. After the timeout, the transactions that wait for it are
   * answered, and no transaction is accepted until it has ended.
   */
  async #withTimeout<T>(
    shared: SharedCommits,
    group: Group | null,
    run: () => Promise<T>,
  ): Promise<T> {
    const timer = setTimeout(() => this.#stall(shared, group), this.#options.shared?.timeoutMs);
    try {
      const result = await run();
      this.#unavailable = null;
      return result;
    } catch (error) {
      // This host cannot apply the next change set, and so none after it.
      if (isEndOfLog(error)) throw (this.#unavailable = unavailable(messageOf(error), error));
      this.#unavailable = null;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #stall(shared: SharedCommits, group: Group | null): void {
    this.#unavailable = unavailable(shared.obstacle(group === null));
    if (group !== null) refuse(group, unknownOutcome(shared.obstacle(false)), false);
    for (const answer of group?.answers.values() ?? []) answer();
    this.#queue.rejectTransactions(this.#unavailable);
  }

  #report({ transactions, content, begun, refused }: Outcome): void {
    this.#options.observer?.committed({
      transactions,
      changes: content === null ? 0 : rowsIn(content),
      milliseconds: performance.now() - begun,
      refused,
    });
  }

  #refusal(cause: unknown): unknown {
    if (this.#fatality !== null) return this.#fatality;
    if (endsWriting(cause)) this.#end(cause);
    if (cause instanceof CatalogError) return cause;
    // The shared log has the change set: only a new start can make this host agree with it.
    if (this.#shared !== null) this.#fail(cause);
    return this.#fatality ?? refusedByDisk(cause);
  }
}
