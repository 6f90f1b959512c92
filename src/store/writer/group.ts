/** A group of transactions: what runs together on one draft, and becomes one change set. */
import { inSlices } from '../../slices.ts';
import type { ChangeSetContent } from '../change-set.ts';
import type { State } from '../state.ts';
import { Draft } from './draft.ts';

/**
 * A group is closed when it reaches one of these limits: the number of its transactions, the
 * approximate length of its change set, or the run time. The rest waits for the next group.
 */
const MAX_GROUP = { transactions: 1024, characters: 1024 * 1024, milliseconds: 5 };

/** A minute: the clocks of hosts that write in turn differ by less, and so do most corrections. */
const MAX_CORRECTION_MS = 60_000;

/** A transaction that waits for its group. */
export interface Job {
  /** Runs the transaction; returns a promise of its result if it is `alone`. */
  readonly run: (draft: Draft) => unknown;
  /** Whether it is a group of its own, and run in slices. */
  readonly alone: boolean;
  /** When it was submitted, on the clock of `performance.now`. */
  readonly submitted: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Whether it runs again because the group that it ran in was refused. */
  readonly again?: true;
}

/** A group that has run on a draft, and waits for the log. */
export interface Group {
  readonly jobs: readonly Job[];
  readonly content: ChangeSetContent | null;
  /** At least about the length of the content as JSON. */
  readonly characters: number;
  /** What answers each transaction with the outcome of its run. */
  readonly answers: Map<Job, () => void>;
  /** Transactions that wrote to the draft. */
  readonly wrote: readonly Job[];
  /** Transactions that wrote nothing, or threw, but ran on what others had written. */
  readonly saw: readonly Job[];
}

/**
 * Runs transactions one after the other on one draft of the state, until the group is full.
 *
 * @param queue of at least one transaction.
 * @param writer see {@link ChangeSetContent.writer}.
 */
export async function runGroup(
  state: State,
  queue: Iterable<Job>,
  writer?: string,
): Promise<Group> {
  const draft = new Draft(state);
  const end = performance.now() + MAX_GROUP.milliseconds;
  const jobs: Job[] = [];
  const answers = new Map<Job, () => void>();
  const wrote: Job[] = [];
  const saw: Job[] = [];
  for (const job of queue) {
    if (job.alone && jobs.length > 0) break;
    // Otherwise N creations that exclude each other would run N times each if the disk refuses them:
    // every group fails the one that wrote, and the others run again.
    if (job.again && saw.length > wrote.length) break;
    jobs.push(job);
    try {
      const value = job.alone ? await job.run(draft) : job.run(draft);
      answers.set(job, () => job.resolve(value));
    } catch (error) {
      answers.set(job, () => job.reject(error));
    }
    if (draft.wrote) wrote.push(job);
    else if (wrote.length > 0) saw.push(job);
    if (job.alone || jobs.length === MAX_GROUP.transactions) break;
    if (draft.characters >= MAX_GROUP.characters || performance.now() >= end) break;
  }
  const content = await inSlices(draft.changeSet(timeAfter(state.time, Date.now()), writer));
  return { jobs, content, characters: draft.characters, answers, wrote, saw };
}

/**
 * Refuses a group that is not committed. Transactions that wrote fail. Those that only saw their
 * writes may not need the log, such as a repeated creation.
 *
 * @param refusal the error of those that fail.
 * @param mayRunAgain whether those that only saw the writes may run again; otherwise they fail too.
 * @returns the transactions that have to run again. {@link Group.answers} has none of those that
 *   fail or run again any more.
 */
export function refuse(
  { answers, wrote, saw }: Group,
  refusal: unknown,
  mayRunAgain: boolean,
): readonly Job[] {
  for (const job of mayRunAgain ? wrote : [...wrote, ...saw]) job.reject(refusal);
  for (const job of [...wrote, ...saw]) answers.delete(job);
  return mayRunAgain ? saw.map((job) => ({ ...job, again: true })) : [];
}

/**
 * When a change set is made. Times do not go back, because a restore to a time ends at the first
 * change set that is later. But a clock that is more than a minute behind was set, so it counts: if
 * it had been years ahead, all change sets of these years would have one time.
 *
 * @param last time of the change set before; null if that is not known.
 * @param now milliseconds since the epoch.
 * @returns ISO 8601, UTC, with milliseconds.
 */
export function timeAfter(last: string | null, now: number): string {
  const behind = last === null ? 0 : Date.parse(last) - now;
  return last !== null && behind > 0 && behind <= MAX_CORRECTION_MS
    ? last
    : new Date(now).toISOString();
}
