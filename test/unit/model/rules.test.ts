/** The rules of spec 2.9 that involve several rows, as tables. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName, Row, Scalar } from '../../../src/model/kind.ts';
import { ALL_KINDS, KINDS } from '../../../src/model/kinds.ts';
import { referrersOf } from '../../../src/model/relations.ts';
import { type Lookup, lookupIn } from '../../../src/model/rows.ts';
import { judge, referencesOf, valueOf, withAncestors } from '../../../src/model/rules.ts';

type Values = Readonly<Record<string, Scalar>>;

/** Categories 1 > 2 > 3, 4 > 5 > 6, and 7 below 2; SPUs, a SKU, specifications and options. */
const ROWS: Readonly<Partial<Record<KindName, readonly Row[]>>> = {
  brands: [{ id: 1, name: 'Brand' }],
  categories: [
    { id: 1, name: 'A', parent_id: null },
    { id: 2, name: 'AA', parent_id: 1 },
    { id: 3, name: 'AAA', parent_id: 2 },
    { id: 4, name: 'B', parent_id: null },
    { id: 5, name: 'BB', parent_id: 4 },
    { id: 6, name: 'BBB', parent_id: 5 },
    { id: 7, name: 'AAB', parent_id: 2 },
  ],
  goods: [
    { id: 1, name: 'SPU', brand_id: 1, category1_id: 1, category2_id: 2, category3_id: 3 },
    { id: 2, name: 'Other', brand_id: 1, category1_id: 4, category2_id: 5, category3_id: 6 },
  ],
  specs: [
    { id: 1, name: 'Colour', goods_id: 1 },
    { id: 2, name: 'Colour', goods_id: 2 },
    { id: 3, name: 'Size', goods_id: 1 },
  ],
  options: [
    { id: 1, value: 'Silver', spec_id: 1 },
    { id: 2, value: 'Black', spec_id: 2 },
    { id: 3, value: 'Large', spec_id: 3 },
  ],
  skus: [{ id: 1, name: 'SKU', goods_id: 1, category_id: 3 }],
};

/** The rows as if `row` had been written. */
function lookupWith(kind: KindName, row: Row): Lookup {
  return lookupIn((name, id) =>
    name === kind && id === row.id ? row : ROWS[name]?.find((other) => other.id === id),
  );
}

/** The attribute that is blamed, and the message; null if the row is valid. */
function verdict(kind: KindName, values: Values): readonly [string, string] | null {
  const row: Row = { id: 100, ...values };
  const violation = judge(KINDS[kind], row, lookupWith(kind, row));
  return violation === null ? null : [violation.attribute, violation.message];
}

interface Case {
  readonly rule: string;
  readonly kind: KindName;
  readonly values: Values;
  /** The attribute that is blamed, and what the message must contain; null if the row is valid. */
  readonly blames: readonly [string, RegExp] | null;
}

const spu = (c1: Scalar, c2: Scalar, c3: Scalar, brand_id: Scalar = 1): Values => ({
  brand_id,
  category1_id: c1,
  category2_id: c2,
  category3_id: c3,
});
const record = (spec_id: Scalar, option_id: Scalar, sku_id: Scalar = 1): Values => ({
  sku_id,
  spec_id,
  option_id,
});

