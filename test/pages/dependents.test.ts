/** src/pages/dependents.ts: which pages show a changed row. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName } from '../../src/model/kind.ts';
import { affectedSkus } from '../../src/pages/dependents.ts';
import type { Change } from '../../src/store/tables.ts';
import { type Rows, viewOf } from '../support/view.ts';

/**
 * SPUs 1 (brand 1) and 2 (brand 2); SKUs 1 and 2 of SPU 1, 3 of SPU 2, 4 of SPU 2 in another
 * branch of the categories 1 > 2 > 3, 1 > 4 > 5, 6 > 7 > 8.
 */
const ROWS: Rows = {
  brands: [{ id: 1 }, { id: 2 }, { id: 3 }],
  categories: [
    { id: 1, parent_id: null },
    { id: 2, parent_id: 1 },
    { id: 3, parent_id: 2 },
    { id: 4, parent_id: 1 },
    { id: 5, parent_id: 4 },
    { id: 6, parent_id: null },
    { id: 7, parent_id: 6 },
    { id: 8, parent_id: 7 },
    { id: 9, parent_id: null },
  ],
  goods: [
    { id: 1, brand_id: 1, category1_id: 1, category2_id: 2, category3_id: 3 },
    { id: 2, brand_id: 2, category1_id: 1, category2_id: 2, category3_id: 3 },
    { id: 3, brand_id: 3, category1_id: 9, category2_id: 9, category3_id: 9 },
  ],
  specs: [
    { id: 1, goods_id: 1 },
    { id: 2, goods_id: 2 },
    { id: 3, goods_id: 3 },
  ],
  options: [
    { id: 1, spec_id: 1 },
    { id: 2, spec_id: 1 },
    { id: 3, spec_id: 2 },
    { id: 4, spec_id: 3 },
  ],
  skus: [
    { id: 1, goods_id: 1, category_id: 3 },
    { id: 2, goods_id: 1, category_id: 5 },
    { id: 3, goods_id: 2, category_id: 3 },
    { id: 4, goods_id: 2, category_id: 8 },
  ],
  sku_specs: [
    { id: 1, sku_id: 1, spec_id: 1, option_id: 1 },
    { id: 2, sku_id: 2, spec_id: 1, option_id: 2 },
    { id: 3, sku_id: 3, spec_id: 2, option_id: 3 },
  ],
};

/** A row that was changed in place. */
function changed(kind: KindName, id: number): Change {
  const row = viewOf(ROWS).get(kind, id) ?? null;
  if (row === null) throw new Error(`there is no ${kind} ${id}`);
  return { kind, id, before: row, after: row };
}

function ascending(ids: ReadonlySet<number>): number[] {
  return [...ids].sort((a, b) => a - b);
}

const TABLE: readonly [kind: KindName, id: number, skus: readonly number[]][] = [
  ['skus', 1, [1]],
  ['skus', 4, [4]],
  ['goods', 1, [1, 2]],
  ['goods', 2, [3, 4]],
  ['goods', 3, []],
  ['brands', 1, [1, 2]],
  ['brands', 2, [3, 4]],
  ['brands', 3, []],
  ['categories', 1, [1, 2, 3]],
  ['categories', 2, [1, 3]],
  ['categories', 3, [1, 3]],
  ['categories', 4, [2]],
  ['categories', 5, [2]],
  ['categories', 6, [4]],
  ['categories', 8, [4]],
  ['categories', 9, []],
  ['specs', 1, [1, 2]],
  ['specs', 2, [3]],
  ['specs', 3, []],
  ['options', 1, [1]],
  ['options', 2, [2]],
  ['options', 4, []],
  ['sku_specs', 2, [2]],
];

for (const [kind, id, skus] of TABLE) {
  test(`a change of ${kind} ${id} touches the pages of SKUs ${skus.join(', ') || '(none)'}`, () => {
    assert.equal(ascending(affectedSkus(viewOf(ROWS), [changed(kind, id)])), skus);
  });
}

test('a book is on no page', () => {
  const row = { id: 1, name: 'Emma' };
  const change: Change = { kind: 'books', id: 1, before: null, after: row };
  assert.is(affectedSkus(viewOf(ROWS), [change]).size, 0);
});

test('a deleted SKU is among them, and so is the SKU of a deleted record', () => {
  const view = viewOf({ ...ROWS, skus: [], sku_specs: [] });
  const sku: Change = { ...changed('skus', 4), after: null };
  assert.equal([...affectedSkus(view, [sku])], [4]);
  const record: Change = { ...changed('sku_specs', 3), after: null };
  assert.equal([...affectedSkus(viewOf({ ...ROWS, sku_specs: [] }), [record])], [3]);
});

test('a created row touches the SKU that it stands for', () => {
  const sku: Change = { ...changed('skus', 2), before: null };
  const record: Change = { ...changed('sku_specs', 1), before: null };
  assert.equal(ascending(affectedSkus(viewOf(ROWS), [sku, record])), [1, 2]);
});

test('of several changes each SKU is named once', () => {
  const changes = [changed('brands', 1), changed('goods', 1), changed('skus', 1)];
  assert.equal(ascending(affectedSkus(viewOf(ROWS), changes)), [1, 2]);
});

test('no change touches no page', () => {
  assert.is(affectedSkus(viewOf(ROWS), []).size, 0);
});

test.run();
