/** A table of rows by id behaves like a plain map, and a snapshot of it never changes. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { ChunkRows } from '../../../../src/store/memory/chunk-rows.ts';
import { type RowSnapshot, RowTable } from '../../../../src/store/memory/row-table.ts';

/** Ids in one chunk, at the border of two chunks, and far apart. */
const id = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 4, arbitrary: fc.constantFrom(1022, 1023, 1024, 1025, 2047, 2048, 2049) },
  { weight: 1, arbitrary: fc.constantFrom(10 ** 6, 2 ** 32, 2 ** 32 + 1, 2 ** 33 + 1) },
  { weight: 1, arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER) },
);

type Step =
  | { readonly act: 'set'; readonly id: number }
  | { readonly act: 'delete'; readonly id: number }
  | { readonly act: 'snapshot' }
  /** Reads some more rows of a snapshot, as a checkpoint does between two commits. */
  | { readonly act: 'read'; readonly which: number; readonly count: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant<'set'>('set'), id }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant<'delete'>('delete'), id }) },
  { weight: 2, arbitrary: fc.constant<Step>({ act: 'snapshot' }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant<'read'>('read'), which: fc.nat(), count: fc.nat(4) }),
  },
);

/** The rows of a map by ascending id. */
const inOrder = (rows: ReadonlyMap<number, Row>) => [...rows.values()].sort((a, b) => a.id - b.id);

interface Taken {
  readonly snapshot: RowSnapshot;
  readonly wanted: readonly Row[];
  readonly reading: Iterator<Row>;
  readonly read: Row[];
}

function readOn({ reading, read }: Taken, count: number): void {
  for (let nth = 0; nth < count; nth += 1) {
    const { done, value } = reading.next();
    if (done === true) return;
    read.push(value);
  }
}

test('a table has the rows of a map, and every snapshot those that the map had then', () => {
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.array(step, { maxLength: 60 }), (start, steps) => {
      const plain = new Map<number, Row>(start.map((one) => [one, { id: one, version: -1 }]));
      const table = new RowTable(plain.values());
      const taken: Taken[] = [];
      for (const [version, one] of steps.entries()) {
        if (one.act === 'set') {
          const row = { id: one.id, version };
          plain.set(one.id, row);
          table.set(row);
        } else if (one.act === 'delete') {
          plain.delete(one.id);
          table.delete(one.id);
        } else if (one.act === 'snapshot') {
          const snapshot = table.snapshot();
          const reading = snapshot[Symbol.iterator]();
          taken.push({ snapshot, wanted: inOrder(plain), reading, read: [] });
        } else {
          const chosen = taken[one.which % Math.max(taken.length, 1)];
          if (chosen !== undefined) readOn(chosen, one.count);
        }
        assert.is(table.size, plain.size);
        if ('id' in one) assert.is(table.get(one.id), plain.get(one.id));
      }
      assert.equal([...table.values()], inOrder(plain));
      for (const row of plain.values()) assert.is(table.get(row.id), row);
      for (const from of [1, 1025, ...start, ...start.map((one) => one + 1)]) {
        const first = inOrder(plain).find((row) => row.id >= from);
        assert.is(table.firstId(from), first?.id, `the first from ${from} on`);
      }
      for (const one of taken) {
        readOn(one, Number.POSITIVE_INFINITY);
        assert.equal(one.read, one.wanted);
        // Read once more from its beginning.
        assert.equal([...one.snapshot], one.wanted);
        const parts = [...one.snapshot.chunks()];
        assert.equal(
          parts.flatMap(({ rows }) => [...rows.written()]),
          one.wanted,
        );
        assert.is(
          parts.reduce((sum, { size }) => sum + size, 0),
          one.wanted.length,
        );
      }
    }),
    { numRuns: 500 },
  );
});

test('rows that are added in any order are read by ascending id, in chunks of 1024 ids', () => {
  const size = 5000;
  // The two numbers have no common divisor, so every id is visited once.
  const shuffled = Array.from({ length: size }, (_, i) => ((i * 2347) % size) + 1);
  const table = new RowTable(shuffled.map((one) => ({ id: one })));
  const ascending = Array.from({ length: size }, (_, i) => i + 1);
  assert.is(table.size, size);
  assert.equal(
    [...table.values()].map((row) => row.id),
    ascending,
  );
  const snapshot = table.snapshot();
  assert.equal(
    Array.from(snapshot.chunks(), ({ number, size: count }) => [number, count]),
    [
      [0, 1023],
      [1, 1024],
      [2, 1024],
      [3, 1024],
      [4, 905],
    ],
  );
  for (const one of shuffled) table.delete(one);
  assert.is(table.size, 0);
  assert.equal([...table.values()], []);
  assert.equal(
    [...snapshot].map((row) => row.id),
    ascending,
  );
});

