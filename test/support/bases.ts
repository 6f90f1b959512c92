/** Snapshots for tests of the base document, and what is read of their files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { DATA_FILES } from '../../src/data-files.ts';
import { KIND_NAMES, type Row } from '../../src/model/kind.ts';
import { perKind } from '../../src/model/per-kind.ts';
import { baseSlices } from '../../src/store/files/base.ts';
import { decodeBase } from '../../src/store/files/base/base-reader.ts';
import { type RowParts, RowTable } from '../../src/store/memory/row-table.ts';
import type { Snapshot, State } from '../../src/store/state.ts';

/** The state in the base of a data directory. */
export function baseOf(directory: string): State {
  const path = join(directory, DATA_FILES.base);
  return decodeBase(path, readFileSync(path)).state;
}

/** Rows as a snapshot has them. */
export const partsOf = (rows: Iterable<Row>): RowParts => new RowTable(rows).snapshot();

/** The rows of a snapshot. */
export const rowsIn = (parts: RowParts): Row[] =>
  Array.from(parts.chunks()).flatMap(({ rows }) => [...rows.written()].flatMap(rowsOf));

const rowsOf = (part: Row | Buffer): Row[] =>
  Buffer.isBuffer(part) ? JSON.parse(`[${part.toString('utf8')}]`) : [part];

const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
/** Texts that look like the lines of a base. */
export const tricky = fc.constantFrom(
  '\n',
  '}',
  '},',
  '}]',
  '],\n"books":[',
  '"tables":{',
  '\u2028',
  '😀',
);
const table = fc.uniqueArray(
  fc
    .tuple(fc.integer({ min: 1, max: 5000 }), scalar, tricky)
    .map(([id, name, text]): Row => ({ id, name, text })),
  { selector: ({ id }) => id, maxLength: 5 },
);
export const aSnapshot: fc.Arbitrary<Snapshot> = fc
  .tuple(fc.array(table, { minLength: 10, maxLength: 10 }), fc.maxSafeNat())
  .map(([tables, sequence]) => ({
    sequence,
    digest: 'a'.repeat(64),
    time: null,
    lastIds: perKind(() => 5000),
    rows: perKind(({ name }) => partsOf(tables[KIND_NAMES.indexOf(name)] ?? [])),
  }));

/** The file of a snapshot. */
export const bytesOf = (snapshot: Snapshot) => Buffer.concat([...baseSlices(snapshot)]);

/** What a state or a snapshot holds, to be compared. */
export const readable = (state: State | Snapshot) => ({
  sequence: state.sequence,
  digest: state.digest,
  time: state.time,
  lastIds: state.lastIds,
  rows: perKind(({ name }) => {
    const rows = state.rows[name];
    return 'chunks' in rows ? rowsIn(rows) : [...rows.values()];
  }),
});

/** A file in pieces of these lengths, again and again. */
export function* cut(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  // One memory for all pieces, as a disk may have it.
  const memory = Buffer.alloc(Math.max(...lengths));
  let start = 0;
  for (let nth = 0; start < bytes.length; nth += 1) {
    const length = lengths[nth % lengths.length] ?? 1;
    const copied = bytes.copy(memory, 0, start, start + length);
    yield memory.subarray(0, copied);
    start += copied;
  }
}

/** Lengths of pieces. */
export const lengths = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 });
