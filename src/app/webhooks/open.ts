/** The readers of changes of one catalog: the feed, and the webhooks. */
import { WebhookKey } from '../../auth/webhook-key.ts';
import type { AuditedStore } from '../../resources/audit/audited-store.ts';
import { ChangeFeed } from '../../resources/changes/change-feed.ts';
import { ChangeSource } from '../../resources/changes/change-source.ts';
import type { Send } from '../../resources/webhooks/ports.ts';
import { type WebhookFigures, Webhooks } from '../../resources/webhooks/webhooks.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import { openDeliveryFiles } from './files.ts';
import { httpSender } from './sender.ts';

/** Milliseconds that deliveries under way have to be answered when the server stops. */
const DELIVERY_GRACE_MS = 2000;

/** What a test provides. */
export interface ChangeSeams {
  readonly clock?: { readonly now: () => number };
  /** Milliseconds after which a stream of changes without events gets a comment. */
  readonly commentMs?: number;
  /** Delivers to webhooks. */
  readonly send?: Send;
  /** Milliseconds to the next attempt, by the number of failures in a row. */
  readonly retryDelay?: (failures: number) => number;
}

export interface Changes {
  readonly feed: ChangeFeed;
  readonly webhooks: Webhooks;
  readonly arrivals: ChangeSource['arrivals'];
  readonly figures: () => WebhookFigures & { readonly open: number };
  /** Answers the requests that wait for changes, and ends the streams. */
  readonly endWaits: () => void;
  /** Ends the deliveries: another host makes them. */
  readonly endDeliveries: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * @param data the data directory.
 * @param delivers whether this host is the one that delivers to webhooks.
 */
export async function openChanges(
  data: string,
  audited: AuditedStore,
  { disk, version }: Pick<Context, 'disk' | 'version'>,
  monitor: Monitor,
  { clock, commentMs, retryDelay, send = httpSender(version) }: ChangeSeams,
  delivers = true,
): Promise<Changes> {
  const source = new ChangeSource(audited.store);
  const feed = new ChangeFeed(source, { commentMs });
  const webhooks = new Webhooks({
    audited,
    source,
    secrets: new WebhookKey(data),
    storage: await openDeliveryFiles(disk, data),
    send,
    retryDelay,
    now: clock?.now,
    warn: (message) => monitor.log.warn(message),
    onError: monitor.failed('a webhook goes on, but'),
  });
  const endDeliveries = () => webhooks.close(DELIVERY_GRACE_MS);
  if (delivers) await webhooks.start();
  else await endDeliveries();
  const endWaits = () => source.arrivals.close();
  return {
    feed,
    webhooks,
    arrivals: source.arrivals,
    endDeliveries,
    figures: () => ({ ...webhooks.figures, open: feed.open }),
    endWaits,
    async close() {
      endWaits();
      await endDeliveries();
    },
  };
}
