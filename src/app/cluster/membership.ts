/** A host that shares its log with others, as its catalog sees it. */
import { loadKeys } from '../../auth/keys.ts';
import { exclusively } from '../../auth/private-file.ts';
import { WebhookKey } from '../../auth/webhook-key.ts';
import type { Cluster } from '../../hosts/cluster/cluster.ts';
import { responds } from '../../hosts/cluster/probe.ts';
import { WriterForwarding } from '../../hosts/cluster/writer-forwarding.ts';
import { Forwarder } from '../../hosts/forwarding/forwarder.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import { maxForwards } from '../engine/http-client.ts';
import { ALONE, type Membership } from '../hosts/membership.ts';
import { type ClusterSettings, DEFAULT_LOG_TIMEOUT_MS } from './options.ts';
import { keepClusterSettings } from './settings-file.ts';

/** Milliseconds for the writer beyond the time after which it answers without the log. */
const WRITER_SILENCE_MS = 5000;

interface Settings extends ClusterSettings {
  /** The data directory. */
  readonly data: string;
}

/**
 * Nothing is opened before {@link Membership.join}, which throws CatalogError `history_differs`,
 * `history_gone`, `log_unavailable`, `key_file`, `access_file`, and what the disk throws.
 *
 * @param origin the digest with which the history of a new store begins.
 */
export function clusterMembership(
  cluster: Cluster,
  origin: string | undefined,
  settings: Settings,
  { disk, env }: Pick<Context, 'disk' | 'env'>,
  monitor: Monitor,
): Membership {
  const { data, logTimeout = DEFAULT_LOG_TIMEOUT_MS } = settings;
  const credentials = cluster.credentials(
    disk,
    data,
    monitor.onError('accounts and keys of the other hosts could not be fetched'),
  );
  const writerForwarding = new WriterForwarding({
    // If the log is silent, the writer still responds; if its response is late, it is silent.
    forwarder: new Forwarder({
      maxOpen: maxForwards(env),
      idleMs: logTimeout + WRITER_SILENCE_MS,
      warn: (message) => monitor.log.warn(message),
    }),
    cluster,
    isThere: responds,
    reach: (sequence) => cluster.catchUp(sequence),
    pullAccounts: () => exclusively(data, () => credentials.pull()),
  });
  return {
    ...ALONE,
    storeOptions: { shared: cluster.shared, origin },
    async join(store) {
      await cluster.requireSameHistory(store);
      await keepClusterSettings(disk, data, settings);
      await credentials.open(async () => {
        await loadKeys(data, env['CATALOG_JWT_SECRET']);
        await new WebhookKey(data).id();
      });
      cluster.follow(store, {
        onReplicationState: monitor.onReplicationState,
        onError: monitor.onError('the log that the hosts share could not be followed or trimmed'),
        onUnseen: monitor.onError('this host could not be announced to the others'),
      });
    },
    shared: credentials,
    forwarding: (request) => writerForwarding.forwarding(request),
    deliveries: {
      term: () => cluster.term,
      lastSequence: () => cluster.lastSequence(),
      readOlder: (after, most) => cluster.read(after, most),
      storage: cluster.deliveries(monitor.onError('the positions of webhooks could not be shared')),
    },
    figures: () => cluster.figures,
    async close() {
      writerForwarding.stop();
      await credentials.close();
      await cluster.close();
    },
  };
}
