/** The outline of a base changes how fast the base is read, and nothing else. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../../src/data-files.ts';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { KIND_NAMES, type Row } from '../../../../src/model/kind.ts';
import { perKind } from '../../../../src/model/per-kind.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import { BaseReader } from '../../../../src/store/files/base/base-reader.ts';
import {
  type ChunkOutline,
  type Outline,
  readOutline,
  writeOutline,
} from '../../../../src/store/files/base/outline.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { createStore } from '../../../../src/store/files/create.ts';
import { CHECKSUM_LENGTH, checksumMember } from '../../../../src/json/checksum.ts';
import { RowTable } from '../../../../src/store/memory/row-table.ts';
import type { Snapshot, State } from '../../../../src/store/state.ts';
import {
  aSnapshot,
  bytesOf,
  cut,
  lengths,
  partsOf,
  readable,
  rowsIn,
} from '../../../support/bases.ts';
import { findingsOf, leftInDisorder, openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { textTableOf } from '../../../support/text-rows.ts';

function outlineOf(snapshot: Snapshot): Outline {
  const slices = baseSlices(snapshot);
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
  }
}

/** The state that a reader with an outline reads from a file in pieces. */
function stateOf(bytes: Buffer, outline: Outline, pieces: readonly number[]): State {
  const reader = new BaseReader('base', outline);
  for (const piece of cut(bytes, pieces)) reader.write(piece);
  return reader.end().state;
}

const aWhole = (rows: Partial<Record<string, readonly Row[]>>): Snapshot => ({
  sequence: 1,
  digest: 'a'.repeat(64),
  time: null,
  lastIds: perKind(() => 9000),
  rows: perKind(({ name }) => partsOf(rows[name] ?? [])),
});

const books = (ids: readonly number[], name = 'A book'): Row[] => ids.map((id) => ({ id, name }));

const HUNDRED = Array.from({ length: 100 }, (_, at) => at + 1);

test('a base in pieces of any length is read with its outline as it was written', () => {
  fc.assert(
    fc.property(aSnapshot, lengths, (snapshot, pieces) => {
      const state = stateOf(bytesOf(snapshot), outlineOf(snapshot), pieces);
      for (const kind of KIND_NAMES) {
        const rows = rowsIn(snapshot.rows[kind]);
        assert.is(state.count(kind), rows.length, 'rows are counted without being read');
        for (const row of rows.toReversed()) assert.equal(state.get(kind, row.id), row);
        assert.is(state.get(kind, 4999.5), undefined);
      }
      assert.equal(readable(state), readable(snapshot));
    }),
  );
});

test('pieces that are adjacent in one buffer are read without a copy', () => {
  const ids = HUNDRED.map((id) => id * 40);
  const snapshot = aWhole({ books: books(ids, 'x'.repeat(100)) });
  const bytes = bytesOf(snapshot);
  const reader = new BaseReader('base', outlineOf(snapshot));
  const length = Math.ceil(bytes.length / 7);
  for (let at = 0; at < bytes.length; at += length) reader.keep(bytes.subarray(at, at + length));
  const { state } = reader.end();
  assert.equal(readable(state), readable(snapshot));
  for (const { rows } of state.snapshot().rows.books.chunks()) {
    assert.is(rows.text?.buffer, bytes.buffer);
  }
});

test('an outline has the rows, bytes and CRC-32 of each chunk of 1024 ids, and the CRC-32 of the first line', () => {
  const snapshot = aWhole({ books: books([1, 1023, 1024, 5000]) });
  const { head, tables } = outlineOf(snapshot);
  const line = (id: number) => JSON.stringify({ id, name: 'A book' });
  const two = `${line(1)},\n${line(1023)}`;
  assert.equal(tables.books, [
    [0, 2, two.length, crc32(two)],
    [1, 1, line(1024).length, crc32(line(1024))],
    [4, 1, line(5000).length, crc32(line(5000))],
  ]);
  assert.equal(tables.skus, []);
  assert.is(head, crc32(bytesOf(snapshot).toString().split('\n')[0] ?? ''));
});

test('long rows are found with the outline', () => {
  const long = 'é"\n'.repeat(50_000);
  const rows = [...books([1, 2]), ...books([3, 4], long), ...books([5]), ...books([2000], long)];
  const snapshot = aWhole({ books: rows });
  const state = stateOf(bytesOf(snapshot), outlineOf(snapshot), [70_000]);
  assert.equal([...state.rows.books.values()], rows);
});

