/**
 * A host that follows a primary: it asks for the primary's state once a second, takes over accounts
 * and keys, and applies the stream of change sets.
 *
 * Invariants:
 * 1. Nothing is applied before the primary has passed the checks of lineage.ts, and every change
 *    set has to follow the one before it, by its number and by its digest.
 * 2. At most two change sets are in memory: one that is being written, and the next one.
 * 3. Failures are retried with growing delays, and reads are served meanwhile.
 */
import type { CredentialFiles } from '../../auth/sharing/credential-files.ts';
import { Backoff } from '../../backoff.ts';
import { pause } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import type { HostState } from '../../http/services.ts';
import { decodeNextBeside } from '../../store/files/change-set-parts.ts';
import { currentEpoch, followerRecord, type HostRecord } from '../../store/hosts/host-record.ts';
import type { Store } from '../../store/store.ts';
import type { FollowingFigures } from '../../telemetry/host-metrics.ts';
import type { Confirmation } from './confirmation.ts';
import type { FollowingLog } from './following-log.ts';
import { divergent, requireFollowable } from './lineage.ts';
import { LineTooLong, linesOf } from './lines.ts';
import { HistoryGone, type Primary, StreamEnded } from './primary-client.ts';

/** Milliseconds between two requests for the state. */
const POLL_MS = 1000;

/**
 * Bytes of the largest change set that is applied; decoding takes up to nine times as much memory.
 * A base is taken in constant memory.
 */
const MAX_CHANGE_SET_BYTES = 64 * 1024 * 1024;

