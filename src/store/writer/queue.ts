/** The queue of the single writer: transactions, and change sets of other hosts. */
import { CatalogError, messageOf } from '../../errors.ts';
import type { Job } from './group.ts';
import { GroupCommitDelay } from './group-commit-delay.ts';

/** Change sets of other hosts that wait for their turn. */
export interface Foreign {
  /** Applies them to this host. */
  readonly take: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** False for a transaction of this process. */
export function isForeign(job: Job | Foreign): job is Foreign {
  return 'take' in job;
}

/**
 * The error for a job that no queue takes any more.
 *
 * @param fatality why nothing more may be committed, which a command shows to its user; null if the
 *   store is closed.
 */
export function tooLate(fatality: unknown): CatalogError {
  const message =
    fatality === null
      ? 'the server is shutting down'
      : `the store takes no more writes: ${messageOf(fatality)}`;
  return new CatalogError('store_closed', message, { cause: fatality });
}

export class WriteQueue {
  #jobs: (Job | Foreign)[] = [];
  readonly #delay = new GroupCommitDelay();

  get length(): number {
    return this.#jobs.length;
  }

  get first(): Job | Foreign | undefined {
    return this.#jobs[0];
  }

  push(job: Job | Foreign): void {
    this.#jobs.push(job);
  }

  /**
   * Resolves when a group of transactions may be formed; see {@link GroupCommitDelay}. Transactions
   * that run again after a refusal have waited already.
   */
  async gather(): Promise<void> {
    const { first } = this;
    if (first === undefined || isForeign(first) || !first.again) await this.#delay.wait();
  }

  /** The transactions up to the next change set of another host. */
  *transactions(): Generator<Job> {
    for (const job of this.#jobs) {
      if (isForeign(job)) return;
      yield job;
    }
  }

  /** Removes jobs from the front, whose turn has come. */
  remove(count: number): void {
    this.#jobs = this.#jobs.slice(count);
  }

  /** Puts transactions before all others. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs = [...jobs, ...this.#jobs];
  }

  rejectTransactions(error: unknown): void {
    for (const job of this.#jobs) if (!isForeign(job)) job.reject(error);
    this.#jobs = this.#jobs.filter(isForeign);
  }

  rejectAll(error: unknown): void {
    for (const job of this.#jobs) job.reject(error);
    this.#jobs = [];
  }
}