test('the ids of a table are those of its rows, ascending, in every slice and both directions', () => {
  // Chunks without a gap, whose places are computed, and chunks whose rows are counted.
  const block = fc.record({
    chunk: fc.nat(3),
    first: fc.constantFrom(0, 0, 5),
    rows: fc.constantFrom(1, 2, 7, 1024),
  });
  const choices = fc.record({
    blocks: fc.array(block, { maxLength: 4 }),
    deleted: fc.array(fc.nat(4 * 1024), { maxLength: 8 }),
    offset: fc.oneof(fc.nat(12), fc.nat(4 * 1024)),
    count: fc.oneof(fc.nat(12), fc.nat(4 * 1024)),
  });
  fc.assert(
    fc.property(choices, ({ blocks, deleted, offset, count }) => {
      const plain = new Set<number>();
      for (const { chunk, first, rows } of blocks) {
        for (let at = first; at < Math.min(first + rows, 1024); at += 1)
          plain.add(1024 * chunk + at);
      }
      plain.delete(0);
      const table = new RowTable(Array.from(plain, (one) => ({ id: one })));
      const before = [...plain].toSorted((a, b) => a - b);
      const { ids } = table;
      const [ascending, descending] = [ids.snapshot(), ids.snapshot(true)];
      for (const one of deleted) {
        plain.delete(one);
        table.delete(one);
      }
      const wanted = [...plain].toSorted((a, b) => a - b);
      assert.is(ids.length, wanted.length);
      assert.is(ids.last, wanted.at(-1));
      assert.equal(ids.values(), wanted);
      assert.equal(ids.slice(offset, count), wanted.slice(offset, offset + count));
      assert.equal([...ids.chunks(false)].flat(), wanted);
      assert.equal([...ids.chunks(true)].flat(), wanted.toReversed());
      // What was shared before shows no later deletion.
      assert.equal([...ascending], before);
      assert.equal([...descending], before.toReversed());
    }),
    { numRuns: 200 },
  );
});

test('if two rows have the same id, the later one is kept and counted once', () => {
  const table = new RowTable([
    { id: 5, name: 'first' },
    { id: 5, name: 'second' },
  ]);
  assert.is(table.size, 1);
  assert.equal(table.get(5), { id: 5, name: 'second' });
});

test('a chunk is copied once for each snapshot, and only if the snapshot has it', () => {
  const { copy } = ChunkRows.prototype;
  let copies = 0;
  ChunkRows.prototype.copy = function (this: ChunkRows) {
    copies += 1;
    return copy.call(this);
  };
  /** How many copies two writes make. */
  const copiesOf = (
    write: (table: RowTable, one: number) => void,
    table: RowTable,
    first: number,
  ) => {
    copies = 0;
    for (const one of [first, first + 1]) write(table, one);
    return copies;
  };
  const set = (table: RowTable, one: number) => table.set({ id: one });
  try {
    const table = new RowTable([{ id: 1 }]);
    assert.is(copiesOf(set, table, 1), 0);
    table.snapshot();
    assert.is(copiesOf(set, table, 1), 1);
    assert.is(copiesOf(set, table, 1024), 0, 'the chunk is newer than the snapshot');
    const planned = table.plan();
    planned.set(3000, { id: 3000 });
    table.adopt(planned);
    assert.is(copiesOf(set, table, 3000), 0, 'this one too');
    table.snapshot();
    assert.is(
      copiesOf((each, one) => each.delete(one), table, 1),
      1,
    );
  } finally {
    ChunkRows.prototype.copy = copy;
  }
});

test('a value that is not an id has no row, and deleting it changes nothing', () => {
  const table = new RowTable([{ id: 1 }, { id: 1024 }]);
  for (const none of [0, -1, 1.5, 2, 1025, 2 ** 32 + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.is(table.get(none), undefined, `${none}`);
    table.delete(none);
  }
  for (const none of [null, '1', '', true, false]) {
    for (const rows of [table, table.snapshot()]) {
      assert.equal([rows.get(none), rows.peek(none)], [undefined, undefined]);
    }
    assert.is(table.plan().get(none), undefined);
  }
  assert.is(table.size, 2);
  assert.equal([...table.values()], [{ id: 1 }, { id: 1024 }]);
});

test('the last id is that of a row that is there, if later chunks have lost all their rows', () => {
  const rows = [1, 1024, 2048].map((one) => ({ id: one }));
  const table = new RowTable(rows);
  assert.is(table.ids.last, 2048);
  table.delete(2048);
  assert.is(table.ids.last, 1024);
  const plan = table.plan();
  plan.set(1024, null);
  table.adopt(plan);
  assert.is(table.ids.last, 1);
});

test.run();
