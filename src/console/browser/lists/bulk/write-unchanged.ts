/** Writes changes to several items, unless another user has changed one of the values meanwhile. */
import { ApiError } from '../../api/client.ts';
import { type Collection, responseName } from '../../api/collections.ts';
import { changeMany, type Changes } from '../../api/items.ts';
import type { Query } from '../../api/paths.ts';
import { levelsOf } from '../../api/references.ts';
import type { Item, Value } from '../../api/types.ts';
import type { MessageKey } from '../../messages/message.ts';
import { serverText, t } from '../../messages/text.ts';
import { titleOf } from '../../parts/attributes.ts';
import { followCategories } from '../../parts/category-changes.ts';
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
    const now = await valuesNow(collection, changes, pages);
    // The response to an earlier attempt was lost: all of them have the new values already.
    const isWritten = changes.every(({ after }, at) => now[at] === after);
    const count = changes.filter(({ before }, at) => now[at] !== before).length;
    if (count > 0 && !isWritten) throw new Error(t(stale, { count }));
    if (!isWritten) {
      await changeMany(name, changes.map(elementOf)).catch((error: unknown) => {
        throw named(error, collection, changes);
      });
    }
    followCategories(name);
  });
}

/** A refusal of one element, which the server names by its position. */
const OF_ELEMENT = /^database error: (?:element )?(\d+)(?:: |\.)(.*)$/s;

/** The failure of a request for all changes; a refusal of one of them names its item. */
function named(error: unknown, collection: Collection, changes: readonly Change[]): unknown {
  if (!(error instanceof ApiError)) return error;
  const [, at, text = ''] = OF_ELEMENT.exec(error.message) ?? [];
  const change = at === undefined ? undefined : changes[Number(at)];
  if (change === undefined) return error;
  return new Error(`${titleOf(collection, change.item)}: ${serverText(text)}`, { cause: error });
}

/** An SPU that moves to another category moves to those above it as well. */
function elementOf({ item, attribute, after }: Change): Changes & { readonly id: number } {
  const isCategory = attribute === 'category3_id' && typeof after === 'number';
  return { id: item.id, ...(isCategory && levelsOf(after)), [attribute]: after };
}

/**
 * The API has no condition on an array, so it is looked once more what the values are.
 *
 * @returns the value of each change; null if there is none, as of an item that is gone.
 * @throws ApiError, TypeError.
 */
async function valuesNow(
  collection: Collection,
  changes: readonly Change[],
  pages: readonly Query[],
): Promise<readonly Value[]> {
  const ids = changes.map(({ item }) => item.id);
  const now = new Map<number, Item>();
  for (const item of await readAgain(collection.name, ids, pages)) now.set(item.id, item);
  return changes.map(({ item, attribute }) => {
    const value = now.get(item.id)?.[responseName(collection, attribute)];
    return (value ?? null) as Value;
  });
}
