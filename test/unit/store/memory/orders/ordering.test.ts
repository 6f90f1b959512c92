/** An ordering equals a fresh one after any changes of rows, and reports contradictions. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row, Scalar } from '../../../../../src/model/kind.ts';
import { KINDS } from '../../../../../src/model/kinds.ts';
import { lookupIn } from '../../../../../src/model/rows.ts';
import { Ordering } from '../../../../../src/store/memory/orders/ordering.ts';
import type { Order } from '../../../../../src/store/memory/orders/order.ts';
import { sortedLists } from '../../../../../src/store/memory/orders/sorting.ts';
import { atOnce } from '../../../../../src/slices.ts';
import { RowTable } from '../../../../../src/store/memory/row-table.ts';
import { indexedAttributes } from '../../../../support/indexed-attributes.ts';

/** SKUs and the SPUs whose names they show. */
class State {
  readonly skus = new RowTable();
  readonly goods = new RowTable();

  readonly lookup = lookupIn((kind, id) =>
    ({ skus: this.skus, goods: this.goods })[kind as string]?.get(id),
  );

  order(order: Order): Ordering {
    const lists = atOnce(sortedLists(KINDS.skus, order, this.skus, this.lookup));
    return new Ordering(KINDS.skus, order, lists, this.lookup);
  }

  /** SKUs by id, name and SPU. */
  static of(...skus: readonly (readonly [id: number, name: string, spu?: number])[]): State {
    const state = new State();
    for (const id of [1, 2]) state.goods.set({ id, name: `SPU ${id}` });
    for (const [id, name, spu = 1] of skus) state.skus.set({ id, name, goods_id: spu });
    return state;
  }
}

const idsOf = (ordering: Ordering, value: Scalar = null) => [...ordering.list(value).values()];

/** The ids that the ordering must have: a filter and a sort, written again for these tests. */
function plainly(state: State, { partition, sortby, order }: Order, value: Scalar): number[] {
  const keyOf = (row: Row) =>
    sortby === 'goods' ? state.goods.get(row['goods_id'] ?? null)?.['name'] : row[sortby];
  const sign = order === 'asc' ? 1 : -1;
  return [...state.skus.values()]
    .filter((row) => partition === null || (row[partition] ?? null) === value)
    .sort((a, b) => {
      const [x, y] = [keyOf(a) ?? '', keyOf(b) ?? ''];
      return x === y ? a.id - b.id : x < y ? -sign : sign;
    })
    .map(({ id }) => id);
}

const letter = fc.constantFrom('a', 'b', 'c');
const spu = fc.integer({ min: 1, max: 3 });
const edit = fc.record({
  id: fc.integer({ min: 1, max: 60 }),
  /** Null deletes. */
  row: fc.option(
    fc.record({
      name: letter,
      goods_id: spu,
      category_id: fc.constantFrom(null, 1, 2, 3),
      is_launched: fc.boolean(),
    }),
    { freq: 4 },
  ),
});
const renaming = fc.record({ spu, name: letter });
const anOrder: fc.Arbitrary<Order> = fc.record({
  partition: fc.constantFrom(null, ...indexedAttributes(KINDS.skus)),
  sortby: fc.constantFrom('id', 'name', 'is_launched', 'goods'),
  order: fc.constantFrom('asc', 'desc'),
});

test('an ordering in which rows are added, removed and moved equals a fresh one', () => {
  fc.assert(
    fc.property(
      fc.array(edit, { maxLength: 90 }),
      anOrder,
      fc.array(fc.oneof({ weight: 6, arbitrary: edit }, { weight: 1, arbitrary: renaming }), {
        minLength: 1,
        maxLength: 40,
      }),
      (start, how, steps) => {
        // For descending ids, tables.ts reads the ascending ordering backwards.
        const order: Order = how.sortby === 'id' ? { ...how, order: 'asc' } : how;
        const state = State.of();
        for (const id of [1, 2, 3]) state.goods.set({ id, name: 'b' });
        for (const { id, row } of start) if (row !== null) state.skus.set({ id, ...row });
        const kept = state.order(order);
        for (const step of steps) {
          if ('spu' in step) {
            const moving = [...state.skus.values()].filter((row) => row['goods_id'] === step.spu);
            for (const row of moving) kept.leave(row);
            state.goods.set({ id: step.spu, name: step.name });
            for (const row of moving) kept.enter(row);
          } else {
            const before = state.skus.get(step.id);
            if (before !== undefined) kept.leave(before);
            if (step.row === null) state.skus.delete(step.id);
            else state.skus.set({ id: step.id, ...step.row });
            const after = state.skus.get(step.id);
            if (after !== undefined) kept.enter(after);
          }
          assert.equal(kept.faults(state.skus), []);
          const fresh = state.order(order);
          for (const value of [null, 1, 2, 3, 'a', 'b', 'c']) {
            const wanted =
              order.partition === null && value !== null ? [] : plainly(state, order, value);
            assert.equal(idsOf(kept, value), wanted);
            assert.equal(idsOf(fresh, value), wanted);
            assert.is(kept.list(value).length, wanted.length);
          }
        }
      },
    ),
    { numRuns: 600 },
  );
});

