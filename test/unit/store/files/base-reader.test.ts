/** The base is read in pieces, row by row, as it was written. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { perKind } from '../../../../src/model/per-kind.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import { BaseLines } from '../../../../src/store/files/base/base-lines.ts';
import {
  BaseReader,
  decodeBase,
  endingOfBase,
} from '../../../../src/store/files/base/base-reader.ts';
import { CHECKSUM_LENGTH, checksumMember } from '../../../../src/json/checksum.ts';
import type { Snapshot } from '../../../../src/store/state.ts';
import {
  aSnapshot,
  bytesOf,
  cut,
  lengths,
  partsOf,
  readable,
  tricky,
} from '../../../support/bases.ts';
import { quickDisk } from '../../../support/disk.ts';
import { failureMessage } from '../../../support/failure.ts';

/** The same values in another layout, with a valid checksum. */
function formatted(bytes: Buffer, indent: number): Buffer {
  const { sha256: _, ...document } = JSON.parse(bytes.toString('utf8'));
  return sealed(JSON.stringify(document, null, indent).slice(0, -1));
}

/** The same lines with two rows of a table swapped, and a valid checksum. */
function disordered(bytes: Buffer): Buffer {
  const text = bytes.toString('utf8', 0, bytes.length - CHECKSUM_LENGTH);
  return sealed(text.replace(/^(\{.*\}),\n(\{.*\})(,|\],?)$/m, '$2,\n$1$3'));
}

function sealed(text: string): Buffer {
  return Buffer.from(text + checksumMember(createHash('sha256').update(text).digest('hex')));
}

test('a base in pieces of any length is read as it was written', () => {
  fc.assert(
    fc.property(aSnapshot, lengths, (snapshot, some) => {
      const bytes = bytesOf(snapshot);
      const { state, size } = decodeBase('base', cut(bytes, some));
      assert.equal(readable(state), readable(snapshot));
      assert.is(size, bytes.length);
    }),
  );
});

test('the members of a backup besides the tables are read in either layout, and change no row', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), tricky);
  const members = fc.record(
    {
      access: fc.dictionary(fc.oneof(text, fc.constant('__proto__')), fc.jsonValue()),
      encrypted_keys: text,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(aSnapshot, members, lengths, (snapshot, given, some) => {
      const bytes = Buffer.concat([...baseSlices(snapshot, given)]);
      const plain: unknown = JSON.parse(JSON.stringify(given));
      for (const layout of [bytes, formatted(bytes, 1)]) {
        const read = decodeBase('base', cut(layout, some));
        assert.is(JSON.stringify(read.members), JSON.stringify(plain));
        assert.equal(readable(read.state), readable(snapshot));
      }
    }),
    { numRuns: 40 },
  );
});

test('a base that is cut into two pieces at any byte is read as it was written', () => {
  const [snapshot] = fc.sample(aSnapshot, { numRuns: 1, seed: 7 });
  assert.ok(snapshot);
  const bytes = bytesOf(snapshot);
  for (let at = 1; at < bytes.length; at += 1) {
    const { state } = decodeBase('base', [bytes.subarray(0, at), bytes.subarray(at)]);
    assert.equal(readable(state), readable(snapshot), `cut at ${at}`);
  }
});

test('the ending of a base is that of the whole file, however the disk cuts it', () => {
  fc.assert(
    fc.property(aSnapshot, lengths, (snapshot, some) => {
      const bytes = bytesOf(snapshot);
      const ending = bytes.toString('latin1', bytes.length - CHECKSUM_LENGTH);
      const reader = new BaseReader('base');
      for (const piece of cut(bytes, some)) reader.write(piece);
      assert.is(reader.ending, ending);
      assert.is(endingOfBase({ ...quickDisk, pieces: () => cut(bytes, some) }, 'base'), ending);
    }),
  );
});

test('the lines of a base are recognised wherever it is cut, so that its rows stay text', () => {
  const [snapshot] = fc.sample(aSnapshot, { numRuns: 1, seed: 7 });
  assert.ok(snapshot);
  const bytes = bytesOf(snapshot).subarray(0, -CHECKSUM_LENGTH);
  for (let at = 1; at < bytes.length; at += 1) {
    const lines = new BaseLines('base');
    for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) lines.take(piece);
    assert.is.not(lines.end(), null, `cut at ${at}`);
  }
});

test('a base in another layout with a valid checksum is read', () => {
  fc.assert(
    fc.property(aSnapshot, fc.integer({ min: 0, max: 3 }), lengths, (snapshot, indent, some) => {
      const bytes = formatted(bytesOf(snapshot), indent);
      const { state } = decodeBase('base', cut(bytes, some));
      assert.equal(readable(state), readable(snapshot));
    }),
  );
});

test('rows that are out of order are read by ascending id if the checksum is valid', () => {
  const books = [1, 2, 3, 4].map((id) => ({ id }));
  const rows = perKind(({ name }) => partsOf(name === 'books' ? books : []));
  const lastIds = perKind(() => 4);
  const bytes = bytesOf({ sequence: 1, digest: 'a'.repeat(64), time: null, lastIds, rows });
  const other = disordered(bytes);
  assert.not(other.equals(bytes));
  for (const length of [11, other.length]) {
    const { state } = decodeBase('base', cut(other, [length]));
    assert.equal([...state.rows.books.values()], books);
  }
});