test('a large table is searched for a value before its rows are read, and for the whole value', () => {
  const ids = Array.from({ length: 2001 }, (_, at) => at * 3 + 1);
  const rows = ids.map((id) => ({ id, name: `Book ${id}`, readcount: id % 110 }));
  const snapshot = aWhole({ books: rows });
  const [bytes, outline] = [bytesOf(snapshot), outlineOf(snapshot)];
  const found = (attribute: string, value: string | number) => [
    ...stateOf(bytes, outline, [1000]).matching('books', attribute, value),
  ];
  assert.equal(found('name', 'Book 5998'), [5998]);
  assert.equal(found('name', 'Book 599'), []);
  for (const count of [1, 10, 109]) {
    const wanted = ids.filter((id) => id % 110 === count);
    assert.equal(found('readcount', count), wanted);
  }
});

test('a base that was read is written again byte for byte, whichever of its rows were read', () => {
  fc.assert(
    fc.property(aSnapshot, fc.array(fc.nat()), (snapshot, asked) => {
      const bytes = bytesOf(snapshot);
      const outline = outlineOf(snapshot);
      const state = stateOf(bytes, outline, [500]);
      for (const which of asked) state.get(KIND_NAMES[which % KIND_NAMES.length] ?? 'books', which);
      assert.ok(bytesOf(state.snapshot()).equals(bytes));
      assert.equal(outlineOf(state.snapshot()), outline);
    }),
  );
});

test('changed rows are written in order among rows that are still text', () => {
  const acts = fc.constantFrom('get', 'set', 'delete', 'snapshot');
  const steps = fc.array(fc.record({ act: acts, id: fc.integer({ min: 1, max: 2100 }) }));
  const ids = [1, 2, 3, 1023, 1024, 1025, 2048, 2049, 2050];
  fc.assert(
    fc.property(steps, fc.array(fc.nat(8)), (some, places) => {
      const rows = books(ids, 'A "book"');
      const texts = textTableOf('books', rows);
      const plain = new RowTable(rows);
      const known = places.map((at) => ({ act: 'set' as const, id: ids[at] ?? 1 }));
      for (const { act, id } of [...some, ...known]) {
        for (const table of [texts, plain]) {
          if (act === 'get') table.get(id);
          if (act === 'delete') table.delete(id);
          if (act === 'snapshot') table.snapshot();
          if (act === 'set') table.set({ id, name: `${act} ${some.length}` });
        }
      }
      const of = (table: RowTable): Snapshot => ({
        ...aWhole({}),
        rows: perKind(({ name }) => (name === 'books' ? table.snapshot() : partsOf([]))),
      });
      assert.is(bytesOf(of(texts)).toString(), bytesOf(of(plain)).toString());
      assert.equal(outlineOf(of(texts)), outlineOf(of(plain)));
    }),
  );
});

test('rows that are text are written in slices of at most 64 KiB, and scattered rows share slices', () => {
  const dense = textTableOf('books', books(HUNDRED, 'x'.repeat(900)));
  const sparse = textTableOf('books', books(HUNDRED.map((id) => id * 2000)));
  const slicesOf = (table: RowTable) =>
    Array.from(
      baseSlices({
        ...aWhole({}),
        rows: perKind(({ name }) => (name === 'books' ? table.snapshot() : partsOf([]))),
      }),
      ({ length }) => length,
    );
  assert.ok(slicesOf(dense).every((length) => length <= 64 * 1024));
  assert.ok(slicesOf(sparse).length < 5, 'a hundred rows far from each other are one slice');
});

test('an outline that belongs to another base is ignored', () => {
  fc.assert(
    fc.property(aSnapshot, aSnapshot, lengths, (snapshot, other, pieces) => {
      const state = stateOf(bytesOf(snapshot), outlineOf(other), pieces);
      assert.equal(readable(state), readable(snapshot));
    }),
  );
});

test('with a wrong outline, either the right rows are read or store_damaged is thrown', () => {
  const by = fc.integer({ min: -70, max: 70 });
  fc.assert(
    fc.property(aSnapshot, fc.array(fc.tuple(fc.nat(), fc.nat(3), by)), (snapshot, changes) => {
      const outline = outlineOf(snapshot);
      const chunks = KIND_NAMES.flatMap((kind) => outline.tables[kind]) as [
        number,
        number,
        number,
        number,
      ][];
      for (const [which, member, more] of changes) {
        const chunk = chunks[which % Math.max(chunks.length, 1)];
        if (chunk !== undefined) chunk[member] = Math.max((chunk[member] ?? 0) + more, 1);
      }
      try {
        assert.equal(readable(stateOf(bytesOf(snapshot), outline, [1000])), readable(snapshot));
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        assert.is(error.code, 'store_damaged');
      }
    }),
    { numRuns: 500 },
  );
});

