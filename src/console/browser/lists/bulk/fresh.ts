/** The selected items as they are now. */
import { ApiError } from '../../api/client.ts';
import { listAll, load } from '../../api/items.ts';
import type { CollectionName, Item } from '../../api/types.ts';

/** Up to this many items are read one by one; of more, the whole collection is read in pages. */
const MAX_SINGLE = 100;

/** Requests under way at the same time. */
const AT_ONCE = 8;

/** Most items that are read to find the selected ones. */
const MAX_READ = 1_000_000;

/** Items that exist no more are left out. @throws ApiError, TypeError. */
export async function readAgain(
  name: CollectionName,
  ids: readonly number[],
): Promise<readonly Item[]> {
  if (ids.length > MAX_SINGLE) {
    const wanted = new Set(ids);
    return (await listAll(name, {}, MAX_READ)).filter(({ id }) => wanted.has(id));
  }
  const items: Item[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => existing(name, id)));
    items.push(...some.filter((item) => item !== null));
  }
  return items;
}

async function existing(name: CollectionName, id: number): Promise<Item | null> {
  try {
    return (await load(name, id)).item;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 410)) return null;
    throw error;
  }
}
