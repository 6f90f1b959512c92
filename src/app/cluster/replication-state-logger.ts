/** Logs when the state of a host towards the shared log changes (spec 15.23). */
import type { ReplicationState } from '../../hosts/cluster/log-follower.ts';
import type { Log } from '../../telemetry/log.ts';

/** The words of the log for each state. docs/hosts.md lists them, so that operators can search. */
const STATE_WORDS: Readonly<Record<ReplicationState, string>> = {
  'in sync': 'in step',
  'catching up': 'behind',
  unreachable: 'silent',
  refusing: 'refusing',
  stopped: 'stopped',
};

/** The states in which a host needs no operator. */
const WELL: ReadonlySet<ReplicationState> = new Set(['in sync', 'catching up']);

export class ReplicationStateLogger {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  /** Whether a problem was logged from which the host has not recovered. */
  #hasProblem = false;

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** The end of a problem is logged at the level of the problem, so that its reader learns of it. */
  changed(state: ReplicationState): void {
    const ends = this.#hasProblem && state === 'in sync';
    const isProblem = !WELL.has(state);
    if (isProblem || ends) this.#hasProblem = isProblem;
    const what = ends ? 'in step again' : STATE_WORDS[state];
    this.#log[isProblem || ends ? 'warn' : 'info'](`the log that the hosts share: ${what}`);
  }
}
