/** Where a catalog reports its work and its failures, and asks whether it has memory. */
import type { ReplicationState } from '../hosts/cluster/log-follower.ts';
import type { StoreObserver } from '../store/observer.ts';
import type { Log } from '../telemetry/log.ts';
import type { MemoryWatch } from './engine/memory.ts';
import type { Readiness } from './readiness.ts';

export interface Monitor {
  readonly log: Pick<Log, 'failure' | 'warn'>;
  readonly readiness: Pick<Readiness, 'reason'>;
  readonly memory: Pick<MemoryWatch, 'requireRoom' | 'isScarce'>;
  readonly observer: StoreObserver;
  /** Called when the replication state of a host that shares its log has changed. */
  readonly onReplicationState: (state: ReplicationState) => void;
  /** @returns a callback for failures of this kind that the catalog survives. */
  readonly onError: (what: string) => (error: unknown) => void;
  /** Called if the state of memory or disk is no longer known; the process has to end. */
  readonly onFatal: (error: unknown) => void;
}
