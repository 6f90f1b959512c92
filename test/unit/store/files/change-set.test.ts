/** The format of the store's files: they are read as they were written, and damage is reported. */
import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { partsOf } from '../../../support/bases.ts';
import type { ChangeSetContent } from '../../../../src/store/change-set.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { KIND_NAMES, type KindName, type Row, type Scalar } from '../../../../src/model/kind.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import { decodeBase } from '../../../../src/store/files/base/base-reader.ts';
import {
  decodeChangeSet,
  encodeChangeSet,
  encodeInParts,
  judgeInParts,
} from '../../../../src/store/files/change-set.ts';
import { decodeNextInParts } from '../../../../src/store/files/change-set-parts.ts';
import { atOnce } from '../../../../src/slices.ts';
import { withChecksum } from '../../../../src/json/checksum.ts';
import { perKind } from '../../../../src/model/per-kind.ts';
import { SCHEMA_VERSION } from '../../../../src/store/files/schema.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

const SMALL: ChangeSetContent = {
  sequence: 124,
  previous: 'ab'.repeat(32),
  time: '2024-02-29T12:00:00.000Z',
  last_ids: { books: 7 },
  put: { books: [{ id: 7, name: 'Émile \u{1f600}', pub_date: '1762-05-22' }] },
  delete: { skus: [3, 5] },
};

const text = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', '","sha256":"', '\u2028', '\ud800', '\udfff', '\0'),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
);
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
);
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const row: fc.Arbitrary<Row> = fc
  .tuple(
    id,
    fc.dictionary(fc.constantFrom('name', 'image', 'price', 'stock'), scalar, {
      noNullPrototype: true,
    }),
  )
  .map(([own, values]) => ({ id: own, ...values }));
const manyOf = <T>(value: fc.Arbitrary<T>) =>
  fc.array(value, { minLength: KIND_NAMES.length, maxLength: KIND_NAMES.length });

/** A value for some of the kinds. */
const some = <T>(value: fc.Arbitrary<T>) =>
  fc
    .tuple(fc.subarray([...KIND_NAMES]), manyOf(value))
    .map(
      ([kinds, values]) =>
        Object.fromEntries(kinds.map((kind, i) => [kind, values[i]])) as Partial<
          Record<KindName, T>
        >,
    );
const digest = fc.string({
  unit: fc.constantFrom(...'0123456789abcdef'.split('')),
  minLength: 64,
  maxLength: 64,
});
const changeSet: fc.Arbitrary<ChangeSetContent> = fc.record(
  {
    sequence: fc.maxSafeNat(),
    previous: digest,
    time: fc.constant('2024-02-29T12:00:00.000Z'),
    last_ids: some(fc.maxSafeNat()),
    writer: fc.string({ maxLength: 16 }),
    put: some(fc.uniqueArray(row, { maxLength: 4, selector: (one) => one.id })),
    delete: some(fc.array(id, { maxLength: 4 })),
    before: some(fc.uniqueArray(row, { maxLength: 4, selector: (one) => one.id })),
  },
  {
    noNullPrototype: true,
    requiredKeys: ['sequence', 'previous', 'time', 'last_ids', 'put', 'delete', 'before'],
  },
);

/** Whether reading fails as damage, with a message that begins with the name of the file. */
function isRefused(read: (name: string, bytes: Buffer) => unknown, bytes: Buffer): boolean {
  try {
    read('changes/000000000124.json', bytes);
    return false;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    assert.is(error.code, 'store_damaged');
    assert.ok(error.message.startsWith('changes/000000000124.json is damaged: '), error.message);
    return true;
  }
}

const smallBase = () =>
  Buffer.concat([
    ...baseSlices({
      sequence: 124,
      digest: 'a'.repeat(64),
      time: SMALL.time,
      lastIds: perKind(() => 7),
      rows: perKind(({ name }) => partsOf(name === 'books' ? (SMALL.put.books ?? []) : [])),
    }),
  ]);

test('a change set is read as it was written, with any values', () => {
  fc.assert(
    fc.property(changeSet, (changes) => {
      const {
        bytes,
        changeSet: { digest: written },
      } = encodeChangeSet(changes);
      const { digest: found, ...decoded } = decodeChangeSet('name', Buffer.from(bytes));
      assert.is(found, written);
      assert.equal(decoded, changes);
    }),
    { numRuns: 500 },
  );
});

