/**
 * The base document: the whole state as of one change set, as JSON that a person can read, with one
 * row a line. It may be larger than any string or buffer can be, so it is written in slices and
 * read in pieces (base/base-reader.ts).
 */
import { createHash } from 'node:crypto';
import { CatalogError } from '../../errors.ts';
import type { Row, Scalar } from '../../model/kind.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import type { Snapshot } from '../state.ts';
import { checksumMember } from './files.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** Characters of a slice, about: a fraction of a millisecond of work. A row may take several. */
const SLICE_LENGTH = 64 * 1024;

/** Members that a backup has before its tables. The store itself has no use for them. */
export interface BackupMembers {
  /** The content of `access.json`. */
  readonly access?: object | undefined;
  /** An armoured age file. */
  readonly encrypted_keys?: string | undefined;
}

/**
 * @param members that are added before the tables.
 * @returns the file's bytes in slices, one row a line; the last slice is the checksum.
 */
export function* baseSlices(
  snapshot: Snapshot,
  members: BackupMembers = {},
): Generator<Uint8Array> {
  const hash = createHash('sha256');
  const encode = (text: string): Uint8Array => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    return bytes;
  };
  let rest = '';
  for (const text of baseTexts(snapshot, members)) {
    rest += text;
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
  yield Buffer.from(checksumMember(hash.digest('hex')));
}

/**
 * @param start of the slice.
 * @returns where it ends: not within a surrogate pair, which is one character of UTF-8.
 */
function endOfSlice(text: string, start: number): number {
  const end = start + SLICE_LENGTH;
  return /^[\uD800-\uDBFF]$/.test(text.charAt(end - 1)) ? end + 1 : end;
}

/** Rows as JSON, one a line: several in one text, and a row with a long text in pieces. */
function* tableTexts(rows: Iterable<Row>): Generator<string> {
  let text = '';
  let separator = '\n';
  for (const row of rows) {
    if (hasLongText(row)) {
      yield text + separator;
      yield* longRow(row);
      text = '';
    } else {
      text += separator + JSON.stringify(row);
      if (text.length >= SLICE_LENGTH) {
        yield text;
        text = '';
      }
    }
    separator = ',\n';
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

function* baseTexts(snapshot: Snapshot, members: BackupMembers): Generator<string> {
  const { sequence, digest: previous, time, lastIds } = snapshot;
  const head = { schema: SCHEMA_VERSION, sequence, previous, time, last_ids: lastIds, ...members };
  yield `${JSON.stringify(head).slice(0, -1)},"tables":{`;
  for (const [index, { name }] of ALL_KINDS.entries()) {
    yield `${index === 0 ? '' : ','}\n"${name}":[`;
    yield* tableTexts(snapshot.rows[name]);
    yield ']';
  }
  yield '\n}';
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
