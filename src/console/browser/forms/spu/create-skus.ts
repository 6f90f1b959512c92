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
export async function createSkus(wanted: Wanted, creation: CreationKey): Promise<readonly Item[]> {
  const { spu, chosen, common } = wanted;
  if (chosen.length === 0 && creation.last.content === '') return [];
  const skus = chosen.map((each) => skuFor(spu, each, common));
  return creation.once<readonly Changes[], readonly Item[]>(skus, {
    create: async (sent, key) => (sent.length === 0 ? [] : createMany('skus', sent, key)),
    amend: (made) => amend(made, wanted, creation.further),
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
  const taken = new Set((await skusOf(spu)).map(combinationOf));
  return chosen.filter(({ key }) => taken.has(key)).length;
}

/** @param further creates those that were chosen since then. */
async function amend(
  made: readonly Item[],
  wanted: Wanted,
  further: CreationKey,
): Promise<readonly Item[]> {
  const { spu, chosen, common } = wanted;
  // An earlier amendment may have deleted some.
  const existing = new Set((await skusOf(spu)).map(({ id }) => id));
  const left = made.filter(({ id }) => existing.has(id));
  const kept = left.filter((sku) => chosen.some((each) => each.key === combinationOf(sku)));
  const more = chosen.filter((each) => !left.some((sku) => each.key === combinationOf(sku)));
  if (kept.length > 0) {
    const changes = kept.map(({ id }) => ({ id, ...common }));
    await changeMany('skus', changes);
  }
  for (const { id } of left.filter((sku) => !kept.includes(sku))) await removeOnce('skus', id);
  return [...kept, ...(await createSkus({ ...wanted, chosen: more }, further))];
}

function skusOf(spu: Item): Promise<Item[]> {
  return listAll('skus', { spu_id: String(spu.id) });
}