test('a change set that is encoded in parts has the same bytes as one that is encoded whole', () => {
  const rows = fc.array(row, { maxLength: 200 });
  fc.assert(
    fc.property(changeSet, rows, (changes, skus) => {
      const content = { ...changes, put: { ...changes.put, skus } };
      const [whole, inParts] = [encodeChangeSet(content), atOnce(encodeInParts(content))];
      assert.is(Buffer.from(inParts.bytes).toString(), Buffer.from(whole.bytes).toString());
      assert.equal(inParts.changeSet, whole.changeSet);
    }),
  );
});

for (const [length, rows] of [
  [10, 64],
  [10_000, 7],
  [40_000, 2],
  [200_000, 1],
] as const) {
  test(`a step of the encoding has ${rows} rows of ${length} characters: 64, or fewer if they reach 64 KiB`, () => {
    const read = new Set<number>();
    const books = Array.from({ length: rows * 3 }, (_, at) => ({
      id: at + 1,
      get name() {
        read.add(this.id);
        return 'x'.repeat(length);
      },
    }));
    const counts: number[] = [];
    const steps = encodeInParts({ ...SMALL, put: { books } });
    while (steps.next().done !== true) {
      if (read.size > 0) counts.push(read.size);
      read.clear();
    }
    assert.equal(counts, [rows, rows, rows]);
  });
}

for (const member of ['put', 'before']) {
  test(`each step of the judging of a change set reads at most 4096 rows in ${member}`, () => {
    const counts: number[] = [];
    let read = 0;
    const books = Array.from({ length: 10_000 }, () => ({
      get id() {
        read += 1;
        return read;
      },
    }));
    const steps = judgeInParts('file', { ...SMALL, put: {}, [member]: { books } }, 'a'.repeat(64));
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      counts.push(read - counts.reduce((sum, count) => sum + count, 0));
    }
    assert.equal(
      counts.filter((count) => count > 0),
      [4096, 4096, 10_000 - 2 * 4096],
    );
  });
}

test('a change set is refused for a wrong element at the end of a long list', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => ({ id: at + 1 }));
  const judged = (lists: object) => () => atOnce(judgeInParts('file', { ...SMALL, ...lists }, ''));
  const ids = rows.map((each) => each.id);
  assert.throws(judged({ put: { books: [...rows, { id: 0 }] } }), /must be a list of rows/);
  assert.throws(judged({ before: { books: [...rows, null] } }), /must be a list of rows/);
  assert.throws(judged({ delete: { books: [...ids, 0.5] } }), /must be a list of ids/);
  assert.throws(judged({ put: { books: {} } }), /must be a list of rows/);
});

const time = fc.constantFrom('2024-02-29T12:00:00.000Z', null);

test('a base is read as it was written, with any values, and rows by ascending id', () => {
  fc.assert(
    fc.property(changeSet, time, ({ sequence, previous, put }, when) => {
      const lastIds = perKind(() => sequence);
      const rows = perKind(({ name }) => partsOf(put[name] ?? []));
      const snapshot = { sequence, digest: previous, time: when, lastIds, rows };
      const { schema, state } = decodeBase('name', Buffer.concat([...baseSlices(snapshot)]));
      assert.is(schema, SCHEMA_VERSION);
      const read = {
        ...state.snapshot(),
        rows: perKind(({ name }) => [...state.rows[name].values()]),
      };
      const expected = perKind(({ name }) => (put[name] ?? []).toSorted((a, b) => a.id - b.id));
      assert.equal(read, { ...snapshot, rows: expected });
    }),
  );
});

test('a base with more than 1024 rows of a table, in several slices, is read complete', () => {
  const books = Array.from({ length: 1201 }, (_, i) => ({ id: i + 1, name: `${i}`.repeat(50) }));
  const rows = perKind(({ name }) => partsOf(name === 'books' ? books : []));
  const slices = [
    ...baseSlices({
      sequence: 1,
      digest: 'a'.repeat(64),
      time: null,
      lastIds: perKind(() => 0),
      rows,
    }),
  ];
  const holding = slices.filter((slice) => Buffer.from(slice).includes('"name"'));
  assert.ok(holding.length > 2, `${holding.length} slices with rows`);
  assert.equal([...decodeBase('name', slices).state.rows.books.values()], books);
});