test('a wrong number of rows in an outline is reported when the chunk is read', () => {
  const snapshot = aWhole({ books: books(HUNDRED) });
  const outline = outlineOf(snapshot);
  const [[number, rows, ...rest]] = outline.tables.books as [ChunkOutline];
  const wrong: ChunkOutline = [number, rows + 1, ...rest];
  const tables = { ...outline.tables, books: [wrong] };
  const state = stateOf(bytesOf(snapshot), { ...outline, tables }, [1000]);
  assert.throws(
    () => state.get('books', 1),
    (error: unknown) =>
      error instanceof CatalogError &&
      error.code === 'store_damaged' &&
      error.message.includes(
        'base is damaged: it has 100 rows of books instead of 101 where outline.json says; first remove outline.json',
      ),
  );
});

/** A base with its outline, and a row that was changed since. */
function changedBase(of: string, by: string): { bytes: Buffer; outline: Outline } {
  const snapshot = aWhole({ books: books([1, 2, 1024, 3000]) });
  const bytes = bytesOf(snapshot);
  const at = bytes.indexOf(of);
  assert.ok(at >= 0);
  bytes.write(by, at);
  return { bytes, outline: outlineOf(snapshot) };
}

test('a byte that was changed, added or removed since the outline was written is found, wherever it is', () => {
  const snapshot = aWhole({ books: books([1, 2, 1024, 3000]) });
  const [bytes, outline] = [bytesOf(snapshot), outlineOf(snapshot)];
  const requireDamage = (parts: readonly Uint8Array[], found: RegExp, what: string) =>
    assert.throws(() => stateOf(Buffer.concat(parts), outline, [1000]), found, what);
  for (let at = 0; at < bytes.length; at += 1) {
    const [before, byte, after] = [bytes.subarray(0, at), bytes[at] ?? 0, bytes.subarray(at + 1)];
    const isContent = at < bytes.length - CHECKSUM_LENGTH;
    const changed = isContent ? /its checksum does not match its content/ : /is damaged/;
    requireDamage([before, Buffer.from([byte ^ 1]), after], changed, `changed at ${at}`);
    requireDamage([before, after], /is damaged/, `removed at ${at}`);
    requireDamage([before, Buffer.from(' '), bytes.subarray(at)], /is damaged/, `added at ${at}`);
  }
});

/**
 * A base with a changed row, and its outline with the CRC-32 of that row. The SHA-256 of the base is
 * another one than both state, which no accident brings about.
 */
function forgedBase(): { bytes: Buffer; outline: Outline } {
  const { bytes, outline } = changedBase('{"id":3000,"name":"A', '{"id":3000,"name":"B');
  const crc = crc32(JSON.stringify({ id: 3000, name: 'B book' }));
  const changed = outline.tables.books.map(([number, rows, length, old]): ChunkOutline => {
    return [number, rows, length, number === 2 ? crc : old];
  });
  return { bytes, outline: { ...outline, tables: { ...outline.tables, books: changed } } };
}

test('a base is read by its CRC-32 alone, except by a thorough reader', () => {
  const { bytes, outline } = forgedBase();
  assert.is(stateOf(bytes, outline, [1000]).get('books', 3000)?.name, 'B book');
  const thorough = new BaseReader('base', outline, true);
  thorough.write(bytes);
  assert.throws(() => thorough.end(), /its checksum does not match its content/);
});

test('check computes the SHA-256 of a base also if its outline has a CRC-32 of all parts', async () => {
  const directory = leftInDisorder(storeDirectory());
  await createStore(quickDisk, directory, aWhole({}));
  const { bytes, outline } = forgedBase();
  const path = join(directory, DATA_FILES.base);
  writeFileSync(path, bytes);
  await writeOutline(machineDisk, directory, outline);
  assert.is(readSnapshot(directory).get('books', 3000)?.name, 'B book');
  const [finding, ...more] = findingsOf(directory);
  assert.match(finding ?? '', `${path} is damaged: its checksum does not match its content`);
  assert.equal(more, []);
});

