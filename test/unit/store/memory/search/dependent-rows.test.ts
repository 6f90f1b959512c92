/** The rows that refer to given rows, compared with reading every row. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changeOf } from '../../../../../src/model/change.ts';
import { perKind } from '../../../../../src/model/per-kind.ts';
import { atOnce } from '../../../../../src/slices.ts';
import { DependentRows } from '../../../../../src/store/memory/search/dependent-rows.ts';
import { Bitmap } from '../../../../../src/store/memory/search/bitmap.ts';
import { ReferenceColumn } from '../../../../../src/store/memory/search/reference-column.ts';
import { RowTable } from '../../../../../src/store/memory/row-table.ts';
import { textTableOf } from '../../../../support/text-rows.ts';

/** So many SPUs that the references to a few of them are followed backwards. */
const SPUS = 40;

/** A change of a SKU, whose ids may be far apart; the SPU is null if the SKU is deleted. */
const edit = fc.record({
  id: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 20_000 })),
  spu: fc.option(fc.integer({ min: 1, max: SPUS }), { freq: 4 }),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** Rows of these tests need not have all attributes. */
function apply(table: RowTable, { id, spu }: Edit) {
  const before = table.get(id) ?? null;
  const after = spu === null ? null : { id, goods_id: spu };
  if (after === null) table.delete(id);
  else table.set(after);
  return changeOf('skus', id, before as never, after as never);
}

function plainly(table: RowTable, spus: readonly number[]): number[] {
  const rows = [...table.values()].filter((row) => spus.includes(Number(row['goods_id'])));
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** The tables, and an index that is made again for each look-up. */
function tables() {
  const rows = perKind(() => new RowTable());
  for (let id = 1; id <= SPUS; id += 1) rows.goods.set({ id });
  const index = () => ({ parts: (spu: unknown) => [plainly(rows.skus, [Number(spu)])] });
  return { rows, index };
}

test('the SKUs of few and of many SPUs are found after any changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(edit),
      fc.array(fc.array(edit, { maxLength: 9 }), { maxLength: 3 }),
      fc
        .oneof(fc.constant(2), fc.constant(SPUS))
        .chain((most) => fc.uniqueArray(fc.integer({ min: 1, max: SPUS }), { maxLength: most })),
      async (first, commits, spus) => {
        const { rows, index } = tables();
        for (const each of first) apply(rows.skus, each);
        const dependents = new DependentRows({ rows, index });
        await dependents.build('skus', 'goods_id', 0);
        for (const edits of commits) {
          for (const each of edits) dependents.change('skus', [apply(rows.skus, each)]);
        }
        const ids = new Bitmap();
        for (const spu of spus) ids.add(spu);
        const found = new Bitmap();
        atOnce(dependents.addTo(found, 'skus', 'goods_id', { kind: 'goods', ids }));
        assert.equal([...found], plainly(rows.skus, spus));
      },
    ),
  );
});

test('commits while references are read for the first time are included', () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1 }), fc.array(edit), fc.nat(3), (first, more, at) => {
      const { skus } = tables().rows;
      for (let id = 1001; id <= 2000; id += 1) apply(skus, { id, spu: 1 });
      for (const each of first) apply(skus, each);
      const column = new ReferenceColumn(skus, 'goods_id');
      const building = column.build();
      for (let step = 0; step < at; step += 1) building.next();
      for (const each of more) column.change([apply(skus, each)]);
      atOnce(building);
      const spu = new Bitmap();
      spu.add(1);
      const found = new Bitmap();
      found.add(32);
      atOnce(column.addReferring(spu, found));
      const expected = new Set([32, ...plainly(skus, [1])]);
      assert.equal(
        [...found],
        [...expected].sort((a, b) => a - b),
      );
    }),
  );
});

test('only the references to few rows are followed backwards, with a pause after each', async () => {
  const { rows, index } = tables();
  for (let id = 1; id <= 200; id += 1) apply(rows.skus, { id, spu: (id % SPUS) + 1 });
  let followed = 0;
  const counting = () => {
    followed += 1;
    return index();
  };
  const dependents = new DependentRows({ rows, index: counting });
  await dependents.build('skus', 'goods_id', 0);
  for (const few of [true, false]) {
    followed = 0;
    const ids = new Bitmap();
    for (let spu = 1; spu <= (few ? 2 : SPUS); spu += 1) ids.add(spu);
    const adding = dependents.addTo(new Bitmap(), 'skus', 'goods_id', { kind: 'goods', ids });
    assert.is([...adding].length, few ? 2 : 0);
    assert.is(followed, few ? 1 : 0);
  }
});

test('a row that is text stays text when its reference is read', () => {
  const skus = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, goods_id: 1 }));
  const table = textTableOf('skus', skus);
  atOnce(new ReferenceColumn(table, 'goods_id').build());
  // A row that was kept as an object would be the same one each time.
  for (const { id } of skus) assert.is.not(table.peek(id), table.peek(id));
});

test('references are read and scanned with pauses, however many there are', () => {
  const { skus } = tables().rows;
  const ids = Array.from({ length: 1024 }, (_, index) => index + 1);
  // Each in a range of ids of its own.
  for (let id = 5000; id < 100_000; id += 5000) ids.push(id);
  for (const id of ids) apply(skus, { id, spu: 1 });
  const column = new ReferenceColumn(skus, 'goods_id');
  assert.is([...column.build()].length, 4);
  const spu = new Bitmap();
  spu.add(1);
  const found = new Bitmap();
  assert.is([...column.addReferring(spu, found)].length, 2);
  assert.equal([...found], ids);
});

test('ranges of ids whose rows were deleted are neither kept nor scanned', () => {
  const { skus } = tables().rows;
  const column = new ReferenceColumn(skus, 'goods_id');
  atOnce(column.build());
  // As with imports that replace all rows again and again: each row has a new id.
  for (let id = 1; id <= 100_000; id += 5000) {
    column.change([apply(skus, { id, spu: 1 })]);
    column.change([apply(skus, { id, spu: 2 })]);
    column.change([apply(skus, { id, spu: null })]);
  }
  column.change([apply(skus, { id: 100_001, spu: 1 })]);
  const spus = new Bitmap();
  for (const spu of [1, 2]) spus.add(spu);
  const found = new Bitmap();
  assert.is([...column.addReferring(spus, found)].length, 0, 'no pause after eight pieces');
  assert.equal([...found], [100_001]);
});

test.run();
