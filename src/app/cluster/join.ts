/** The start of a host that shares its log: first its store, then its accounts and keys. */
import { loadKeys } from '../../auth/keys.ts';
import { exclusively } from '../../auth/private-file.ts';
import { WebhookKey } from '../../auth/webhook-key.ts';
import type { Cluster } from '../../hosts/cluster/cluster.ts';
import { responds } from '../../hosts/cluster/probe.ts';
import { WriterForwarding } from '../../hosts/cluster/writer-forwarding.ts';
import { Forwarder } from '../../hosts/forwarding/forwarder.ts';
import type { Store } from '../../store/store.ts';
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
 * Joins the hosts that share the log, and follows it.
 *
 * @throws CatalogError `history_differs`, `history_gone`, `log_unavailable`, `key_file`,
 *   `access_file`; what the disk throws.
 */
export async function joinCluster(
  cluster: Cluster,
  store: Store,
  settings: Settings,
  { disk, env }: Pick<Context, 'disk' | 'env'>,
  monitor: Monitor,
): Promise<Membership> {
  const { data } = settings;
  await cluster.requireSameHistory(store);
  await keepClusterSettings(disk, data, settings);
  const onError = monitor.onError('accounts and keys of the other hosts could not be fetched');
  const credentials = cluster.credentials(disk, data, onError);
  await credentials.open(async () => {
    await loadKeys(data, env['CATALOG_JWT_SECRET']);
    await new WebhookKey(data).id();
  });
  cluster.follow(store, {
    onReplicationState: monitor.onReplicationState,
    onError: monitor.onError('the log that the hosts share could not be followed or trimmed'),
    onUnseen: monitor.onError('this host could not be announced to the others'),
  });
  const { logTimeout = DEFAULT_LOG_TIMEOUT_MS } = settings;
  const writerForwarding = new WriterForwarding({
    // If the log is silent, the writer still responds; if its response is late, it is silent.
    forwarder: new Forwarder({
      maxOpen: maxForwards(env),
      idleMs: logTimeout + WRITER_SILENCE_MS,
      warn: (message) => monitor.log.warn(message),
    }),
    cluster,
    isThere: responds,
    reach: (sequence) => store.catchUp(sequence),
    pullAccounts: () => exclusively(data, () => credentials.pull()),
  });
  return {
    ...ALONE,
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
