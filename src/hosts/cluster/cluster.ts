/** A host's part in a cluster: the shared log, and what the host knows of the other hosts. */
import { randomBytes } from 'node:crypto';
import type { Disk } from '../../disk/disk.ts';
import { CatalogError, hasCode } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import { type Certificates, endpointsOf, type LogAddress } from './address.ts';
import { EtcdClient, type EtcdLogin } from './etcd-client.ts';
import { EtcdCredentials } from './etcd-credentials.ts';
import { EtcdDeliveries } from './etcd-deliveries.ts';
import { EtcdLog } from './etcd-log.ts';
import type { LogPosition, SharedLog } from '../../store/change-log.ts';
import { originOfHistory, requireBaseOfHistory, requireSameHistory } from './joining.ts';
import { type LiveHost, readLiveHosts, Registry } from './registry.ts';
import { Trimming } from './trimming.ts';
import { LogFollower, type ReplicationState } from './log-follower.ts';

/** How a host reaches the log. */
export interface ClusterOptions {
  readonly address: LogAddress;
  readonly certificates: Certificates;
  readonly login: EtcdLogin | null;
  /** Milliseconds that a write waits for the log. */
  readonly timeoutMs: number;
  /** The origin at which the other hosts reach this one; null if they cannot. */
  readonly origin: string | null;
}

export interface ClusterCallbacks {
  readonly onReplicationState: (state: ReplicationState) => void;
  readonly onError: (error: unknown) => void;
  /** Called with the error if this host cannot send its heartbeats. */
  readonly onUnseen: (error: unknown) => void;
}

export class Cluster {
  /** The shared log, as a store of this host commits through it. */
  readonly shared: SharedLog;
  readonly #endpoints: readonly string[];
  readonly #client: EtcdClient;
  readonly #log: EtcdLog;
  readonly #origin: string | null;
  /** Null until {@link follow}. */
  #store: Store | null = null;
  #follower: LogFollower | null = null;
  #registry: Registry | null = null;
  #trimming: Trimming | null = null;

  constructor({ address, certificates, login, timeoutMs, origin }: ClusterOptions) {
    this.#origin = origin;
    const etcd = endpointsOf(address, certificates);
    this.#endpoints = etcd.endpoints;
    this.#client = new EtcdClient({ ...etcd, certificates, login });
    this.#log = new EtcdLog(this.#client);
    this.shared = { log: this.#log, writer: randomBytes(8).toString('hex'), timeoutMs };
  }

  /** See {@link originOfHistory}. */
  originOfHistory(): Promise<string | null> {
    return this.forOperator(originOfHistory(this.#log, () => randomBytes(32).toString('hex')));
  }

  /** See {@link requireSameHistory}. */
  requireSameHistory(store: LogPosition): Promise<void> {
    return this.forOperator(requireSameHistory(this.#log, store));
  }

  /** See {@link requireBaseOfHistory}. */
  requireBaseOfHistory(base: LogPosition): Promise<void> {
    return this.forOperator(requireBaseOfHistory(this.#log, base));
  }

  /**
   * Adds the nodes to the error of a start or a command, for the operator. Errors for clients omit
   * them.
   *
   * @throws CatalogError `log_unavailable`, and what the call throws.
   */
  async forOperator<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (cause) {
      if (!hasCode(cause, 'log_unavailable')) throw cause;
      const nodes = this.#endpoints.join(', ');
      const message = `the log at ${nodes} cannot be used (${cause.message}); check that a majority of these nodes is running and reachable from this machine, and check the flags that begin with --log`;
      throw new CatalogError('log_unavailable', message, { cause });
    }
  }

  /** Follows the log from now on, and announces this host to the others. */
  follow(store: Store, callbacks: ClusterCallbacks): void {
    const [client, log] = [this.#client, this.#log];
    this.#store = store;
    const follower = new LogFollower({ log, store, ...callbacks });
    const registry = new Registry({
      client,
      name: this.shared.writer,
      origin: this.#origin,
      sequence: () => store.sequence,
      baseBytes: () => store.size.base,
      replicationState: () => follower.state,
      onError: callbacks.onUnseen,
    });
    this.#follower = follower;
    this.#registry = registry;
    this.#trimming = new Trimming({ client, log, registry, onError: callbacks.onError });
  }

  /** See {@link Store.catchUp}; undefined before {@link follow}. */
  catchUp(sequence: number): Promise<void> | undefined {
    return this.#store?.catchUp(sequence);
  }

  /** The origin of the host to which writes are passed on; null if this one carries them out. */
  get writerOrigin(): string | null {
    return this.#registry?.writerOrigin ?? null;
  }

  /** The other live hosts; see {@link readLiveHosts}. */
  async others(): Promise<readonly LiveHost[]> {
    const hosts = await readLiveHosts(this.#client);
    // After a restart, this host may still be registered under its previous name.
    return hosts.filter(({ origin }) => origin === null || origin !== this.#origin);
  }

  /** See {@link Registry.term}. */
  get term(): string | null {
    return this.#registry?.term ?? null;
  }

  /** The last change set of the log. @throws CatalogError `log_unavailable`. */
  async lastSequence(): Promise<number> {
    return (await this.#log.head()).sequence;
  }

  /** See {@link EtcdLog.read}. */
  read(after: number, most: number): Promise<readonly Uint8Array[]> {
    return this.#log.read(after, most);
  }

  /** The progress of the deliveries to webhooks. */
  deliveries(onError: (error: unknown) => void): EtcdDeliveries {
    return new EtcdDeliveries({ client: this.#client, onError });
  }

  /** The accounts and keys of all hosts; the directory holds copies. */
  credentials(disk: Disk, directory: string, onError: (error: unknown) => void): EtcdCredentials {
    return new EtcdCredentials({ client: this.#client, disk, directory, onError });
  }

  /** Change sets that this host lacks, and seconds for which the log has been silent. */
  get figures(): { readonly behind: number; readonly silence: number } {
    const { behind, silence } = this.#follower ?? { behind: 0, silence: 0 };
    return { behind, silence };
  }

  async close(): Promise<void> {
    await Promise.all([this.#follower?.close(), this.#registry?.close(), this.#trimming?.close()]);
  }
}
