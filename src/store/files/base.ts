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
    while (rest.length >= SLICE_LENGTH) {
      const end = endOfSlice(rest, 0);
      yield encode(rest.slice(0, end));
      rest = rest.slice(end);
    }
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

/** The JSON text of a row; that of a row with a long text in pieces. */
function* rowTexts(row: Row): Generator<string> {
  if (!Object.values(row).some(isLong)) {
    yield JSON.stringify(row);
    return;
  }
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
    let separator = '';
    for (const row of snapshot.rows[name]) {
      yield `${separator}\n`;
      yield* rowTexts(row);
      separator = ',';
    }
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
