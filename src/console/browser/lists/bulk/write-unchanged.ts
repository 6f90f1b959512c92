/** Writes changes to several items, unless another user has changed one of the values meanwhile. */
import { type Collection, responseName } from '../../api/collections.ts';
import { changeMany } from '../../api/items.ts';
import type { Query } from '../../api/paths.ts';
import { readCategories } from '../../api/references.ts';
import type { Item } from '../../api/types.ts';
import type { MessageKey } from '../../messages/message.ts';
import { t } from '../../messages/text.ts';
import { whileSaving } from '../../saving.ts';
import type { Change } from './changes.ts';
import { readAgain } from './fresh.ts';

/**
 * Writes all changes or none.
 *
 * @param pages queries of pages that have the items.
 * @param stale the message if another user has changed one of the values meanwhile.
 * @throws Error with that message, ApiError, TypeError.
 */
export function writeUnchanged(
  collection: Collection,
  changes: readonly Change[],
  pages: readonly Query[],
  stale: MessageKey,
): Promise<void> {
  const { name } = collection;
  return whileSaving(async () => {
    const count = await countChanged(collection, changes, pages);
    if (count > 0) throw new Error(t(stale, { count }));
    await changeMany(
      name,
      changes.map(({ item, attribute, after }) => ({ id: item.id, [attribute]: after })),
    );
    if (name === 'categories') await readCategories();
  });
}

/**
 * The API has no condition on an array, so it is looked once more whether the values are still
 * those before the changes.
 *
 * @returns how many are not. @throws ApiError, TypeError.
 */
async function countChanged(
  collection: Collection,
  changes: readonly Change[],
  pages: readonly Query[],
): Promise<number> {
  const ids = changes.map(({ item }) => item.id);
  const now = new Map<number, Item>();
  for (const item of await readAgain(collection.name, ids, pages)) now.set(item.id, item);
  return changes.filter(({ item, attribute, before }) => {
    const value = now.get(item.id)?.[responseName(collection, attribute)];
    return (value ?? null) !== before;
  }).length;
}
