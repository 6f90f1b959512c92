/** A table of rows that are text behaves like a table of rows, and parses only what it must. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import type { Row, Scalar } from '../../../../src/model/kind.ts';
import { parserOf } from '../../../../src/store/files/base/row-line.ts';
import { ChunkRows } from '../../../../src/store/memory/chunk-rows.ts';
import { type Columns, RowTable } from '../../../../src/store/memory/row-table.ts';
import { TextChunk, TextTable } from '../../../../src/store/memory/text-table.ts';
import { textTableOf } from '../../../support/text-rows.ts';

const ATTRIBUTES = ['name', 'spu_id', 'on'] as const;

/** Values that end like others, contain row separators, or are too long to stay text. */
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('"spu_id":7,', '\\', '"', '},\n{"id":9}', 'é中😀', 'x'.repeat(1100)),
);

const rows = fc
  .uniqueArray(
    fc.record(
      {
        id: fc.oneof(
          fc.integer({ min: 1, max: 30 }),
          fc.constantFrom(1022, 1023, 1024, 1025, 2048, 4097, 2 ** 33),
        ),
        name: scalar,
        spu_id: scalar,
        on: scalar,
      },
      { requiredKeys: ['id'] },
    ),
    { selector: ({ id }) => id, maxLength: 12 },
  )
  .map((some) => some.map((row): Row => ({ ...row })).sort((a, b) => a.id - b.id));

/** @param cuts after which rows the next one is in another buffer. */
function tableOf(given: readonly Row[], cuts: readonly number[] = []): RowTable {
  const table = new TextTable(parserOf('base', 'skus'));
  let start = 0;
  const lines = given.map((row) => Buffer.from(`${JSON.stringify(row)},\n`));
  for (const end of [...cuts, given.length]) {
    const bytes = Buffer.concat(lines.slice(start, end));
    let at = 0;
    for (let index = start; index < end; index += 1) {
      const length = lines[index]?.length ?? 0;
      table.add(given[index]?.id ?? 0, bytes, at, at + length - 2);
      at += length;
    }
    start = Math.max(start, end);
  }
  return table.end();
}

type Step =
  | { readonly act: 'get' | 'delete' | 'set'; readonly which: number }
  | { readonly act: 'snapshot' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constantFrom('get', 'delete', 'set'), which: fc.nat() }),
  fc.record({ act: fc.constant<'snapshot'>('snapshot') }),
);

const columnOf = (some: Iterable<Row>, attribute: string) =>
  Array.from(some, (row) => [row.id, row[attribute] ?? null]);

const columnIn = (table: Columns, attribute: string) =>
  [...table.columns(attribute)].flatMap(({ ids, values }) =>
    ids.map((id, index) => [id, values[index]]),
  );

test('a table of text equals a table of the same rows, whatever is read and changed', () => {
  fc.assert(
    fc.property(rows, fc.array(fc.nat(12)), fc.array(step), (given, places, steps) => {
      const cuts = places.filter((at) => at <= given.length).sort((a, b) => a - b);
      const texts = tableOf(given, cuts);
      const plain = new RowTable(structuredClone(given));
      const taken = [[texts.snapshot(), plain.snapshot()] as const];
      for (const [version, one] of steps.entries()) {
        if (one.act === 'snapshot') {
          taken.push([texts.snapshot(), plain.snapshot()]);
          continue;
        }
        const id = given[one.which % Math.max(given.length, 1)]?.id ?? 1;
        if (one.act === 'get') assert.equal(texts.get(id), plain.get(id));
        for (const table of [texts, plain]) {
          if (one.act === 'delete') table.delete(id);
          if (one.act === 'set') table.set({ id, name: `v${version}` });
        }
        assert.is(texts.size, plain.size);
      }
      for (const [text, wanted] of [...taken, [texts, plain] as const]) {
        const all = 'values' in wanted ? [...wanted.values()] : [...wanted];
        assert.equal('values' in text ? [...text.values()] : [...text], all);
        for (const attribute of ATTRIBUTES) {
          assert.equal(columnIn(text, attribute), columnOf(all, attribute));
        }
        for (const row of all) assert.equal(text.get(row.id), row);
      }
      assert.equal(texts.ids.values(), plain.ids.values());
      assert.is(texts.ids.last, plain.ids.last);
    }),
    { numRuns: 1000 },
  );
});