const forms = {
  'change set': [decodeChangeSet, () => Buffer.from(encodeChangeSet(SMALL).bytes)],
  base: [decodeBase, smallBase],
} as const;

for (const [form, [read, make]] of Object.entries(forms)) {
  test(`a ${form} with any one bit flipped is refused, and the message names the file`, () => {
    const bytes = make();
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        assert.ok(isRefused(read, damaged), `byte ${at}, bit ${bit}`);
      }
    }
    assert.not(isRefused(read, bytes));
  });

  test(`a ${form} that is cut off at any byte, or has more bytes at its end, is refused`, () => {
    const bytes = make();
    for (let end = 0; end < bytes.length; end += 1) {
      assert.ok(isRefused(read, bytes.subarray(0, end)), `${end} bytes`);
    }
    for (const more of ['\n', ' ', '{}', bytes]) {
      assert.ok(isRefused(read, Buffer.concat([bytes, Buffer.from(more)])));
    }
    assert.ok(isRefused(read, Buffer.alloc(bytes.length)));
  });
}

test('a change set with a valid checksum and an invalid shape is refused', () => {
  const shapes: readonly object[] = [
    { ...SMALL, sequence: -1 },
    { ...SMALL, sequence: 1.5 },
    { ...SMALL, previous: 'abc' },
    { ...SMALL, previous: 'a'.repeat(65) },
    { ...SMALL, previous: 'A'.repeat(64) },
    { ...SMALL, last_ids: { strangers: 1 } },
    { ...SMALL, put: { books: [{ name: 'no id' }] } },
    { ...SMALL, put: { strangers: [{ id: 1 }] } },
    { ...SMALL, put: { books: [[1]] } },
    { ...SMALL, put: { books: [null] } },
    { ...SMALL, put: { books: [1] } },
    { ...SMALL, put: { books: [{ id: 0 }] } },
    { ...SMALL, put: { books: [{ id: 1.5 }] } },
    { ...SMALL, put: { books: [{ id: 2 ** 53 }] } },
    { ...SMALL, delete: { books: ['1'] } },
    { ...SMALL, delete: { books: [0] } },
    { ...SMALL, time: 1 },
    { sequence: 1 },
  ];
  for (const shape of shapes) {
    const { bytes } = encodeChangeSet(shape as ChangeSetContent);
    assert.ok(isRefused(decodeChangeSet, Buffer.from(bytes)), JSON.stringify(shape));
  }
});

test('a base with a valid checksum and an invalid shape is refused', () => {
  const base = JSON.parse(smallBase().toString());
  delete base.sha256;
  const refused: readonly object[] = [
    { ...base, schema: '2' },
    { ...base, schema: 0 },
    { ...base, schema: undefined },
    { ...base, sequence: -1 },
    { ...base, previous: 'abc' },
    { ...base, time: 1 },
    { ...base, time: undefined },
    { ...base, last_ids: { strangers: 1 } },
    { ...base, last_ids: { books: 1.5 } },
    { ...base, tables: { strangers: [] } },
    { ...base, tables: { books: {} } },
    { ...base, tables: { books: [{ name: 'no id' }] } },
    { ...base, tables: { books: [{ id: 7 }, { id: 7 }] } },
    { ...base, tables: undefined },
    [],
  ];
  for (const shape of refused) {
    const { bytes } = withChecksum(shape);
    assert.ok(isRefused(decodeBase, Buffer.from(bytes)), JSON.stringify(shape));
  }
  assert.not(isRefused(decodeBase, Buffer.from(withChecksum(base).bytes)));
});

test('an array instead of an object is refused', () => {
  for (const member of ['last_ids', 'put', 'delete']) {
    const { bytes } = encodeChangeSet({ ...SMALL, [member]: [] });
    assert.ok(isRefused(decodeChangeSet, Buffer.from(bytes)), member);
  }
  const base = JSON.parse(smallBase().toString());
  for (const member of ['last_ids', 'tables']) {
    const { bytes } = withChecksum({ ...base, [member]: [], sha256: undefined });
    assert.ok(isRefused(decodeBase, Buffer.from(bytes)), member);
  }
});