const CASES: readonly Case[] = [
  {
    rule: 'a category without a parent',
    kind: 'categories',
    values: { parent_id: null },
    blames: null,
  },
  {
    rule: 'a category on the second level',
    kind: 'categories',
    values: { parent_id: 1 },
    blames: null,
  },
  {
    rule: 'a category on the third level',
    kind: 'categories',
    values: { parent_id: 2 },
    blames: null,
  },
  {
    rule: 'a category on a fourth level',
    kind: 'categories',
    values: { parent_id: 3 },
    blames: ['parent_id', /under category 3 it/],
  },
  {
    rule: 'a category below itself',
    kind: 'categories',
    values: { id: 100, parent_id: 100 },
    blames: ['parent_id', /under category 100 it/],
  },
  {
    rule: 'a category below its own child',
    kind: 'categories',
    values: { id: 1, parent_id: 2 },
    blames: ['parent_id', /under category 2 it/],
  },
  {
    rule: 'a category below one that does not exist',
    kind: 'categories',
    values: { parent_id: 99 },
    blames: ['parent_id', /^99 does not exist$/],
  },
  { rule: 'an SPU in a chain of categories', kind: 'goods', values: spu(1, 2, 3), blames: null },
  {
    rule: 'an SPU in another third-level category of the chain',
    kind: 'goods',
    values: spu(1, 2, 7),
    blames: null,
  },
  {
    rule: 'an SPU whose first category is not on the first level',
    kind: 'goods',
    values: spu(2, 2, 3),
    blames: ['category1_id', /category 2 .*first-level/],
  },
  {
    rule: 'an SPU whose second category has another parent',
    kind: 'goods',
    values: spu(1, 5, 6),
    blames: ['category2_id', /category 5 .*child of category 1/],
  },
  {
    rule: 'an SPU whose third category has another parent',
    kind: 'goods',
    values: spu(1, 2, 6),
    blames: ['category3_id', /category 6 .*child of category 2/],
  },
  {
    rule: 'an SPU whose categories are in reverse order',
    kind: 'goods',
    values: spu(3, 2, 1),
    blames: ['category1_id', /category 3/],
  },
  {
    rule: 'an SPU with the same category three times',
    kind: 'goods',
    values: spu(1, 1, 1),
    blames: ['category2_id', /category 1/],
  },
  {
    rule: 'an SPU of a brand that does not exist',
    kind: 'goods',
    values: spu(1, 2, 3, 9),
    blames: ['brand_id', /^9 does not exist$/],
  },
  {
    rule: 'an SPU whose third category does not exist',
    kind: 'goods',
    values: spu(1, 2, 99),
    blames: ['category3_id', /^99 does not exist$/],
  },
  {
    rule: 'a SKU in a third-level category',
    kind: 'skus',
    values: { goods_id: 1, category_id: 7 },
    blames: null,
  },
  {
    rule: 'a SKU in a first-level category',
    kind: 'skus',
    values: { goods_id: 1, category_id: 1 },
    blames: ['category_id', /category 1 is not a third-level/],
  },
  {
    rule: 'a SKU in a second-level category',
    kind: 'skus',
    values: { goods_id: 1, category_id: 2 },
    blames: ['category_id', /category 2 is not a third-level/],
  },
  {
    rule: 'a SKU whose spu_id does not exist',
    kind: 'skus',
    values: { goods_id: 9, category_id: 3 },
    blames: ['spu_id', /^9 does not exist$/],
  },
  {
    rule: 'a specification whose spu_id does not exist',
    kind: 'specs',
    values: { goods_id: 9 },
    blames: ['spu_id', /^9 does not exist$/],
  },
  {
    rule: 'an option of a specification that does not exist',
    kind: 'options',
    values: { spec_id: 9 },
    blames: ['spec_id', /^9 does not exist$/],
  },
  {
    rule: 'a reference to 0',
    kind: 'options',
    values: { spec_id: 0 },
    blames: ['spec_id', /^0 does not exist$/],
  },
  {
    rule: 'a reference to a negative number',
    kind: 'options',
    values: { spec_id: -1 },
    blames: ['spec_id', /^-1 does not exist$/],
  },
  {
    rule: 'a record with an option of its specification',
    kind: 'sku_specs',
    values: record(1, 1),
    blames: null,
  },
  {
    rule: 'a record of another specification of the same SPU',
    kind: 'sku_specs',
    values: record(3, 3),
    blames: null,
  },
  {
    rule: "a record with a specification of another SPU than the SKU's",
    kind: 'sku_specs',
    values: record(2, 2),
    blames: ['spec_id', /^specification 2 does not belong to SPU 1$/],
  },
  {
    rule: 'a record with an option of another specification',
    kind: 'sku_specs',
    values: record(1, 3),
    blames: ['option_id', /option 3 does not belong to specification 1/],
  },
  {
    rule: 'a record of a SKU that does not exist',
    kind: 'sku_specs',
    values: record(1, 1, 9),
    blames: ['sku_id', /^9 does not exist$/],
  },
  {
    rule: 'a record with an option that does not exist',
    kind: 'sku_specs',
    values: record(1, 9),
    blames: ['option_id', /^9 does not exist$/],
  },
  {
    rule: 'a book without references',
    kind: 'books',
    values: { name: 'Emma' },
    blames: null,
  },
  { rule: 'a brand without references', kind: 'brands', values: { name: 'B' }, blames: null },
];