test('a table that is missing from a base with a valid checksum is empty, in either layout', () => {
  const rows = perKind(({ name }) => partsOf(name === 'books' ? [{ id: 1 }] : []));
  const lastIds = perKind(() => 1);
  const whole = bytesOf({ sequence: 1, digest: 'a'.repeat(64), time: null, lastIds, rows });
  const { sha256: _, ...document } = JSON.parse(whole.toString('utf8'));
  const { brands, ...tables } = document.tables;
  assert.equal(brands, []);
  const text = whole.toString('utf8', 0, whole.length - CHECKSUM_LENGTH);
  for (const other of [
    text.replace('"brands":[],\n', ''),
    JSON.stringify({ ...document, tables }).slice(0, -1),
  ]) {
    assert.not.match(other, /"brands":\[/);
    const { state } = decodeBase('base', sealed(other));
    assert.is(state.count('brands'), 0);
    assert.equal([...state.rows.books.values()], [{ id: 1 }]);
  }
});

test('the id of a row is its member id, even if that is not its first member', () => {
  const rows = perKind(({ name }) => partsOf(name === 'books' ? [{ id: 1 }] : []));
  const lastIds = perKind(() => 1);
  const whole = bytesOf({ sequence: 1, digest: 'a'.repeat(64), time: null, lastIds, rows });
  const text = whole.toString('utf8', 0, whole.length - CHECKSUM_LENGTH);
  const other = sealed(text.replace('{"id":1}', '{"no":5,"id":1}'));
  const { state } = decodeBase('base', other);
  assert.is(state.get('books', 5), undefined);
  assert.equal([...state.rows.books.values()], [{ no: 5, id: 1 }]);
});

test('any changed byte is reported as a checksum that does not match', () =>
  fc.assert(
    fc.asyncProperty(
      aSnapshot,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (snapshot, at, by) => {
        const bytes = bytesOf(snapshot);
        const place = at % (bytes.length - CHECKSUM_LENGTH);
        bytes[place] = (bytes[place] ?? 0) ^ by;
        assert.match(
          await failureMessage(() => decodeBase('base', cut(bytes, [37])), 'store_damaged'),
          'its checksum',
        );
      },
    ),
  ));

test('a base that is cut off at any byte is refused as cut off', async () => {
  const [snapshot] = fc.sample(aSnapshot, { numRuns: 1, seed: 7 });
  assert.ok(snapshot);
  const bytes = bytesOf(snapshot);
  for (let length = 0; length < bytes.length; length += 1) {
    assert.match(
      await failureMessage(() => decodeBase('base', [bytes.subarray(0, length)]), 'store_damaged'),
      'it is cut off',
    );
  }
});

for (const [what, from, to] of [
  ['a row twice', '{"id":1}', '{"id":1},\n{"id":1}'],
  ['a row twice before another one', '{"id":1}', '{"id":1},\n{"id":1},\n{"id":3}'],
  ['a row without an id', '{"id":1}', '{"name":"x"}'],
  ['an unknown table', '"books"', '"bookz"'],
  ['an extra comma', '{"id":1}', '{"id":1},'],
  ['a table that does not end', ']\n}', '\n}'],
  ['text after its tables', '\n}', '\n"more":1}'],
] as const) {
  test(`a base with a valid checksum and ${what} is refused`, async () => {
    const rows = perKind(({ name }) => partsOf(name === 'books' ? [{ id: 1 }] : []));
    const lastIds = perKind(() => 1);
    const whole = bytesOf({ sequence: 1, digest: 'a'.repeat(64), time: null, lastIds, rows });
    const text = whole.toString('utf8', 0, whole.length - CHECKSUM_LENGTH).replace(from, to);
    const digest = createHash('sha256').update(text).digest('hex');
    const bytes = Buffer.from(text + checksumMember(digest));
    for (const length of [11, bytes.length]) {
      assert.match(
        await failureMessage(() => decodeBase('base', cut(bytes, [length])), 'store_damaged'),
        'base is damaged: ',
      );
    }
  });
}

test('a long row is written in slices of about 256 KiB at most, and no character is split', () => {
  for (const lead of ['', 'x']) {
    const name = `${lead}${'😀'.repeat(200_000)}`;
    const row: Row = { id: 1, name, empty: null, image: '"\\\n'.repeat(50_000), count: 7 };
    const snapshot: Snapshot = {
      sequence: 1,
      digest: 'a'.repeat(64),
      time: null,
      lastIds: perKind(() => 1),
      rows: perKind((kind) => partsOf(kind.name === 'books' ? [row] : [])),
    };
    const slices = [...baseSlices(snapshot)];
    assert.ok(
      slices.every((slice) => slice.length <= 4 * 65_537),
      'a slice is small',
    );
    const { state } = decodeBase('name', Buffer.concat(slices));
    assert.equal(state.rows.books.get(1), row);
    assert.ok(Buffer.concat(slices).includes(JSON.stringify(row)), 'the text is that of JSON');
  }
});

test.run();
