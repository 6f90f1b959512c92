/** Whether a server is ready for writes, and if not, why. */
import type { ReplicationState } from '../hosts/cluster/log-follower.ts';
import type { GroupReport } from '../store/observer.ts';

/** The causes, with their text in `/readyz`. If there are several, the first one is shown. */
const CAUSES = [
  ['closing', 'the server is shutting down'],
  [
    'log_stopped',
    'this host can no longer follow the log that the hosts share; the messages of its server say why',
  ],
  ['log_unreachable', 'the log that the hosts share does not answer'],
  ['log_refusing', 'the log that the hosts share takes no writes'],
  ['log_catching_up', 'this host is not in step with the others yet'],
  ['starting', 'the server has just started and is building its indexes'],
  ['disk', 'the disk refused a write'],
] as const;

/** The cause of each replication state; null if the host takes writes. */
const REPLICATION_CAUSES: Readonly<Record<ReplicationState, Cause | null>> = {
  'in sync': null,
  'catching up': 'log_catching_up',
  unreachable: 'log_unreachable',
  refusing: 'log_refusing',
  stopped: 'log_stopped',
};

export type Cause = (typeof CAUSES)[number][0];

/**
 * Milliseconds for which a refused write counts, unless one succeeds earlier. A load balancer sends
 * no requests to a server that is not ready, so no write would show that the disk has space again.
 */
const REFUSAL_MEMORY_MS = 30_000;

/** Milliseconds after which a write that has not ended shows that the disk does not answer. */
const STALL_MS = 10_000;

export class Readiness {
  readonly #reasons: (() => string | null)[] = [];
  readonly #now: () => number;
  /** When each cause ends, by the clock. */
  readonly #until = new Map<Cause, number>();
  /** When the disk began the write that has not ended, by the clock; null if there is none. */
  #writingSince: number | null = null;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now;
  }

  /** Adds a check, such as of memory. @param reason returns why writes are not taken; else null. */
  also(reason: () => string | null): void {
    this.#reasons.push(reason);
  }

  /** @param milliseconds after which the cause ends by itself; never, if left out. */
  raise(cause: Cause, milliseconds = Number.POSITIVE_INFINITY): void {
    this.#until.set(cause, this.#now() + milliseconds);
  }

  clear(cause: Cause): void {
    this.#until.delete(cause);
  }

  /** Takes note of the replication state of a host that shares its log. */
  setReplicationState(state: ReplicationState): void {
    for (const cause of Object.values(REPLICATION_CAUSES)) if (cause !== null) this.clear(cause);
    const cause = REPLICATION_CAUSES[state];
    if (cause !== null) this.raise(cause);
  }

  /** Takes note of a write of the disk. One at a time. @param writing settles when it has ended. */
  readonly appending = (writing: Promise<unknown>): void => {
    this.#writingSince = this.#now();
    const end = () => void (this.#writingSince = null);
    writing.then(end, end);
  };

  /** Takes note of what the disk did with a group of transactions. */
  readonly committed = ({ refused, changes }: GroupReport): void => {
    if (refused === 'disk') this.raise('disk', REFUSAL_MEMORY_MS);
    else if (refused === null && changes > 0) this.clear('disk');
  };

  /** @returns why the server is not ready, without paths or addresses; null if it is. */
  readonly reason = (): string | null => {
    const now = this.#now();
    for (const [cause, words] of CAUSES) {
      const until = this.#until.get(cause);
      if (until !== undefined && now < until) return words;
    }
    const isStalled = this.#writingSince !== null && now - this.#writingSince >= STALL_MS;
    if (isStalled) return 'the disk does not answer';
    for (const reason of this.#reasons) {
      const words = reason();
      if (words !== null) return words;
    }
    return null;
  };
}
