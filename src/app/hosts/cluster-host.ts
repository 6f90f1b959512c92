/**
 * A host that shares its log with others (spec 15.20).
 *
 * An empty data directory begins with the history of the log. If the log no longer keeps all change
 * sets since its beginning (spec 15.24), the host serves without a catalog while it fetches a base
 * from another host, and then opens its catalog like every host of the log. The hosts share the
 * signing keys, so this host signs the token for its requests itself.
 */
import { exclusively } from '../../auth/private-file.ts';
import { Backoff } from '../../backoff.ts';
import { removeTemporaries } from '../../disk/durable-file.ts';
import { type Peer, baseOfPeers } from '../../hosts/cluster/peer-base.ts';
import type { Cluster } from '../../hosts/cluster/cluster.ts';
import { HttpPrimary, type Refusals } from '../../hosts/following/primary-client.ts';
import { takeBase } from '../../hosts/following/take-base.ts';
import { withOwnership } from '../../store/directory.ts';
import { isVacant, type ReceivedBase } from '../../store/hosts/install-base.ts';
import { clusterMembership } from '../cluster/membership.ts';
import { keepClusterSettings } from '../cluster/settings-file.ts';
import { unlessStopped } from '../signals.ts';
import type { Host, HostParts } from './host.ts';
import { hostToken } from './host-token.ts';
import { notifyPredecessors } from './notify-predecessor.ts';

const REFUSALS: Refusals = {
  unauthorized:
    'does not accept a token signed with the shared keys: check the clocks of both hosts, and that both have the same CATALOG_JWT_SECRET, or neither has one',
  forbidden: 'does not let this host fetch a base',
};

export class ClusterHost implements Host {
  readonly #cluster: Cluster;
  readonly #parts: HostParts;
  #needsBase = false;
  /** How much of the base has been taken, in percent. */
  #progress = 0;

  constructor(cluster: Cluster, parts: HostParts) {
    this.#cluster = cluster;
    this.#parts = parts;
  }

  readonly reason = (): string | null =>
    this.#needsBase ? `this host is fetching a base from another host (${this.#progress} %)` : null;

  readonly following = (): null => null;

  /** @throws CatalogError also `log_unavailable`, `store_damaged`, `store_unreadable`. */
  async begin(): Promise<void> {
    const { options, context } = this.#parts;
    const origin = isVacant(options.data, context.disk)
      ? await this.#cluster.originOfHistory()
      : undefined;
    this.#needsBase = origin === null;
    if (origin !== null) await this.#open(origin);
  }

  /**
   * Takes the base, if the host needs one, and opens the catalog. If the server is to end, this does
   * not wait for a log that is silent: what waits for it is left as by a start that is stopped.
   *
   * @throws CatalogError `store_missing` if no other host gives a base; what opening a catalog and
   *   the disk throw.
   */
  run(): Promise<void> {
    return this.#needsBase ? this.#bootstrap() : notifyPredecessors(this.#parts);
  }

  /** @param origin the digest with which the history of a new store begins. */
  async #open(origin?: string): Promise<void> {
    const { options, context, observability, current } = this.#parts;
    await current.open(clusterMembership(this.#cluster, origin, options, context, observability));
  }

  async #bootstrap(): Promise<void> {
    const { options, context, stop } = this.#parts;
    const { disk } = context;
    const { data } = options;
    disk.mkdir(data);
    const base = await withOwnership(data, 'serve', async () => {
      // Left by an interrupted reception of a base.
      await removeTemporaries(disk, data);
      // First, so that no start without the log begins a history of its own in this directory.
      await keepClusterSettings(disk, data, options);
      const received = await this.#base();
      await received?.install();
      return received;
    });
    if (base === null || stop.aborted) return;
    await unlessStopped(stop, this.#open());
    this.#needsBase = stop.aborted;
  }

  #base(): Promise<ReceivedBase | null> {
    const cluster = this.#cluster;
    return baseOfPeers({
      others: () => cluster.others(),
      take: (peer) => this.#take(peer),
      verify: (position) => cluster.requireBaseOfHistory(position),
      log: this.#parts.observability.log,
      backoff: new Backoff(),
      signal: this.#parts.stop,
    });
  }

  async #take({ origin, baseBytes: expected }: Peer): Promise<ReceivedBase> {
    const { options, context, observability, stop: signal } = this.#parts;
    const { disk, env, version } = context;
    const { data: directory, basePath } = options;
    const { log } = observability;
    // They are read once here, and followed once the host has its catalog.
    const credentials = this.#cluster.credentials(disk, directory, () => {});
    await unlessStopped(
      signal,
      exclusively(directory, () => credentials.pull()),
    );
    signal.throwIfAborted();
    const primary = new HttpPrimary({
      address: { origin, basePath },
      token: () => hostToken(directory, env['CATALOG_JWT_SECRET']),
      version,
      refusals: REFUSALS,
    });
    this.#progress = 0;
    const onProgress = (percent: number) => {
      this.#progress = percent;
    };
    return takeBase({ primary, disk, directory, expected, log, onProgress, signal });
  }
}
