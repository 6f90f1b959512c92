/** The specification records of a SKU as a file has them (spec 12.9). */
import { KINDS } from '../../../model/kinds.ts';
import { existingRow } from '../../../model/rows.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import type { Input } from '../../input.ts';
import type { Pair } from './references.ts';

/** The records that are sent with an object. */
export function pairsIn({ owned }: Input): Pair[] {
  return owned.map(({ values }) => ({
    spec_id: Number(values['spec_id']),
    option_id: Number(values['option_id']),
  }));
}

function nameOf({ spec_id, option_id }: Pair): string {
  return `${spec_id} ${option_id}`;
}

/**
 * Replaces the specification records of a SKU by those of a file: unlike PUT, an import does not
 * add to them. Records that stay keep their ids. Yields between them.
 *
 * @returns the pairs from before; null if they are the same, in whatever order.
 */
export function* replacePairs(
  transaction: Transaction,
  sku_id: number,
  pairs: readonly Pair[],
): Generator<undefined, Pair[] | null> {
  const wanted = new Map<string, number>();
  for (const pair of pairs) wanted.set(nameOf(pair), (wanted.get(nameOf(pair)) ?? 0) + 1);
  const before: Pair[] = [];
  const surplus: number[] = [];
  for (const id of transaction.matching('sku_specs', 'sku_id', sku_id)) {
    const { spec_id, option_id } = existingRow(transaction, 'sku_specs', id);
    const pair = { spec_id, option_id };
    before.push(pair);
    const left = wanted.get(nameOf(pair)) ?? 0;
    if (left === 0) surplus.push(id);
    else wanted.set(nameOf(pair), left - 1);
    yield;
  }
  for (const id of surplus) yield* transaction.deleteInParts('sku_specs', id);
  let added = 0;
  for (const pair of pairs) {
    const left = wanted.get(nameOf(pair));
    if (!left) continue;
    wanted.set(nameOf(pair), left - 1);
    added += 1;
    transaction.put('sku_specs', { id: transaction.nextId(KINDS.sku_specs.name), sku_id, ...pair });
    yield;
  }
  return surplus.length + added === 0 ? null : before;
}