test('a look-up by value in text that the store wrote finds the same ids as in rows', () => {
  fc.assert(
    fc.property(rows, fc.array(step), (given, steps) => {
      const texts = textTableOf('skus', given);
      const plain = new RowTable(structuredClone(given));
      const values = new Set(given.flatMap((row) => ATTRIBUTES.map((name) => row[name] ?? null)));
      for (const one of [...steps, { act: 'snapshot' } as const]) {
        const id = 'which' in one ? (given[one.which % Math.max(given.length, 1)]?.id ?? 1) : 1;
        if (one.act === 'get') texts.get(id);
        for (const table of [texts, plain]) {
          if (one.act === 'delete') table.delete(id);
          if (one.act === 'set') table.set({ id, name: given[0]?.['name'] ?? null });
        }
      }
      const all = [...plain.values()];
      for (const attribute of ATTRIBUTES) {
        for (const value of [...values, 'no row has this', 4711]) {
          if (value === null) continue;
          const wanted = all.filter((row) => row[attribute] === value).map(({ id }) => id);
          assert.equal(texts.idsWith(attribute, value), wanted);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test('a chunk has the text of its rows until one is changed or deleted', () => {
  const three = [1, 2, 3].map((id) => ({ id, name: 'a' }));
  const text = three.map((row) => JSON.stringify(row)).join(',\n');
  const chunk = () => {
    const made = new TextChunk(0, parserOf('base', 'skus'), true);
    for (const row of three) {
      const bytes = Buffer.from(JSON.stringify(row));
      made.add(row.id, bytes, 0, bytes.length);
    }
    return new ChunkRows(0, made.end());
  };
  const read = chunk();
  read.get(2);
  assert.is(read.text?.toString(), text);
  const changed = chunk();
  changed.set(2, { id: 2, name: 'b' });
  assert.is(changed.text, null);
  const without = chunk();
  without.set(3, undefined);
  assert.is(without.text, null);
  assert.is(without.copy().text, null, 'a copy has not forgotten what was deleted');
});

test('a chunk is written as its current rows, whichever of them are text', () => {
  const action = fc.record({
    kind: fc.constantFrom('read', 'change', 'remove', 'copy'),
    at: fc.nat(14),
  });
  fc.assert(
    fc.property(rows, fc.array(action, { maxLength: 12 }), (given, actions) => {
      const own = given.filter(({ id }) => id < 1024);
      const made = new TextChunk(0, parserOf('base', 'skus'), true);
      for (const row of own) {
        const bytes = Buffer.from(JSON.stringify(row));
        made.add(row.id, bytes, 0, bytes.length);
      }
      let chunk = new ChunkRows(0, made.end());
      const expected = new Map(own.map((row) => [row.id, row]));
      for (const { kind, at } of actions) {
        const id = own[at % Math.max(own.length, 1)]?.id ?? 5;
        if (kind === 'read') chunk.get(id);
        else if (kind === 'copy') chunk = chunk.copy();
        else if (kind === 'change') {
          const row = { id, name: 'changed' };
          chunk.set(id, row);
          expected.set(id, row);
        } else if (chunk.has(id)) {
          chunk.set(id, undefined);
          expected.delete(id);
        }
      }
      const texts = [...chunk.written()].map((part) =>
        Buffer.isBuffer(part) ? part.toString('utf8') : JSON.stringify(part),
      );
      const ascending = [...expected.values()].sort((a, b) => a.id - b.id);
      assert.is(texts.join(',\n'), ascending.map((row) => JSON.stringify(row)).join(',\n'));
    }),
    { numRuns: 1000 },
  );
});

test('rows that were not read are written as text, many in one part of at most 34 KiB', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({
    id: index + 1,
    name: 'a'.repeat(200),
  }));
  const chunk = [...textTableOf('skus', many).snapshot().chunks()][0]?.rows;
  if (!(chunk instanceof ChunkRows)) throw new Error('there is no chunk');
  chunk.set(500, { id: 500, name: 'b' });
  const parts = [...chunk.written()];
  assert.equal(
    parts.filter((part) => !Buffer.isBuffer(part)),
    [{ id: 500, name: 'b' }],
  );
  const lengths = parts.flatMap((part) => (Buffer.isBuffer(part) ? [part.length] : []));
  assert.ok(lengths.length < 10, `${lengths.length} texts`);
  assert.ok(Math.max(...lengths) <= 34 * 1024, 'none is too long for one slice');
});

test('text whose layout may not be ours is not copied: its rows are written anew', () => {
  const table = new TextTable(parserOf('base', 'skus'));
  const text = Buffer.from('{ "id": 1, "name": "a" }');
  table.add(1, text, 0, text.length);
  const [chunk] = table.end().snapshot().chunks();
  assert.equal([...(chunk?.rows.written() ?? [])], [{ id: 1, name: 'a' }]);
  assert.is(chunk?.rows.text, null);
});

test('a look-up by value finds no number within a longer one and no text within another', () => {
  const texts = textTableOf('skus', [
    { id: 1, name: '"spu_id":7', spu_id: 77 },
    { id: 2, name: 'spu_id', spu_id: 7 },
    { id: 3, name: 'spu_id":7', spu_id: 0.7 },
  ]);
  assert.equal(texts.idsWith('spu_id', 7), [2]);
  assert.equal(texts.idsWith('name', 'spu_id'), [2]);
});

test('a look-up by value returns null for text that the store may not have written', () => {
  assert.is(tableOf([{ id: 1, name: 'a' }]).idsWith('name', 'a'), null);
});

test('of two members of a row with the same name, the last one counts in a column as well', () => {
  const lines = ['"spu_id":7', '"spu_id":7,"name":"b","spu_id":8', '"spu_id":9,"spu_id":null'];
  const texts = lines.map((members, index) => `{"id":${index + 1},${members}}`);
  const bytes = Buffer.from(texts.join(',\n'));
  const made = new TextTable(parserOf('base', 'skus'));
  for (const [index, text] of texts.entries()) {
    const start = bytes.indexOf(text);
    made.add(index + 1, bytes, start, start + text.length);
  }
  const table = made.end();
  const column = [
    [1, 7],
    [2, 8],
    [3, null],
  ];
  assert.equal(columnIn(table, 'spu_id'), column);
  assert.equal(columnOf(table.values(), 'spu_id'), column);
});

test('a row that was read by id is the same object in all later reads', () => {
  const table = tableOf([
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ]);
  const first = table.get(1);
  assert.is(table.get(1), first);
  assert.is([...table.values()][0], first);
  assert.is(table.snapshot().get(1), first);
});

test('when half of the rows of a chunk were read by id, all of its rows are kept as objects', () => {
  const table = tableOf([1, 2, 3, 4].map((id) => ({ id, name: `${id}` })));
  const kept = () => {
    const again = [...table.values()];
    return [...table.values()].filter((row, index) => row === again[index]).map(({ id }) => id);
  };
  table.get(2);
  assert.equal(kept(), [2]);
  table.get(4);
  assert.equal(kept(), [1, 2, 3, 4]);
});

/** Rows with texts of a length in one chunk, and how many texts were parsed at each time. */
function measured(count: number, length: number) {
  const parsed: number[] = [];
  const table = new TextTable({
    row: (text) => {
      parsed.push(1);
      return JSON.parse(text) as Row;
    },
    rows: (texts) => {
      const all = JSON.parse(`[${texts}]`) as Row[];
      parsed.push(all.length);
      return all;
    },
  });
  for (let id = 1; id <= count; id += 1) {
    const frame = JSON.stringify({ id, name: '' });
    const text = JSON.stringify({ id, name: 'x'.repeat(length - frame.length) });
    table.add(id, Buffer.from(text), 0, length);
  }
  return { table, parsed };
}

test('a row of more than 1 KiB is parsed when it is added, and a shorter one is not', () => {
  assert.equal(measured(3, 1024).parsed, []);
  assert.equal(measured(3, 1025).parsed, [1, 1, 1]);
});

test('the rows of a chunk are parsed together, but not more than 512 KiB of them', () => {
  for (const [length, together] of [
    [500, [1000]],
    [600, Array.from({ length: 1000 }, () => 1)],
  ] as const) {
    const { table, parsed } = measured(1000, length);
    assert.is([...table.end().values()].length, 1000);
    assert.equal(parsed, together);
  }
});

test('reading all rows keeps none of them as objects', () => {
  const table = tableOf([
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ]);
  const [seen] = table.values();
  assert.equal(seen, { id: 1, name: 'a' });
  assert.is.not([...table.values()][0], seen);
});

for (const [what, text] of [
  ['is not JSON', '{"id":2,"name":2 2}'],
  ['has a second id', '{"id":2,"id":3}'],
  ['has another one in its line', '{"id":2},{"id":3}'],
] as const) {
  test(`a row that ${what} is reported as damage, and the other rows can be read`, () => {
    const one = '{"id":1,"name":"a"}';
    const bytes = Buffer.from(`${one},\n${text}`);
    const made = new TextTable(parserOf('base', 'skus'));
    // One row is read before the damaged one.
    made.add(1, bytes, 0, one.length);
    made.add(2, bytes, one.length + 2, bytes.length);
    const table = made.end();
    assert.equal(table.get(1), { id: 1, name: 'a' });
    for (const read of [() => table.get(2), () => [...table.values()]]) {
      assert.throws(
        read,
        (error: unknown) =>
          error instanceof CatalogError &&
          error.code === 'store_damaged' &&
          error.message.startsWith('base is damaged: row 2 of skus'),
      );
    }
  });
}

test.run();
