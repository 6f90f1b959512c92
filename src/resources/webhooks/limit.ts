/** How many webhooks there may be (spec 14.5). */
import { CatalogError } from '../../errors.ts';
import type { Transaction } from '../../store/writer/draft.ts';

/** Bounded because each webhook has a connection, a task and a list of deliveries. */
const MAX_WEBHOOKS = 100;

/** @throws CatalogError `too_many_webhooks` if there is no room for as many more. */
export function requireRoomForWebhooks(transaction: Transaction, more: number): void {
  if ([...transaction.ids('webhooks')].length + more <= MAX_WEBHOOKS) return;
  throw new CatalogError(
    'too_many_webhooks',
    `there are ${MAX_WEBHOOKS} webhooks already, the maximum; delete one first`,
  );
}
