/** Brings back what was deleted, by the audit trail. */
import { receive, send } from '../api/client.ts';
import { collectionOf } from '../api/collections.ts';
import { whileSaving } from '../saving.ts';
import type { CollectionName } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { followCategories } from './category-changes.ts';
import { announce } from './notices.tsx';
import { catalogVersion } from './version.ts';

/** @throws ApiError, TypeError if one of them does not come back; those before it are back. */
export async function undoDeletion(name: CollectionName, ids: readonly number[]): Promise<void> {
  try {
    for (const id of ids) await restoreOne(name, id);
    followCategories(name);
  } finally {
    catalogVersion.value += 1;
  }
  announce(t('undo.done', { count: ids.length }));
}

async function restoreOne(name: CollectionName, id: number): Promise<void> {
  const entries = await receive<readonly { readonly id: number; readonly action: string }[]>(
    `${collectionOf(name).path}${id}/audits/?order=desc&per_page=1`,
  );
  const [entry] = entries;
  if (entry?.action === 'delete') await reverse(entry.id);
}

/** Undoes the write of an audit entry. @throws ApiError `409` if the row has changed since. */
export async function reverse(entry: number, force = false): Promise<void> {
  const sent = { method: 'POST', body: { force } } as const;
  await whileSaving(() => send(`/admin/audits/${entry}/reversal/`, sent));
}
