/** Keeps a host in sync with the shared log, and says whether it is. */
import { CatalogError, hasCode, messageOf } from '../../errors.ts';
import type { ChangeLog, LogPosition } from '../../store/change-log.ts';
import type { Store } from '../../store/store.ts';

/** Milliseconds without a response of the log after which it counts as unreachable. */
const UNREACHABLE_AFTER_MS = 5000;

/** Milliseconds without progress after which a host that is behind counts as stopped. */
const STOPPED_AFTER_MS = 10_000;

/** Whether a host has what the shared log has, and if not, why. */
export type ReplicationState =
  | 'in sync'
  /** The host applies what it lacks, after its start or after an interruption. */
  | 'catching up'
  /** A majority of the log's nodes does not answer. */
  | 'unreachable'
  /** The log answers, but has not accepted a write of this host in time, as if it were full. */
  | 'refusing'
  /** The host cannot take the log's next change set. */
  | 'stopped';

interface Options {
  readonly log: Pick<ChangeLog, 'follow'>;
  readonly store: Pick<Store, 'sequence' | 'digest' | 'catchUp' | 'isLogUnavailable'>;
  /** Called at the start, and whenever the state changes. */
  readonly onReplicationState: (state: ReplicationState) => void;
  /** Called with the first of several failures in a row. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

export class LogFollower {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #end: () => Promise<void>;
  #head: LogPosition | null = null;
  /** When the log answered last, by the clock. */
  #lastResponseAt: number;
  /** The last change set that this host was seen to have, and since when, by the clock. */
  #progress: { readonly sequence: number; readonly since: number };
  /** The last change set that this host had when the log answered before. */
  #had = 0;
  /** Whether the log may have lost change sets, as after etcd was restored from a snapshot. */
  #isInDoubt = false;
  #failure: string | null = null;
  #state: ReplicationState = 'catching up';
  #isCatchingUp = false;
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? performance.now.bind(performance);
    this.#lastResponseAt = this.#now();
    this.#progress = { sequence: options.store.sequence, since: this.#lastResponseAt };
    options.onReplicationState('catching up');
    this.#end = options.log.follow((head) => this.#onHead(head));
  }

  get state(): ReplicationState {
    return this.#state;
  }

  /** Change sets that the log has and this host lacks, as far as it knows. */
  get behind(): number {
    return Math.max(0, (this.#head?.sequence ?? 0) - this.#options.store.sequence);
  }

  /** Seconds since the log answered last. */
  get silence(): number {
    return (this.#now() - this.#lastResponseAt) / 1000;
  }

  /** Does not wait for a catch-up: if the disk or the log fails, that ends only with the store. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  #onHead(head: LogPosition | null): void {
    if (head !== null) {
      const wasUnreachable = this.#now() - this.#lastResponseAt > UNREACHABLE_AFTER_MS;
      this.#lastResponseAt = this.#now();
      if (wasUnreachable) this.#restartProgress();
      // A read may be answered after the watch has reported a later head.
      if (head.sequence >= (this.#head?.sequence ?? 0)) this.#head = head;
      this.#compare(head);
    }
    this.#catchUp();
    this.#updateState();
  }

  /** Compares the head with what this host has, which the log had before. */
  #compare({ sequence, digest }: LogPosition): void {
    const { store } = this.#options;
    this.#isInDoubt = sequence < this.#had || this.#failure !== null;
    this.#had = store.sequence;
    if (sequence !== store.sequence || digest === store.digest) return;
    this.#isInDoubt = false;
    this.#onFailure(differs(sequence));
  }

  #catchUp(): void {
    const { sequence } = this.#options.store;
    // Only a read between two commits shows for certain that the log ends before this host.
    const target = Math.max(this.#head?.sequence ?? 0, this.#isInDoubt ? sequence + 1 : 0);
    if (this.#isCatchingUp || this.#closed || target <= sequence) return;
    this.#isCatchingUp = true;
    void this.#options.store
      .catchUp(target)
      .then(
        () => this.#onFailure(null),
        (error: unknown) => this.#onFailure(error),
      )
      .then(() => {
        this.#isCatchingUp = false;
        this.#updateState();
        // Otherwise a head that was reported meanwhile would wait for the next read of the head.
        if ((this.#head?.sequence ?? 0) > target) this.#catchUp();
      });
  }

  #onFailure(error: unknown): void {
    if (this.#closed) return;
    const isClosing = hasCode(error, 'store_closed');
    const failure = error === null || isClosing ? null : messageOf(error);
    if (failure !== null && failure !== this.#failure) this.#options.onError(error);
    this.#failure = failure;
  }

  #updateState(): void {
    if (this.#closed) return;
    const state = this.#nextState();
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onReplicationState(state);
  }

  #restartProgress(): void {
    this.#progress = { sequence: this.#options.store.sequence, since: this.#now() };
  }

  /** Whether the disk keeps refusing what the log has. The store retries, and reports it. */
  #isStalled(): boolean {
    const { sequence, since } = this.#progress;
    if (this.behind > 0 && sequence === this.#options.store.sequence) {
      return this.#now() - since > STOPPED_AFTER_MS;
    }
    this.#restartProgress();
    return false;
  }

  #nextState(): ReplicationState {
    if (this.#failure !== null) return 'stopped';
    if (this.#now() - this.#lastResponseAt > UNREACHABLE_AFTER_MS) return 'unreachable';
    if (this.#isStalled()) return 'stopped';
    // A host in sync is one change set behind now and then, for milliseconds.
    const wasInSync = this.#state === 'in sync';
    const { isLogUnavailable } = this.#options.store;
    // If the disk of this host is full, the log has what this host cannot take.
    const isBehind = this.behind > 0 && (isLogUnavailable || !wasInSync);
    if (this.#head === null || isBehind) return 'catching up';
    return isLogUnavailable ? 'refusing' : 'in sync';
  }
}

function differs(sequence: number): CatalogError {
  return new CatalogError(
    'history_differs',
    `change set ${sequence} of this host differs from that of the log`,
  );
}