for (const { rule, kind, values, blames } of CASES) {
  test(`${rule} is ${blames === null ? 'valid' : 'invalid'}`, () => {
    const found = verdict(kind, values);
    if (blames === null) return assert.is(found, null);
    assert.is(found?.[0], blames[0]);
    assert.match(found?.[1] ?? '', blames[1]);
  });
}

test('two categories below each other are invalid, and checking them terminates', () => {
  const rows: Record<number, Row> = { 1: { id: 1, parent_id: 2 }, 2: { id: 2, parent_id: 1 } };
  const lookup = lookupIn((_, id) => rows[Number(id)]);
  for (const row of Object.values(rows)) {
    assert.is(judge(KINDS.categories, row, lookup)?.attribute, 'parent_id');
  }
});

test('the references are those of spec 2.9, and only that of a record to its SKU cascades', () => {
  const found = ALL_KINDS.flatMap((kind) =>
    referencesOf(kind).map(
      ({ attribute, to, cascade }) => `${kind.name}.${attribute} ${to}${cascade ? ' cascade' : ''}`,
    ),
  );
  assert.equal(found.sort(), [
    'categories.parent_id categories',
    'goods.brand_id brands',
    'goods.category1_id categories',
    'goods.category2_id categories',
    'goods.category3_id categories',
    'options.spec_id specs',
    'sku_specs.option_id options',
    'sku_specs.sku_id skus cascade',
    'sku_specs.spec_id specs',
    'skus.category_id categories',
    'skus.goods_id goods',
    'specs.goods_id goods',
  ]);
});

test('every reference is among the referrers of the kind that it refers to', () => {
  for (const kind of ALL_KINDS) {
    for (const { attribute, to } of referencesOf(kind)) {
      const known = referrersOf(to).some(
        (referrer) => referrer.kind === kind && referrer.attribute === attribute,
      );
      assert.ok(known, `${kind.name}.${attribute}`);
    }
  }
  assert.equal(referrersOf('books'), []);
});

test('a joined attribute has the value of the row that is referred to, or null if there is none', () => {
  const lookup = lookupIn((name, id) => ROWS[name]?.find((row) => row.id === id));
  const sku = ROWS.skus?.[0] as Row;
  assert.is(valueOf(KINDS.skus, 'goods', sku, lookup), 'SPU');
  assert.is(valueOf(KINDS.skus, 'category', sku, lookup), 'AAA');
  assert.is(valueOf(KINDS.skus, 'name', sku, lookup), 'SKU');
  assert.is(valueOf(KINDS.goods, 'brand', ROWS.goods?.[0] as Row, lookup), 'Brand');
  assert.is(valueOf(KINDS.skus, 'goods', { ...sku, goods_id: 9 }, lookup), null);
});

test('the chain of a category begins at the first level, and ends although categories form a cycle', () => {
  const parents = [undefined, null, 1, 2, 5, 4];
  const get = lookupIn((_, id) => {
    const parent_id = parents[Number(id)];
    return parent_id === undefined ? undefined : { id: Number(id), name: 'A', parent_id };
  });
  const chainOf = (id: number) => withAncestors(id, { get }).map((row) => row.id);
  assert.equal([chainOf(1), chainOf(3), chainOf(9)], [[1], [1, 2, 3], []]);
  assert.equal(chainOf(4), [5, 4, 5, 4]);
});

test.run();
