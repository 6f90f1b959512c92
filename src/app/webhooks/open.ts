/** The readers of changes of one catalog: the feed, and the webhooks. */
import { basename } from 'node:path';
import { WebhookKey, webhookKeyPath } from '../../auth/webhook-key.ts';
import { CatalogError } from '../../errors.ts';
import type { AuditedStore } from '../../resources/audit/audited-store.ts';
import { ChangeFeed } from '../../resources/changes/change-feed.ts';
import { ChangeSource } from '../../resources/changes/change-source.ts';
import type { Secrets } from '../../resources/webhooks/ports.ts';
import { type WebhookFigures, Webhooks } from '../../resources/webhooks/webhooks.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import type { Seams } from '../seams.ts';
import { DeliveryDuty, type SharedDeliveries } from './duty.ts';
import { openDeliveryFiles } from './files.ts';
import { httpSender } from './sender.ts';

/** Milliseconds that deliveries under way have to be answered when the server stops. */
const DELIVERY_GRACE_MS = 2000;

export interface Changes {
  readonly feed: ChangeFeed;
  readonly webhooks: Webhooks;
  readonly arrivals: ChangeSource['arrivals'];
  readonly figures: () => WebhookFigures & { readonly open: number };
  /** Begins the deliveries, if this host makes them. @throws what the disk throws. */
  readonly start: () => Promise<void>;
  /** Answers the requests that wait for changes, and ends the streams. */
  readonly endWaits: () => void;
  /** Ends the deliveries: another host makes them. */
  readonly endDeliveries: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Whether this host delivers to webhooks: of hosts that share a log, one at a time does. */
export type Delivering = 'always' | 'never' | SharedDeliveries;

/**
 * @param data the data directory.
 * @throws CatalogError `log_unavailable`; what the disk throws.
 */
export async function openChanges(
  data: string,
  audited: AuditedStore,
  { disk, version }: Pick<Context, 'disk' | 'version'>,
  monitor: Monitor,
  { clock, commentMs, retryDelay, send = httpSender(version) }: Seams,
  delivering: Delivering,
): Promise<Changes> {
  const source = new ChangeSource(audited.store);
  const feed = new ChangeFeed(source, { commentMs, mayBeBehind: delivering !== 'always' });
  const files = await openDeliveryFiles(disk, data);
  const shared = typeof delivering === 'string' ? null : delivering;
  let duty: DeliveryDuty | null = null;
  const webhooks = new Webhooks({
    audited,
    source,
    secrets: secretsIn(data),
    storage: shared?.storage ?? files,
    readOlder: shared?.readOlder,
    send,
    isOnDuty: () => duty === null || duty.isOn(),
    retryDelay,
    now: clock?.now,
    warn: (message) => monitor.log.warn(message),
    onError: monitor.onError('a webhook continues despite an error'),
  });
  if (shared !== null) {
    await shared.storage.offer(files);
    const onError = monitor.onError('this host could not begin deliveries to webhooks');
    duty = new DeliveryDuty({ shared, webhooks, arrivals: source.arrivals, onError });
  }
  const endDeliveries = async () => {
    if (duty === null) await webhooks.stop(DELIVERY_GRACE_MS);
    else await duty.close(DELIVERY_GRACE_MS);
  };
  const endWaits = () => source.arrivals.close();
  return {
    feed,
    webhooks,
    arrivals: source.arrivals,
    endDeliveries,
    figures: () => ({ ...webhooks.figures, open: feed.open }),
    async start() {
      duty?.start();
      if (delivering === 'always') await webhooks.start();
    },
    endWaits,
    async close() {
      endWaits();
      await endDeliveries();
    },
  };
}

/** Failures are shown in the list of deliveries, which must not contain paths of this machine. */
function secretsIn(directory: string): Secrets {
  const key = new WebhookKey(directory);
  const path = webhookKeyPath(directory);
  return {
    id: () => key.id(),
    secretOf(webhook) {
      try {
        return key.secretOf(webhook);
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        const message = error.message.replaceAll(path, basename(path));
        throw new CatalogError(error.code, message, { cause: error });
      }
    },
  };
}