const shell = spawnSync('sh', ['-c', 'command -v head && command -v sha256sum']);
const withShell = shell.status === 0 ? test : test.skip;

withShell('the checksum of a file can be verified with head and sha256sum', () => {
  const directory = temporaryDirectory();
  for (const [form, [, make]] of Object.entries(forms)) {
    const path = join(directory, form);
    writeFileSync(path, make());
    // The digest covers every byte before `,"sha256"`, and is the last member.
    const end = statSync(path).size - ',"sha256":""}\n'.length - 64;
    const { stdout } = spawnSync(
      'sh',
      ['-c', 'head -c "$2" "$1" | sha256sum; tail -c 67 "$1"', 'sh', path, `${end}`],
      { encoding: 'utf8' },
    );
    const [summed, stated] = stdout.split('\n');
    assert.is(`${summed?.slice(0, 64)}"}`, stated, form);
  }
});

test('a change set decodes to the same value in steps as at once, and a large one takes many steps', () => {
  fc.assert(
    fc.property(changeSet, (content) => {
      const { bytes } = encodeChangeSet(content);
      const { sequence, previous } = content;
      const decode = () =>
        atOnce(decodeNextInParts('file', Buffer.from(bytes), sequence, previous));
      assert.equal(decode(), decodeChangeSet('file', Buffer.from(bytes)));
    }),
  );
  const rows = Array.from({ length: 5000 }, (_, index) => ({
    id: index + 1,
    name: `"]},[{ \\${index}`,
  }));
  const content = { ...SMALL, put: { books: rows, brands: [] }, before: { books: rows } };
  const { bytes } = encodeChangeSet(content);
  const steps = decodeNextInParts('file', Buffer.from(bytes), 124, null);
  let [step, count] = [steps.next(), 0];
  for (; step.done !== true; step = steps.next()) count += 1;
  assert.equal(step.value, decodeChangeSet('file', Buffer.from(bytes)));
  assert.ok(count > 10, `${count} steps`);
});

test('a change set that a person has sealed with other members, or in another order, decodes to the same value in steps', () => {
  const order = fc.shuffledSubarray(['put', 'delete', 'before', 'note', 'time'], { minLength: 5 });
  const note = fc.constantFrom(undefined, 'text', ['a', []], { a: [1], b: { c: 2 }, d: null });
  fc.assert(
    fc.property(changeSet, order, note, (content, names, added) => {
      const members = Object.entries({ ...content, note: added });
      const sorted = members.toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b));
      const bytes = Buffer.from(withChecksum(Object.fromEntries(sorted)).bytes);
      const steps = decodeNextInParts('file', bytes, content.sequence, content.previous);
      assert.equal(atOnce(steps), decodeChangeSet('file', bytes));
    }),
  );
});

test('a change set with a changed byte, an invalid row or an invalid id is refused when it is decoded in steps', () => {
  const { bytes } = encodeChangeSet({ ...SMALL, before: { books: [{ id: 7, name: 'Emile' }] } });
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    assert.throws(() => atOnce(decodeNextInParts('file', damaged, 124, null)), /is damaged/);
  }
  for (const invalid of [{ put: { books: [1] } }, { delete: { books: ['1'] } }]) {
    const forged = Buffer.from(withChecksum({ ...SMALL, ...invalid }).bytes);
    assert.throws(() => decodeChangeSet('file', forged), /is damaged/);
    assert.throws(() => atOnce(decodeNextInParts('file', forged, 124, null)), /is damaged/);
  }
});

test('a change set with another number or of another history is refused when it is decoded in steps', () => {
  const bytes = Buffer.from(encodeChangeSet(SMALL).bytes);
  const decode = (sequence: number, previous: string) => () =>
    atOnce(decodeNextInParts('file', bytes, sequence, previous));
  const { sequence, previous } = SMALL;
  assert.is(decode(sequence, previous)().sequence, sequence);
  assert.throws(decode(sequence + 1, previous), /it holds change set 124/);
  assert.throws(decode(sequence, 'f'.repeat(64)), /it is from another history/);
});

test.run();