test('a row keeps its place if neither its list nor its sort value changes', () => {
  const state = State.of([1, 'a', 1]);
  const row = state.skus.get(1) as Row;
  const by = (partition: string | null, sortby: string) =>
    state.order({ partition, sortby, order: 'asc' });
  const stays = (
    ordering: Ordering,
    change: Partial<Record<string, Scalar>>,
    next = state.lookup,
  ) => ordering.stays(row, { ...row, ...change } as Row, next);
  assert.ok(stays(by(null, 'name'), { goods_id: 2 }));
  assert.not(stays(by(null, 'name'), { name: 'b' }));
  assert.not(stays(by('goods_id', 'name'), { goods_id: 2 }));
  assert.ok(stays(by('goods_id', 'id'), { name: 'b' }));
  // If sorted by a joined name, it moves when it refers to another row or that row is renamed.
  assert.ok(stays(by(null, 'goods'), { name: 'b' }));
  assert.not(stays(by(null, 'goods'), { goods_id: 2 }));
  const renamed = lookupIn((kind, id) =>
    kind === 'goods' ? { id: 1, name: 'Other' } : state.lookup(kind, id),
  );
  assert.not(stays(by(null, 'goods'), {}, renamed));
  assert.ok(stays(by(null, 'goods'), {}));
});

test('a list can repeatedly grow from one id to several and shrink to one and none', () => {
  const state = State.of();
  const ordering = state.order({ partition: 'goods_id', sortby: 'name', order: 'asc' });
  const enter = (id: number, name: string) => {
    const row = { id, name, goods_id: 1 };
    state.skus.set(row);
    ordering.enter(row);
  };
  const leave = (id: number) => {
    ordering.leave(state.skus.get(id) as Row);
    state.skus.delete(id);
  };
  for (let round = 0; round < 3; round += 1) {
    assert.equal(idsOf(ordering, 1), []);
    assert.is(ordering.list(1).length, 0);
    enter(1, 'b');
    assert.equal(idsOf(ordering, 1), [1]);
    assert.is(ordering.list(1).length, 1);
    assert.equal(ordering.faults(state.skus), []);
    enter(2, 'a');
    assert.equal(idsOf(ordering, 1), [2, 1]);
    leave(2);
    assert.equal(idsOf(ordering, 1), [1]);
    enter(3, 'c');
    assert.equal(idsOf(ordering, 1), [1, 3]);
    leave(1);
    leave(3);
    assert.equal(idsOf(ordering, 2), []);
    assert.equal(ordering.faults(state.skus), []);
  }
});

test('an id that is alone in its list can leave an ordering that was built at once', () => {
  const state = State.of([1, 'b', 1], [2, 'a', 2], [3, 'a', 2]);
  const ordering = state.order({ partition: 'goods_id', sortby: 'name', order: 'asc' });
  assert.equal([idsOf(ordering, 1), idsOf(ordering, 2)], [[1], [2, 3]]);
  ordering.leave(state.skus.get(1) as Row);
  state.skus.delete(1);
  assert.equal(idsOf(ordering, 1), []);
  assert.equal(ordering.faults(state.skus), []);
});

test('leave() throws for a row that is not where its values say', () => {
  const state = State.of([1, 'a', 1], [2, 'a', 2], [3, 'b', 2]);
  const ordering = state.order({ partition: 'goods_id', sortby: 'name', order: 'asc' });
  const lost: readonly Row[] = [
    // The list has only another id; the list is empty; the list has two other ids.
    { id: 9, name: 'a', goods_id: 1 },
    { id: 9, name: 'a', goods_id: 7 },
    { id: 9, name: 'a', goods_id: 2 },
    // The row is in the list with another value; the row is in another list.
    { id: 2, name: 'z', goods_id: 2 },
    { id: 2, name: 'a', goods_id: 1 },
  ];
  for (const row of lost) {
    assert.throws(() => ordering.leave(row), new RegExp(`the index has lost row ${row.id}`));
  }
  assert.equal([idsOf(ordering, 1), idsOf(ordering, 2)], [[1], [2, 3]]);
});