export interface FollowerOptions {
  readonly primary: Primary;
  readonly store: Pick<Store, 'sequence' | 'digest' | 'receive'>;
  /** The record of the directory, and how to replace it. */
  readonly role: {
    readonly record: HostRecord | null;
    replace(change: (record: HostRecord | null) => HostRecord): Promise<void>;
  };
  /** See `secretFingerprint`. */
  readonly secret: string | null;
  readonly confirmation: Confirmation;
  /** Replaces this host's files by those of the primary. */
  readonly replaceCredentials: (files: CredentialFiles) => Promise<void>;
  readonly log: FollowingLog;
  readonly pollMs?: number | undefined;
  readonly backoff?: Backoff | undefined;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #ended = new AbortController();
  readonly #backoff: Backoff;
  #running: Promise<void> | null = null;
  #polling: Promise<void> = Promise.resolve();
  /** The poll that has not begun yet, because another one is under way. */
  #nextPoll: Promise<void> | null = null;
  #connected = false;
  #hasBeenInStep = false;
  /** The last change set of the primary, and when the request for it was sent. */
  #target = { sequence: 0, sent: 0 };
  #inStepAt = performance.now();
  /** The digest of the files that were last taken from the primary. */
  #credentials: string | null = null;
  readonly #needsBase = Promise.withResolvers<void>();
  #hasGap = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#backoff = options.backoff ?? new Backoff();
  }

  /** Resolves when the next change set is not kept by the primary any more, or is too large. */
  get needsBase(): Promise<void> {
    return this.#needsBase.promise;
  }

  get figures(): FollowingFigures {
    this.#judgeStep();
    return {
      connected: this.#connected,
      behind: Math.max(this.#target.sequence - this.#options.store.sequence, 0),
      behindMs: performance.now() - this.#inStepAt,
    };
  }

  /** Why the host is not ready, in words for `/readyz`; null if it is. */
  readonly reason = (): string | null => {
    this.#judgeStep();
    if (!this.#options.confirmation.isCurrent) return 'the host is cut off from its primary';
    if (this.#hasGap) return 'the host is fetching a new base from its primary';
    return this.#hasBeenInStep ? null : 'the host is not in step with its primary yet';
  };

  /**
   * Asks the primary for its state once, and checks that this host may follow it. Does nothing
   * after {@link stop}. Calls while another one is under way share the next one.
   *
   * @throws CatalogError if this host may not follow it; Error if it does not answer.
   */
  poll(): Promise<void> {
    this.#nextPoll ??= this.#polling
      .catch(() => {})
      .then(() => {
        this.#nextPoll = null;
        return this.#poll();
      });
    this.#polling = this.#nextPoll;
    return this.#nextPoll;
  }

  /** Follows until {@link stop}. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops following. When this returns, nothing writes to the directory any more. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    await this.#polling.catch(() => {});
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    while (!this.#ended.signal.aborted) {
      try {
        await this.poll();
        await this.#followOnce();
        this.#connected = false;
      } catch (error) {
        this.#connected = false;
        if (this.#ended.signal.aborted) return;
        if (error instanceof HistoryGone) this.#leaveGap(error);
        else if (!(error instanceof StreamEnded)) log.trouble(`not following: ${messageOf(error)}`);
      }
      await pause(this.#backoff.delay(), this.#ended.signal);
    }
  }

  async #poll(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const { primary, store, role, secret, confirmation, replaceCredentials } = this.#options;
    const { record } = role;
    const at = { sequence: store.sequence, digest: store.digest };
    const sent = confirmation.now();
    const epoch = record && { history: record.history, number: record.latest };
    const state = await primary.state(epoch);
    requireFollowable({ record, at, secret }, state, primary.address);
    await this.#takeOver(state);
    if (state.credentials !== this.#credentials) {
      const { digest, files } = await primary.credentials();
      await replaceCredentials(files);
      this.#credentials = digest;
    }
    this.#judgeStep();
    confirmation.confirm(sent);
    this.#target = { sequence: state.sequence, sent: sent.monotonic };
    this.#judgeStep();
  }

  /** Records the epochs of the primary, and the hosts that it has to inform. */
  async #takeOver(state: HostState): Promise<void> {
    const { role, primary } = this.#options;
    const next = followerRecord(primary.address, state);
    if (role.record !== null && isSameRecord(role.record, next)) return;
    await role.replace((record) =>
      // It may have learned of a later epoch since the primary was judged.
      record?.history === next.history && record.latest > next.latest
        ? { ...next, latest: record.latest }
        : next,
    );
  }

  /** Applies change sets and polls the state, until one of the two ends. */
  async #followOnce(): Promise<void> {
    const over = new AbortController();
    const end = () => over.abort();
    this.#ended.signal.addEventListener('abort', end, { once: true });
    // The follower may have been stopped while it asked for the state.
    if (this.#ended.signal.aborted) end();
    try {
      const works = [this.#pollUntil(over.signal)];
      // With a gap there is nothing to apply until there is a new base.
      if (!this.#hasGap) works.unshift(this.#apply(over.signal));
      for (const work of works) work.then(end, end);
      const [first, ...others] = await Promise.allSettled(works);
      // When one ends, it ends the other, whose failure then does not count.
      for (const outcome of [first, ...others]) {
        if (outcome?.status === 'rejected' && !(outcome.reason instanceof StreamEnded))
          throw outcome.reason;
      }
    } finally {
      this.#ended.signal.removeEventListener('abort', end);
    }
  }

  async #apply(over: AbortSignal): Promise<void> {
    const { primary, store } = this.#options;
    let { sequence, digest } = store;
    let applied: Promise<void> = Promise.resolve();
    try {
      const lines = linesOf(primary.changes(sequence, over), MAX_CHANGE_SET_BYTES);
      for await (const bytes of lines) {
        if (bytes.length <= 1) {
          await applied;
          // A stream begins with an empty line; if change sets are missing, they may not fit.
          if (sequence >= this.#target.sequence) this.#connect();
          continue;
        }
        const from = `change set ${sequence + 1} of ${primary.address}`;
        const changeSet = await decodeNextBeside(from, bytes, sequence + 1, null);
        if (changeSet.previous !== digest) throw divergent(from);
        ({ sequence, digest } = changeSet);
        await applied;
        // Only now: while the disk refuses it, each attempt would report that the host follows.
        applied = store.receive({ changeSet, bytes }).then(() => this.#connect());
        // Failures are thrown where this is awaited: at the next line, or at the end.
        applied.catch(() => {});
      }
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      throw new HistoryGone(`change set ${sequence + 1} of ${primary.address} is too large`);
    } finally {
      await applied;
    }
  }

  async #pollUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await pause(this.#options.pollMs ?? POLL_MS, over);
      if (!over.aborted) await this.poll();
    }
  }

  #connect(): void {
    if (this.#connected) return;
    this.#connected = true;
    this.#backoff.reset();
    this.#options.log.following(this.#options.primary.address);
  }

  #leaveGap(error: HistoryGone): void {
    this.#hasGap = true;
    this.#backoff.reset();
    this.#options.log.trouble(
      `${error.message}; fetching a new base, and serving the old state meanwhile`,
    );
    this.#needsBase.resolve();
  }

  #judgeStep(): void {
    if (this.#target.sent === 0 || this.#options.store.sequence < this.#target.sequence) return;
    this.#hasBeenInStep = true;
    this.#inStepAt = Math.max(this.#inStepAt, this.#target.sent);
  }
}

function isSameRecord(one: HostRecord, other: HostRecord): boolean {
  return (
    one.role === other.role &&
    one.primary === other.primary &&
    currentEpoch(one).number === currentEpoch(other).number &&
    one.predecessors.join() === other.predecessors.join()
  );
}

/** Whether a failure means that this host may not follow the other one, so retries are useless. */
export function isRefusal(error: unknown): error is CatalogError {
  return (
    error instanceof CatalogError &&
    ['not_primary', 'history_differs', 'schema_version', 'key_file'].includes(error.code)
  );
}
