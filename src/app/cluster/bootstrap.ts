/**
 * A host whose data directory is empty, and whose log no longer keeps all change sets since its
 * beginning (spec 15.24): it serves without a catalog while it fetches a base from another host, and
 * then opens its catalog like every host of the log.
 *
 * The hosts share the signing keys, so this host signs the token for its requests itself.
 */
import { exclusively } from '../../auth/private-file.ts';
import { Backoff } from '../../backoff.ts';
import { type Peer, baseOfPeers } from '../../hosts/cluster/peer-base.ts';
import type { Cluster } from '../../hosts/cluster/cluster.ts';
import { HttpPrimary, type Refusals } from '../../hosts/following/primary-client.ts';
import { takeBase } from '../../hosts/following/take-base.ts';
import { ownDirectory } from '../../store/directory.ts';
import { isVacant, type ReceivedBase, removeReceptions } from '../../store/hosts/install-base.ts';
import type { Context } from '../context.ts';
import { hostToken } from '../hosts/host-token.ts';
import type { ServeOptions } from '../server-options.ts';
import { openCluster } from './open.ts';
import { keepClusterSettings } from './settings-file.ts';

const REFUSALS: Refusals = {
  unauthorized:
    'does not accept a token signed with the shared keys: check the clocks of both hosts, and that both have the same CATALOG_JWT_SECRET, or neither has one',
  forbidden: 'does not let this host fetch a base',
};

type Options = Pick<ServeOptions, 'data' | 'basePath'> & Parameters<typeof openCluster>[0];

interface Ports {
  readonly log: { info(message: string): void; warn(message: string): void };
  /** Opens the catalog of the data directory, and serves with it. */
  readonly open: () => Promise<void>;
}

/**
 * @returns null if the host needs no base: it shares no log, has a store, or the log is complete.
 * @throws CatalogError `usage`, `log_unavailable`, `store_damaged`, `store_unreadable`.
 */
export async function findBootstrap(
  options: Options,
  context: Pick<Context, 'disk' | 'env' | 'version'>,
  ports: Ports,
): Promise<Bootstrap | null> {
  const cluster = openCluster(options);
  if (cluster === null || !isVacant(options.data, context.disk)) return null;
  if ((await cluster.origin()) !== null) return null;
  return new Bootstrap(cluster, options, context, ports);
}

class Bootstrap {
  readonly #cluster: Cluster;
  readonly #options: Options;
  readonly #context: Pick<Context, 'disk' | 'env' | 'version'>;
  readonly #ports: Ports;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** How much of the base has been taken, in percent. */
  #progress = 0;
  #isDone = false;

  constructor(
    cluster: Cluster,
    options: Options,
    context: Pick<Context, 'disk' | 'env' | 'version'>,
    ports: Ports,
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#context = context;
    this.#ports = ports;
  }

  /** Why the host is not ready, in words for `/readyz`; null if it has its base. */
  readonly reason = (): string | null =>
    this.#isDone ? null : `this host is fetching a base from another host (${this.#progress} %)`;

  /**
   * Takes the base, and opens the catalog.
   *
   * @throws CatalogError `store_missing` if no other host gives a base; what opening a catalog and
   *   the disk throw.
   */
  run(): Promise<void> {
    this.#running = this.#join();
    return this.#running;
  }

  /** Ends the attempts, and waits for a catalog that is being opened. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #join(): Promise<void> {
    const { disk } = this.#context;
    const { data } = this.#options;
    disk.mkdir(data);
    const lock = ownDirectory(data, 'serve');
    try {
      await removeReceptions(disk, data);
      // First, so that no start without the log begins a history of its own in this directory.
      await keepClusterSettings(disk, data, this.#options);
      const base = await this.#base();
      if (base === null) return;
      await base.install();
    } finally {
      lock.close();
    }
    await this.#ports.open();
    this.#isDone = true;
  }

  #base(): Promise<ReceivedBase | null> {
    const cluster = this.#cluster;
    return baseOfPeers({
      others: () => cluster.others(),
      take: (peer) => this.#take(peer),
      verify: (position) => cluster.requireSameHistory(position),
      log: this.#ports.log,
      backoff: new Backoff(),
      signal: this.#stopped.signal,
    });
  }

  async #take({ origin, baseBytes: expected }: Peer): Promise<ReceivedBase> {
    const { disk, env, version } = this.#context;
    const { data: directory, basePath } = this.#options;
    const { log } = this.#ports;
    // They are read once here, and followed once the host has its catalog.
    const credentials = this.#cluster.credentials(disk, directory, () => {});
    await exclusively(directory, () => credentials.pull());
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
    const { signal } = this.#stopped;
    return takeBase({ primary, disk, directory, expected, log, onProgress, signal });
  }
}
