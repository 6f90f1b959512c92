/**
 * The base document: the whole state as of one change set, as JSON that a person can read, with one
 * row a line. It may be larger than any string or buffer can be, so it is written in slices and
 * read in pieces (base/base-reader.ts).
 */
import { CatalogError, shellWord } from '../../errors.ts';
import { cutBetweenCharacters } from '../../model/characters.ts';
import type { Row, Scalar } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import { perKind } from '../../model/per-kind.ts';
import type { RowParts } from '../memory/row-table.ts';
import type { Snapshot } from '../state.ts';
import type { ChunkOutline, Outline } from './base/outline.ts';
import { BETWEEN_ROWS, TABLES_END, tableBeginning } from './base/row-line.ts';
import { SliceMemory } from './base/slice-memory.ts';
import { checksumMember } from '../../json/checksum.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** UTF-16 units of a text that are written at once. */
const PIECE_LENGTH = 64 * 1024;

/** Shorter text does not get its own slice: with few ids of each thousand, slices would be tiny. */
const SMALL_BYTES = 8 * 1024;

/** Members that a backup has before its tables. The store itself has no use for them. */
export interface BackupMembers {
  /** The content of `access.json`. */
  readonly access?: object | undefined;
  /** An armoured age file. */
  readonly encrypted_keys?: string | undefined;
}

/**
 * @param members that are added before the tables.
 * @returns the file's bytes in slices, one row a line; the last slice is the checksum. The
 *   generator returns the outline.
 */
export function* baseSlices(
  snapshot: Snapshot,
  members: BackupMembers = {},
): Generator<Uint8Array, Outline> {
  const slices = reusedBaseSlices(snapshot, members);
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
    yield Buffer.from(step.value);
  }
}

/**
 * As {@link baseSlices}, but each slice reuses the memory of the one before, so that the caller has
 * to write or hash it at once. Otherwise a checkpoint would need new memory for the whole base.
 */
export function* reusedBaseSlices(
  snapshot: Snapshot,
  members: BackupMembers = {},
): Generator<Uint8Array, Outline> {
  const { sequence, digest: previous, time, lastIds } = snapshot;
  const head = { schema: SCHEMA_VERSION, sequence, previous, time, last_ids: lastIds, ...members };
  const slice = new SliceMemory();
  slice.beginPart();
  slice.add(`${JSON.stringify(head).slice(0, -1)},"tables":{`);
  const headPart = slice.endPart();
  slice.add('\n');
  const tables = perKind((): ChunkOutline[] => []);
  for (const [nth, { name }] of ALL_KINDS.entries()) {
    slice.add(tableBeginning(name, nth));
    yield* addTable(slice, snapshot.rows[name], tables[name]);
  }
  slice.add(TABLES_END);
  yield slice.take();
  const base = slice.digest();
  yield Buffer.from(checksumMember(base));
  return { base, head: headPart.crc32, tables };
}

/** @param outline gets an entry for each chunk. */
function* addTable(
  slice: SliceMemory,
  table: RowParts,
  outline: ChunkOutline[],
): Generator<Uint8Array, void> {
  let separator = '\n';
  for (const { number, size: count, rows } of table.chunks()) {
    slice.add(separator);
    slice.beginPart();
    const { text } = rows;
    if (text === null) yield* addRows(slice, rows.written());
    else if (text.length < SMALL_BYTES) slice.copy(text);
    else yield* slice.pass(text);
    const { bytes, crc32 } = slice.endPart();
    outline.push([number, count, bytes, crc32]);
    if (slice.isFull) yield slice.take();
    separator = BETWEEN_ROWS;
  }
}

/** Adds rows as JSON, one a line. @param rows as objects, or as the bytes that would be written. */
function* addRows(slice: SliceMemory, rows: Iterable<Row | Buffer>): Generator<Uint8Array, void> {
  let isFirst = true;
  for (const row of rows) {
    if (!isFirst) slice.add(BETWEEN_ROWS);
    isFirst = false;
    if (Buffer.isBuffer(row)) slice.copy(row);
    else if (hasLongText(row)) yield* addLongRow(slice, row);
    else slice.add(JSON.stringify(row));
    if (slice.isFull) yield slice.take();
  }
}

function hasLongText(row: Row): boolean {
  for (const name in row) if (isLong(row[name])) return true;
  return false;
}

function* addLongRow(slice: SliceMemory, row: Row): Generator<Uint8Array, void> {
  let separator = '{';
  for (const [name, value] of Object.entries(row)) {
    slice.add(`${separator}${JSON.stringify(name)}:`);
    if (isLong(value)) yield* addLongText(slice, value);
    else slice.add(JSON.stringify(value));
    separator = ',';
  }
  slice.add('}');
}

function isLong(value: Scalar | undefined): value is string {
  return typeof value === 'string' && value.length > PIECE_LENGTH;
}

/** Adds the text of `JSON.stringify` in pieces, since it takes milliseconds for each megabyte. */
function* addLongText(slice: SliceMemory, value: string): Generator<Uint8Array, void> {
  slice.add('"');
  for (let start = 0; start < value.length; ) {
    const end = cutBetweenCharacters(value, start + PIECE_LENGTH);
    slice.add(JSON.stringify(value.slice(start, end)).slice(1, -1));
    if (slice.isFull) yield slice.take();
    start = end;
  }
  slice.add('"');
}

/** @returns the error for a store that an earlier version of the program has written. */
export function earlierSchema(directory: string, found: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `${directory} has schema version ${found}, this program has ${SCHEMA_VERSION}; run: catalog-server migrate --data ${shellWord(directory)}`,
  );
}

/** @returns the error for a store that a later version of the program has written. */
export function laterSchema(path: string, found: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `${path} has schema version ${found}, this program has ${SCHEMA_VERSION}; use a newer catalog-server (catalog-server migrate only goes forward)`,
  );
}
