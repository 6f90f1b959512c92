/**
 * The base document: the whole state as of one change set, as JSON that a person can read, with one
 * row a line. It may be larger than any string or buffer can be, so it is written in slices and
 * read in pieces (base/base-reader.ts).
 */
import { createHash } from 'node:crypto';
import { CatalogError } from '../../errors.ts';
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import { perKind } from '../../model/per-kind.ts';
import type { RowParts } from '../memory/row-table.ts';
import type { Snapshot } from '../state.ts';
import type { ChunkOutline, Outline } from './base/outline.ts';
import { BETWEEN_ROWS, TABLES_END, tableBeginning } from './base/row-line.ts';
import { checksumMember } from './files.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** Characters of a slice, about: a fraction of a millisecond of work. A row may take several. */
const SLICE_LENGTH = 64 * 1024;

/** Text that is not written by itself: in a table with few ids of each thousand, slices would be tiny. */
const SMALL_BYTES = 8 * 1024;

/** Members that a backup has before its tables. The store itself has no use for them. */
export interface BackupMembers {
  /** The content of `access.json`. */
  readonly access?: object | undefined;
  /** An armoured age file. */
  readonly encrypted_keys?: string | undefined;
}

/** Where a chunk begins among the parts of a base; its rows follow. */
const CHUNK_START = Symbol('the start of a chunk');

/** Where it ends. */
interface ChunkEnd {
  readonly kind: KindName;
  readonly number: number;
  readonly rows: number;
}

/** A text, or bytes that are as they would be written. */
type Part = string | Buffer | typeof CHUNK_START | ChunkEnd;

/**
 * @param members that are added before the tables.
 * @returns the file's bytes in slices, one row a line; the last slice is the checksum. When all were
 *   taken, the outline.
 */
export function* baseSlices(
  snapshot: Snapshot,
  members: BackupMembers = {},
): Generator<Uint8Array, Outline> {
  const hash = createHash('sha256');
  const encode = (text: string): Uint8Array => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    return bytes;
  };
  const tables = perKind((): ChunkOutline[] => []);
  /** Bytes so far, and those before the chunk. */
  let size = 0;
  let start = 0;
  let rest = '';
  for (const part of baseParts(snapshot, members)) {
    if (part === CHUNK_START) {
      start = size;
      continue;
    }
    if (Buffer.isBuffer(part)) {
      size += part.length;
      if (rest !== '') yield encode(rest);
      rest = '';
      hash.update(part);
      yield part;
      continue;
    }
    if (typeof part === 'object') {
      tables[part.kind].push([part.number, part.rows, size - start]);
      continue;
    }
    size += Buffer.byteLength(part);
    rest += part;
    while (rest.length >= 2 * SLICE_LENGTH) {
      const end = endOfSlice(rest, 0);
      yield encode(rest.slice(0, end));
      rest = rest.slice(end);
    }
    if (rest.length < SLICE_LENGTH) continue;
    yield encode(rest);
    rest = '';
  }
  yield encode(rest);
  const base = hash.digest('hex');
  yield Buffer.from(checksumMember(base));
  return { base, tables };
}

/**
 * @param start of the slice.
 * @returns where it ends: not within a surrogate pair, which is one character of UTF-8.
 */
function endOfSlice(text: string, start: number): number {
  const end = start + SLICE_LENGTH;
  return /^[\uD800-\uDBFF]$/.test(text.charAt(end - 1)) ? end + 1 : end;
}

function* tableParts(kind: KindName, table: RowParts): Generator<Part> {
  let separator = '\n';
  for (const { number, size, rows } of table.chunks()) {
    yield separator;
    yield CHUNK_START;
    const { text } = rows;
    if (text === null) yield* rowTexts(rows.written());
    else if (text.length < SMALL_BYTES) yield text.toString('utf8');
    else yield* slicesOf(text);
    yield { kind, number, rows: size };
    separator = BETWEEN_ROWS;
  }
}

function* slicesOf(text: Buffer): Generator<Buffer> {
  for (let start = 0; start < text.length; start += SLICE_LENGTH) {
    yield text.subarray(start, start + SLICE_LENGTH);
  }
}

/**
 * Rows as JSON, one a line: several in one text, and a row with a long text in pieces.
 *
 * @param rows and texts of rows, as they would be written.
 */
function* rowTexts(rows: Iterable<Row | string>): Generator<string> {
  let text = '';
  let separator = '';
  for (const row of rows) {
    if (typeof row !== 'string' && hasLongText(row)) {
      yield text + separator;
      yield* longRow(row);
      text = '';
    } else {
      text += separator + (typeof row === 'string' ? row : JSON.stringify(row));
      if (text.length >= SLICE_LENGTH) {
        yield text;
        text = '';
      }
    }
    separator = BETWEEN_ROWS;
  }
  yield text;
}

function hasLongText(row: Row): boolean {
  for (const name in row) if (isLong(row[name])) return true;
  return false;
}

function* longRow(row: Row): Generator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(row)) {
    yield `${separator}${JSON.stringify(name)}:`;
    if (isLong(value)) yield* longText(value);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield '}';
}

function isLong(value: Scalar | undefined): value is string {
  return typeof value === 'string' && value.length > SLICE_LENGTH;
}

/** The same text as of `JSON.stringify`, which takes milliseconds for each megabyte. */
function* longText(value: string): Generator<string> {
  yield '"';
  for (let start = 0; start < value.length; ) {
    const end = endOfSlice(value, start);
    yield JSON.stringify(value.slice(start, end)).slice(1, -1);
    start = end;
  }
  yield '"';
}

function* baseParts(snapshot: Snapshot, members: BackupMembers): Generator<Part> {
  const { sequence, digest: previous, time, lastIds } = snapshot;
  const head = { schema: SCHEMA_VERSION, sequence, previous, time, last_ids: lastIds, ...members };
  yield `${JSON.stringify(head).slice(0, -1)},"tables":{\n`;
  for (const [nth, { name }] of ALL_KINDS.entries()) {
    yield tableBeginning(name, nth);
    yield* tableParts(name, snapshot.rows[name]);
  }
  yield TABLES_END;
}

/** @returns the error for a store that an earlier version of the program has written. */
export function earlierSchema(directory: string, found: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `${directory} has schema version ${found}, this program has ${SCHEMA_VERSION}; run: catalog-server migrate --data ${directory}`,
  );
}

/** @returns the error for a store that a later version of the program has written. */
export function laterSchema(path: string, found: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `${path} has schema version ${found}, this program has ${SCHEMA_VERSION}; use a newer catalog-server (catalog-server migrate only goes forward)`,
  );
}
