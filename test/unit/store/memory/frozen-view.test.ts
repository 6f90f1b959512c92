/** A view has the state as of its creation, whatever is committed while it is open. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { atOnce } from '../../../../src/slices.ts';
import { encodeChangeSet } from '../../../../src/store/files/change-set.ts';
import { ChunkRows } from '../../../../src/store/memory/chunk-rows.ts';
import { State } from '../../../../src/store/state.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import type { View } from '../../../../src/store/view.ts';
import { MemoryStore } from '../../../support/memory-store.ts';

const PARENTS = [null, 1, 2, 3];
const IDS = [1, 2, 3, 4, 5, 6, 7, 8];

const DESCRIPTIONS = { desc_detail: '', desc_pack: '', desc_service: '' };

/** What a view shows of the categories. */
function shown(view: View): unknown {
  return {
    rows: IDS.map((id) => view.get('categories', id)),
    children: PARENTS.map((parent) => [...view.matching('categories', 'parent_id', parent)]),
  };
}

function putCategory(tx: Transaction, id: number, parent_id: number | null): void {
  tx.put('categories', { id, name: `category ${id}`, parent_id });
}

const step = fc.record({
  id: fc.constantFrom(4, 5, 6, 7, 8),
  parent_id: fc.constantFrom(...PARENTS),
  deletes: fc.boolean(),
});

test('a view keeps the rows and look-ups by value of its creation during later commits', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 12 }), (a, b) => {
      const store = new MemoryStore();
      const run = ({ id, parent_id, deletes }: (typeof a)[number]) =>
        store.commit([
          (tx) => {
            if (!deletes) putCategory(tx, id, parent_id);
            else if (tx.get('categories', id) !== undefined) tx.delete('categories', id);
          },
        ]);
      store.commit([(tx) => [1, 2, 3].forEach((id) => putCategory(tx, id, null))]);
      for (const each of a) run(each);
      const view = store.freeze();
      const before = shown(store);
      for (const each of b) {
        run(each);
        assert.equal(shown(view), before);
      }
      view.close();
    }),
  );
});

test('a look-up reads each row when its id is taken, whatever is committed until then', () => {
  const store = new MemoryStore();
  const children = Array.from({ length: 100 }, (_, nth) => nth + 3);
  store.commit([
    (tx) => {
      for (const id of [1, 2]) putCategory(tx, id, null);
      for (const id of children) putCategory(tx, id, 1);
    },
  ]);
  const view = store.freeze();
  const { peek } = ChunkRows.prototype;
  let read = 0;
  ChunkRows.prototype.peek = function (at) {
    read += 1;
    return peek.call(this, at);
  };
  try {
    const ids = Iterator.from(view.matching('categories', 'parent_id', 1));
    const { value: first } = ids.next();
    assert.is(read, 1);
    store.commit([(tx) => children.forEach((id) => putCategory(tx, id, 2))]);
    assert.equal([first, ...ids], children);
  } finally {
    ChunkRows.prototype.peek = peek;
    view.close();
  }
});

/** Applies a change set, planned or row by row. */
function apply(
  state: State,
  content: Partial<Parameters<typeof encodeChangeSet>[0]>,
  isPlanned: boolean,
): void {
  const { changeSet } = encodeChangeSet({
    sequence: state.sequence + 1,
    previous: state.digest,
    time: '2024-02-29T00:00:00.000Z',
    last_ids: {},
    put: {},
    delete: {},
    ...content,
  });
  state.apply(changeSet, isPlanned ? atOnce(state.plan(changeSet)) : undefined);
}

/** Applies a change set of categories. */
function move(
  state: State,
  put: readonly (readonly [id: number, parent_id: number | null])[],
  deleted: readonly number[],
  isPlanned: boolean,
): void {
  const categories = put.map(([id, parent_id]) => ({ id, name: `category ${id}`, parent_id }));
  apply(state, { put: { categories }, delete: { categories: deleted } }, isPlanned);
}

test('the last ids of a view are those of its creation', () => {
  const state = State.empty();
  const put = (id: number) => {
    const categories = [{ id, name: 'category', parent_id: null }];
    apply(state, { last_ids: { categories: id }, put: { categories } }, false);
  };
  put(1);
  const view = state.freeze();
  put(2);
  assert.is(state.lastId('categories'), 2);
  assert.is(view.lastId('categories'), 1);
  view.close();
});

