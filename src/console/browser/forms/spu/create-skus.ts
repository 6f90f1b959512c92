/** The SKUs that are missing, created once (spec 13.5). */
import type { CreationKey } from '../../api/creation-key.ts';
import { changeMany, type Changes, createMany, listAll, removeOnce } from '../../api/items.ts';
import type { Item } from '../../api/types.ts';
import { type Combination, combinationOf, type Common, skuFor } from './combinations.ts';

/** What the dialog says of the SKUs. */
export interface Wanted {
  readonly spu: Item;
  readonly chosen: readonly Combination[];
  readonly common: Common;
}

/**
 * Creates the SKUs, or makes of those that an earlier attempt has created what is wanted now.
 *
 * @returns those that are wanted.
 * @throws ApiError, TypeError.
 */
export function createSkus(wanted: Wanted, creation: CreationKey): Promise<readonly Item[]> {
  const { spu, chosen, common } = wanted;
  const skus = chosen.map((each) => skuFor(spu, each, common));
  return creation.once<readonly Changes[], readonly Item[]>(skus, {
    create: (sent, key) => createMany('skus', sent, key),
    amend: (made) => amend(made, wanted, `${creation.last.key}-more`),
  });
}

/**
 * How many of the combinations have a SKU by now, which another user has created. Those of an
 * earlier attempt that had no answer do not count.
 *
 * @throws ApiError, TypeError.
 */
export async function countTaken({ spu, chosen }: Wanted, { last }: CreationKey): Promise<number> {
  if (last.content !== '') return 0;
  const skus = await listAll('skus', { spu_id: String(spu.id) });
  const taken = new Set(skus.map(combinationOf));
  return chosen.filter(({ key }) => taken.has(key)).length;
}

/** @param key of the request for those that were chosen since then. */
async function amend(
  made: readonly Item[],
  { spu, chosen, common }: Wanted,
  key: string,
): Promise<readonly Item[]> {
  const kept = made.filter((sku) => chosen.some((each) => each.key === combinationOf(sku)));
  const more = chosen.filter((each) => !made.some((sku) => each.key === combinationOf(sku)));
  if (kept.length > 0) {
    const changes = kept.map(({ id }) => ({ id, ...common }));
    await changeMany('skus', changes);
  }
  for (const { id } of made.filter((sku) => !kept.includes(sku))) await removeOnce('skus', id);
  if (more.length === 0) return kept;
  const added = more.map((each) => skuFor(spu, each, common));
  return [...kept, ...(await createMany('skus', added, key))];
}