test('two rows with the same id are reported when their chunk is read', () => {
  const snapshot = aWhole({ books: books([1, 2]) });
  const bytes = bytesOf(snapshot);
  const text = bytes.toString('utf8', 0, bytes.length - CHECKSUM_LENGTH);
  const twice = text.replace('{"id":2,', '{"id":1,');
  assert.is.not(twice, text);
  const base = createHash('sha256').update(twice).digest('hex');
  const made = outlineOf(snapshot);
  const [[number, rows, length]] = made.tables.books as [ChunkOutline];
  const chunk = twice.slice(twice.indexOf('{"id":1,'), twice.indexOf('],\n'));
  assert.is(chunk.length, length);
  const renewed: ChunkOutline = [number, rows, length, crc32(chunk)];
  const outline = { ...made, base, tables: { ...made.tables, books: [renewed] } };
  const state = stateOf(Buffer.from(twice + checksumMember(base)), outline, [1000]);
  assert.throws(
    () => state.get('books', 1),
    (error: unknown) => error instanceof CatalogError && error.code === 'store_damaged',
  );
});

test('a checkpoint writes the outline of its base, and the store opens with it', async () => {
  const directory = storeDirectory();
  const store = await openStore(directory, { disk: quickDisk, smallestCheckpoint: 1 });
  for (const name of ['first', 'second', 'third', 'fourth']) {
    await store.transact((transaction) => {
      const id = transaction.nextId('books');
      const counts = { commentcount: 0, readcount: 0, image: '' };
      transaction.put('books', { id, name, pub_date: '1815-12-23', ...counts });
      if (name !== 'first') return;
      const brand = { name: 'Brand', logo: '', first_letter: '' };
      transaction.put('brands', { id: transaction.nextId('brands'), ...brand });
    });
  }
  await store.close();
  const outline = readOutline(machineDisk, directory);
  if (outline === null) throw new Error('there is no outline');
  const base = readFileSync(join(directory, DATA_FILES.base), 'utf8');
  assert.ok(base.endsWith(`,"sha256":"${outline.base}"}\n`), 'the outline names the base');
  assert.is(outline.tables.books[0]?.[1], JSON.parse(base).tables.books.length);
  const again = await openStore(directory, { disk: quickDisk });
  assert.is(again.get('books', 4)?.name, 'fourth');
  assert.is(again.count('books'), 4);
  assert.is(again.count('brands'), 1);
  await again.close();

  const [[number, , ...rest]] = outline.tables.brands as [ChunkOutline];
  const wrong: ChunkOutline = [number, 7, ...rest];
  const tables = { ...outline.tables, brands: [wrong] };
  await writeOutline(machineDisk, directory, { ...outline, tables });
  assert.is(readSnapshot(directory).count('brands'), 7, 'a start counts the rows by the outline');
  await writeOutline(machineDisk, directory, outline);
});

/** Of an outline's chunk: each has one wrong member, or a wrong number of members. */
const unusable = [
  [0, 1, 9],
  [0, 1, 2, 3, 4],
  [0, 0, 9, 3],
  [-1, 1, 9, 3],
  [0, 1, 1.5, 3],
  [0, '1', 9, 3],
  [0, 1, 9, -1],
  [0, 1, 9, 0x1_0000_0000],
  7,
];

test('an outline that is missing, damaged or unreadable is ignored', async () => {
  const directory = mkdtempSync(join(storeDirectory(), 'outline-'));
  const path = join(directory, DATA_FILES.outline);
  assert.is(readOutline(machineDisk, directory), null);
  const outline = outlineOf(aWhole({ books: books([1]) }));
  await writeOutline(machineDisk, directory, outline);
  assert.equal(readOutline(machineDisk, directory), outline);
  const bytes = readFileSync(path);
  for (const content of ['', '{}', bytes.toString().replace('[0,1,', '[0,2,'), bytes.subarray(9)]) {
    writeFileSync(path, content);
    assert.is(readOutline(machineDisk, directory), null);
  }
  for (const chunk of unusable) {
    const tables = { ...outline.tables, books: [chunk as unknown as ChunkOutline] };
    await writeOutline(machineDisk, directory, { ...outline, tables });
    assert.is(readOutline(machineDisk, directory), null, JSON.stringify(chunk));
  }
  await writeOutline(machineDisk, directory, { ...outline, head: 0x1_0000_0000 });
  assert.is(readOutline(machineDisk, directory), null);
  writeFileSync(path, bytes);
  const refuses = (): never => {
    throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
  };
  assert.is(readOutline({ ...machineDisk, read: refuses }, directory), null);
});

test.run();
