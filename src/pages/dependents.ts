/** Which pages show a changed row: the references that a page follows, backwards. */
import type { KindName, Row } from '../model/kind.ts';
import type { View } from '../store/draft.ts';
import type { Change } from '../store/tables.ts';

/** A page shows the row that `attribute` of a row that it shows refers to. */
interface Shows {
  readonly from: KindName;
  readonly attribute: string;
  readonly to: KindName;
}

const FOLLOWED: readonly Shows[] = [
  { from: 'skus', attribute: 'goods_id', to: 'goods' },
  { from: 'skus', attribute: 'category_id', to: 'categories' },
  { from: 'goods', attribute: 'brand_id', to: 'brands' },
  { from: 'categories', attribute: 'parent_id', to: 'categories' },
  { from: 'sku_specs', attribute: 'spec_id', to: 'specs' },
  { from: 'sku_specs', attribute: 'option_id', to: 'options' },
];

/**
 * Ids of the SKUs whose pages show what changed; deleted SKUs are among them.
 *
 * @param view the state after the changes.
 */
export function affectedSkus(view: View, changes: readonly Change[]): Set<number> {
  const skus = new Set<number>();
  for (const { kind, id, before, after } of changes) {
    collect(view, kind, id, after ?? before, skus);
  }
  return skus;
}

function collect(
  view: View,
  kind: KindName,
  id: number,
  row: Row | null | undefined,
  skus: Set<number>,
): void {
  if (kind === 'skus') skus.add(id);
  else if (kind === 'sku_specs') skus.add(row?.['sku_id'] as number);
  for (const { from, attribute, to } of FOLLOWED) {
    if (to !== kind) continue;
    for (const other of view.matching(from, attribute, id)) {
      collect(view, from, other, view.get(from, other), skus);
    }
  }
}
