/** A chunk of a table, of which some rows are text: what a call gives, and what it leaves text. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { parserOf } from '../../../../src/store/files/base/row-line.ts';
import {
  ChunkRows,
  type LocatedRows,
  type RowTexts,
  type SealedRows,
} from '../../../../src/store/memory/chunk-rows.ts';
import { indexOfValue, valueText } from '../../../../src/store/memory/plain-value.ts';
import { TextChunk } from '../../../../src/store/memory/text-table.ts';

const ROWS: readonly Row[] = [
  { id: 1, name: 'a' },
  { id: 2, name: 'b' },
  { id: 5, name: 'a' },
];

const TEXT = ROWS.map((row) => JSON.stringify(row)).join(',\n');

function open(): LocatedRows {
  const chunk = new TextChunk(0, parserOf('base', 'skus'), true);
  const bytes = Buffer.from(TEXT);
  for (const row of ROWS) {
    const text = JSON.stringify(row);
    const start = TEXT.indexOf(text);
    chunk.add(row.id, bytes, start, start + text.length);
  }
  return chunk.end();
}

class Sealed implements SealedRows {
  readonly bytes = Buffer.from(TEXT);
  opened = 0;

  includes(text: Buffer): boolean {
    return indexOfValue(this.bytes, text) >= 0;
  }

  open(): LocatedRows {
    this.opened += 1;
    return open();
  }
}

const written = (chunk: ChunkRows) =>
  Array.from(chunk.written(), (part) =>
    Buffer.isBuffer(part) ? part.toString() : JSON.stringify(part),
  ).join(',\n');

const idsWith = (chunk: ChunkRows, name: string) =>
  chunk.idsWith('name', name, valueText('name', name));

const CALLS: readonly (readonly [
  name: string,
  call: (chunk: ChunkRows) => unknown,
  result: unknown,
])[] = [
  ['length', (chunk) => chunk.length, 6],
  ['has', (chunk) => chunk.has(2), true],
  ['has, without a row', (chunk) => chunk.has(3), false],
  ['get', (chunk) => chunk.get(2), ROWS[1]],
  ['get, without a row', (chunk) => chunk.get(3), undefined],
  ['peek', (chunk) => chunk.peek(2), ROWS[1]],
  ['peek, without a row', (chunk) => chunk.peek(3), undefined],
  ['text', (chunk) => chunk.text?.toString(), TEXT],
  ['ids', (chunk) => chunk.ids(), [1, 2, 5]],
  ['lastId', (chunk) => chunk.lastId, 5],
  ['idsWith', (chunk) => idsWith(chunk, 'a'), [1, 5]],
  ['idsWith, without such a row', (chunk) => idsWith(chunk, 'c'), []],
  ['column', (chunk) => chunk.column('name'), { ids: [1, 2, 5], values: ['a', 'b', 'a'] }],
  ['column of ids', (chunk) => chunk.column(null), { ids: [1, 2, 5], values: [] }],
  ['values', (chunk) => [...chunk.values()], ROWS],
  ['written', written, TEXT],
  ['copy', (chunk) => [...chunk.copy().values()], ROWS],
  [
    'set',
    (chunk) => {
      chunk.set(2, undefined);
      return chunk.ids();
    },
    [1, 5],
  ],
];

for (const [name, call, result] of CALLS) {
  test(`the first call of a sealed chunk gives what an open one gives: ${name}`, () => {
    const sealed = new ChunkRows(0, new Sealed());
    assert.equal(call(sealed), result);
    assert.equal(call(new ChunkRows(0, open())), result);
    assert.equal(sealed.get(5), ROWS[2], 'and it is open from then on, or opens later');
  });
}

test('a sealed chunk is opened once, and not for its text or a value that its text lacks', () => {
  const rows = new Sealed();
  const chunk = new ChunkRows(0, rows);
  assert.is(chunk.text?.toString(), TEXT);
  assert.equal(idsWith(chunk, 'c'), []);
  assert.is(rows.opened, 0);
  for (const [, call] of CALLS) call(chunk);
  assert.is(rows.opened, 1);
});

test('a peek leaves a row text, and gives the object of a row that was read', () => {
  const chunk = new ChunkRows(0, open());
  assert.is.not(chunk.peek(1), chunk.peek(1));
  const row = chunk.get(1);
  assert.is(chunk.peek(1), row);
});

test('the text is let go when the last of its rows was read', () => {
  const chunk = new ChunkRows(0, open());
  chunk.get(1);
  assert.is(chunk.text?.toString(), TEXT);
  // More than half of the rows: the others are read as well.
  chunk.get(2);
  assert.is(chunk.text, null);
  assert.is(chunk.peek(5), chunk.peek(5));
});

test('a chunk without text has none to be written', () => {
  const chunk = new ChunkRows(0);
  assert.is(chunk.text, null);
  assert.is(chunk.lastId, undefined);
  chunk.set(2, { id: 2 });
  assert.is(chunk.text, null);
  assert.is(written(chunk), '{"id":2}');
});

test('the copy of a chunk to which a row was added does not pass for its text', () => {
  const chunk = new ChunkRows(0, open());
  chunk.set(3, { id: 3, name: 'c' });
  assert.is(chunk.copy().text, null);
  assert.equal(chunk.copy().ids(), [1, 2, 3, 5]);
  assert.is(new ChunkRows(0, open()).copy().text?.toString(), TEXT);
});

/** Two rows whose texts are read together as something else. */
function readTogetherAs(rows: Row[] | null): ChunkRows {
  const texts: RowTexts = {
    count: 2,
    ours: null,
    read: (_, id) => ({ id, name: 'alone' }),
    endOf: (start) => start,
    readAll: () => rows,
    values: () => null,
    startsWith: () => null,
  };
  return new ChunkRows(0, { places: [undefined, 0, 10], texts, unread: 2 });
}

test('rows that cannot be read together, or are others than those of their places, are read one by one', () => {
  const alone = [1, 2].map((id) => ({ id, name: 'alone' }));
  const wrong = [{ id: 2 }, { id: 1 }];
  const counts = [[{ id: 1 }], [{ id: 1 }, { id: 2 }, { id: 3 }]];
  for (const together of [null, wrong, [{ id: 1 }, { id: 3 }], ...counts]) {
    assert.equal([...readTogetherAs(together).values()], alone);
    assert.equal(readTogetherAs(together).column('name').values, ['alone', 'alone']);
  }
  for (const together of [wrong, ...counts]) {
    const chunk = readTogetherAs(together);
    chunk.get(1);
    assert.equal(chunk.get(2), { id: 2, name: 'alone' });
    assert.equal([...chunk.values()], alone);
  }
});

test.run();