/** Each changes only the rows or only the ordering. */
const CONTRADICTIONS: readonly {
  readonly what: string;
  readonly make: (state: State, ordering: Ordering) => void;
  readonly found: readonly string[];
}[] = [
  {
    what: 'a row that the ordering lacks',
    make: ({ skus }) => skus.set({ id: 9, name: 'a', goods_id: 1 }),
    found: ['has 4 of 5 rows'],
  },
  {
    what: 'an id without a row in a list of several',
    make: ({ skus }) => skus.delete(2),
    found: ['has 2 under 2, where it does not belong', 'has 4 of 3 rows'],
  },
  {
    what: 'an id without a row in a list of one',
    make: ({ skus }) => skus.delete(1),
    found: ['has 1 under 1, where it does not belong', 'has 4 of 3 rows'],
  },
  {
    what: 'a row of a list of several that belongs in another list',
    make: ({ skus }) => skus.set({ id: 3, name: 'b', goods_id: 1 }),
    found: ['has 3 under 2, where it does not belong'],
  },
  {
    what: 'a row of a list of one that belongs in another list',
    make: ({ skus }) => skus.set({ id: 1, name: 'a', goods_id: 2 }),
    found: ['has 1 under 1, where it does not belong'],
  },
  {
    what: 'two rows in the wrong order',
    make: ({ skus }) => skus.set({ id: 2, name: 'z', goods_id: 2 }),
    found: ['has 3 after 2'],
  },
  {
    what: 'a row before two rows that share a smaller value',
    make: ({ skus }) => {
      skus.set({ id: 2, name: 'b', goods_id: 2 });
      skus.set({ id: 3, name: 'a', goods_id: 2 });
      skus.set({ id: 4, name: 'a', goods_id: 2 });
    },
    found: ['has 3 after 2'],
  },
  {
    what: 'equal values with their ids in the wrong order',
    make: ({ skus }, ordering) => {
      const last = { id: 2, name: 'd', goods_id: 2 };
      ordering.leave(skus.get(2) as Row);
      skus.set(last);
      ordering.enter(last);
      skus.set({ ...last, name: 'c' });
    },
    found: ['has 2 after 4'],
  },
  {
    what: 'an id that is in a list twice',
    make: ({ skus }, ordering) => ordering.enter(skus.get(3) as Row),
    found: ['has 3 after 3', 'has 5 of 4 rows'],
  },
  {
    what: 'an id that is in two lists',
    make: (_, ordering) => ordering.enter({ id: 3, name: 'b', goods_id: 7 }),
    found: ['has 3 under 7, where it does not belong', 'has 5 of 4 rows'],
  },
  {
    what: 'an id that was removed although its row exists',
    make: ({ skus }, ordering) => ordering.leave(skus.get(3) as Row),
    found: ['has 3 of 4 rows'],
  },
];

for (const { what, make, found } of CONTRADICTIONS) {
  test(`faults reports ${what}`, () => {
    const state = State.of([1, 'a', 1], [2, 'a', 2], [3, 'b', 2], [4, 'c', 2]);
    const ordering = state.order({ partition: 'goods_id', sortby: 'name', order: 'asc' });
    assert.equal(ordering.faults(state.skus), []);
    make(state, ordering);
    assert.equal(
      ordering.faults(state.skus),
      found.map((fault) => `the index of skus by goods_id and name ${fault}`),
    );
  });
}

test('faults checks descending orderings and orderings by a joined name', () => {
  const state = State.of([1, 'a', 2], [2, 'b', 1]);
  const descending = state.order({ partition: null, sortby: 'name', order: 'desc' });
  const joined = state.order({ partition: null, sortby: 'goods', order: 'asc' });
  assert.equal(
    [idsOf(descending), idsOf(joined)],
    [
      [2, 1],
      [2, 1],
    ],
  );
  assert.equal([...descending.faults(state.skus), ...joined.faults(state.skus)], []);
  state.skus.set({ id: 1, name: 'z', goods_id: 2 });
  assert.equal(descending.faults(state.skus), ['the index of skus by name has 1 after 2']);
  assert.equal(joined.faults(state.skus), []);
  state.goods.set({ id: 2, name: 'A' });
  assert.equal(joined.faults(state.skus), ['the index of skus by goods has 1 after 2']);
});

test.run();
