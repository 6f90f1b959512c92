/** What waits for the one writer: transactions, and what other hosts have made. */
import type { Job } from './group.ts';
import { Pace } from './pace.ts';

/** Something of another host that waits for its turn. */
export interface Foreign {
  /** Makes it part of this host. */
  readonly take: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

export function isForeign(job: Job | Foreign): job is Foreign {
  return 'take' in job;
}

export class WriteQueue {
  #jobs: (Job | Foreign)[] = [];
  readonly #pace = new Pace();

  get length(): number {
    return this.#jobs.length;
  }

  get first(): Job | Foreign | undefined {
    return this.#jobs[0];
  }

  push(job: Job | Foreign): void {
    this.#jobs.push(job);
  }

  /** Returns when a group of transactions may be formed; see {@link Pace}. */
  gather(): Promise<void> {
    return this.#pace.begin();
  }

  /** The transactions up to the next change set of another host. */
  *transactions(): Generator<Job> {
    for (const job of this.#jobs) {
      if (isForeign(job)) return;
      yield job;
    }
  }

  /** Removes the first ones, whose turn has come. */
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
