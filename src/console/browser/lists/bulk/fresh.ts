/** The selected items as they are now. */
import { isGone } from '../../api/client.ts';
import { list, load } from '../../api/items.ts';
import type { Query } from '../../api/paths.ts';
import type { CollectionName, Item } from '../../api/types.ts';

/** Requests under way at the same time. */
const AT_ONCE = 8;

/**
 * Reads items again. It takes at most one request for each page on which they were selected, and
 * one for each item that has left its page since then, however large the collection is.
 *
 * @param pages queries of the pages on which the items were selected.
 * @returns those that still exist.
 * @throws ApiError, TypeError.
 */
export async function readAgain(
  name: CollectionName,
  ids: readonly number[],
  pages: readonly Query[],
): Promise<readonly Item[]> {
  const wanted = new Set(ids);
  const found = new Map<number, Item>();
  const keep = (item: Item) => {
    if (wanted.delete(item.id)) found.set(item.id, item);
  };
  // Pages are read one after the other, single items several at a time.
  if (pages.length < ids.length / AT_ONCE) {
    for (const page of pages) (await list(name, page)).items.forEach(keep);
  }
  const left = [...wanted];
  for (let at = 0; at < left.length; at += AT_ONCE) {
    const some = await Promise.all(left.slice(at, at + AT_ONCE).map((id) => existing(name, id)));
    some.filter((item) => item !== null).forEach(keep);
  }
  return [...found.values()];
}

async function existing(name: CollectionName, id: number): Promise<Item | null> {
  try {
    return (await load(name, id)).item;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}
