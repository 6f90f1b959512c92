/** Opens the store of a server, alone or with the hosts that share its log. */
import type { Cluster } from '../hosts/cluster/cluster.ts';
import { CatalogError } from '../errors.ts';
import { isVacant } from '../store/hosts/install-base.ts';
import { Store } from '../store/store.ts';
import type { Monitor } from './catalog-monitor.ts';
import { joinCluster, type Membership } from './cluster/join.ts';
import { openCluster } from './cluster/open.ts';
import type { ClusterSettings } from './cluster/options.ts';
import type { Context } from './context.ts';

interface Settings extends ClusterSettings {
  readonly data: string;
  readonly history: number;
  readonly checkpointSize: number;
  readonly maxImport: number;
}

export interface OpenStore {
  readonly store: Store;
  /** Null if this host shares no log. */
  readonly membership: Membership | null;
  readonly close: () => Promise<void>;
}

/**
 * @param follows whether this host follows another one: then there has to be a store.
 * @param onDurable passed on to the store.
 * @throws CatalogError as {@link Store.open} and {@link joinCluster}.
 */
export async function openStore(
  settings: Settings,
  { disk, env }: Pick<Context, 'disk' | 'env'>,
  monitor: Monitor,
  follows: boolean,
  onDurable?: (sequence: number) => Promise<void>,
): Promise<OpenStore> {
  const { data, history, checkpointSize: smallestCheckpoint } = settings;
  const cluster = openCluster(settings);
  const store = await Store.open({
    directory: data,
    command: 'serve',
    create: !follows,
    follows,
    ...(await partIn(cluster, data, disk)),
    disk,
    mapsBase: true,
    history,
    smallestCheckpoint,
    onError: monitor.onError('the store continues despite an error'),
    onFatal: monitor.onFatal,
    observer: monitor.observer,
    onDurable,
  });
  try {
    const host = { data, disk, env };
    const membership = cluster && (await joinCluster(cluster, store, settings, host, monitor));
    return {
      store,
      membership,
      async close() {
        await membership?.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The part of a store in the log; a new store begins with the history of the log.
 *
 * @throws CatalogError `store_missing` if the log is not kept from its beginning.
 */
async function partIn(cluster: Cluster | null, data: string, disk: Context['disk']) {
  if (cluster === null) return {};
  if (!isVacant(data, disk)) return { shared: cluster.shared };
  const origin = await cluster.origin();
  if (origin !== null) return { origin, shared: cluster.shared };
  throw new CatalogError(
    'store_missing',
    `${data} holds no store, and the log no longer keeps all change sets since its beginning; restart the server to fetch a base from another host`,
  );
}