test('a view is told of the commits while it is open, and of none after it was closed', () => {
  const state = State.empty();
  const view = state.freeze();
  let commits = 0;
  view.keep = () => {
    commits += 1;
  };
  move(state, [[1, null]], [], false);
  move(state, [[2, null]], [], true);
  view.close();
  move(state, [[3, null]], [], false);
  move(state, [[4, null]], [], true);
  assert.is(commits, 2);
});

test('a view does not keep the versions of a row that were made after its creation', () => {
  const state = State.empty();
  move(state, [[1, null]], [], false);
  const view = state.freeze();
  const passing: WeakRef<object>[] = [];
  for (let round = 0; round < 500; round += 1) {
    move(
      state,
      [
        [1, null],
        [round + 2, 1],
      ],
      [],
      false,
    );
    for (const id of [1, round + 2]) {
      const row = state.get('categories', id);
      if (row !== undefined) passing.push(new WeakRef(row));
    }
    move(state, [], [round + 2], false);
  }
  Bun.gc(true);
  const kept = passing.filter((row) => row.deref() !== undefined).length;
  // The garbage collector may find some on the stack.
  assert.ok(kept < passing.length / 10, `${kept} of ${passing.length} rows are kept`);
  assert.equal([...view.matching('categories', 'parent_id', null)], [1]);
  view.close();
});

test('a view keeps the lists of its creation when commits of many rows replace them', () => {
  const state = State.empty();
  const ids = Array.from({ length: 3000 }, (_, index) => index + 4);
  const children = ids.map((id) => [id, (id % 3) + 1] as const);
  move(state, [[1, null], [2, null], [3, null], ...children], [], true);
  const view = state.freeze();
  const shownOf = (of: View) =>
    PARENTS.map((parent) => [...of.matching('categories', 'parent_id', parent)]);
  const before = shownOf(state);
  for (const isPlanned of [true, false, true]) {
    const moved = ids.filter((id) => id % 2 === 0).map((id) => [id, (id % 2) + 2] as const);
    const gone = ids.filter((id) => id % 5 === 0 && id % 2 === 1 && state.get('categories', id));
    move(state, moved, gone.slice(0, 200), isPlanned);
    assert.equal(shownOf(view), before, 'as soon as they are replaced');
    for (const [position, parent] of PARENTS.entries()) {
      const now = [...state.matching('categories', 'parent_id', parent)];
      const expected = [...state.rows.categories.values()].filter((r) => r['parent_id'] === parent);
      assert.equal(
        now,
        expected.map(({ id }) => id),
        `parent ${parent}, ${position}`,
      );
    }
    assert.equal(state.indexFaults(), []);
    assert.is(state.settled, !isPlanned);
    atOnce(state.settle());
    assert.ok(state.settled);
    assert.equal(shownOf(view), before, 'and later');
    assert.equal(state.indexFaults(), []);
  }
  view.close();
});

test('a view has the look-ups of its creation if an index was not built before a commit of many rows', () => {
  for (const isPlanned of [false, true]) {
    const state = State.empty();
    const children = [4, 5, 6].map((id) => [id, 1] as const);
    // Without a plan, rows are put before any index is needed.
    move(state, [[1, null], ...children], [], false);
    const view = state.freeze();
    move(state, [[6, null]], [5], isPlanned);
    assert.equal([...view.matching('categories', 'parent_id', 1)], [4, 5, 6], String(isPlanned));
    view.close();
  }
});

test('a view has the look-ups of its creation if only some of the indexes were built before a commit of many rows', () => {
  const state = State.empty();
  const put = (brand_id: number, category1_id: number, isPlanned: boolean) => {
    const references = { brand_id, category1_id, category2_id: 2, category3_id: 3 };
    const row = { id: 1, name: 'SPU', ...references, sales: 0, comments: 0, ...DESCRIPTIONS };
    apply(state, { put: { goods: [row] } }, isPlanned);
  };
  put(1, 1, false);
  assert.equal([...state.index('goods', 'brand_id', 1)], [1]);
  const view = state.freeze();
  put(2, 4, true);
  assert.equal([...view.matching('goods', 'brand_id', 1)], [1]);
  assert.equal([...view.matching('goods', 'category1_id', 1)], [1]);
  assert.equal([...view.matching('goods', 'category1_id', 4)], []);
  view.close();
});

test.run();
