/** The encoding of a change set: one line of JSON with its checksum, the same in every log. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Row } from '../../model/kind.ts';
import { KIND_NAMES } from '../../model/kind.ts';
import { atOnce } from '../../slices.ts';
import {
  type ChangeSet,
  type ChangeSetContent,
  charactersOf,
  type EncodedChangeSet,
} from '../change-set.ts';
import { damaged, parseShape, verifyChecksum } from './files.ts';
import { checksumMember, withChecksum } from '../../json/checksum.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

function isId(input: unknown): input is number {
  return Number.isSafeInteger(input) && (input as number) >= 1;
}

/** Whether a value has the form of a stored row. */
export function isRow(input: unknown): input is Row {
  if (typeof input !== 'object' || input === null) return false;
  return isId((input as Partial<Row>).id);
}

const ROWS = 'must be a list of rows with ids';
const IDS = 'must be a list of ids';

/** One schema for a whole list: a schema for each element would take ten times as long. */
const rowList = v.custom<readonly Row[]>(
  (input) => Array.isArray(input) && input.every(isRow),
  ROWS,
);

/** A record by kind. valibot would accept a list as a record without members. */
const byKind = <const S extends v.GenericSchema>(shape: S) =>
  v.pipe(
    v.custom<object>((input) => !Array.isArray(input), 'must be an object, not a list'),
    v.record(v.picklist(KIND_NAMES), shape),
  );

/** The shapes of files. `check` judges the values too (check.ts). */
export const shapes = {
  count,
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  lastIds: byKind(count),
  rows: byKind(rowList),
};

/** The form of a change set without its digest, and without what its tables hold. */
const changeSetShape = v.object({
  sequence: shapes.count,
  previous: shapes.digest,
  time: v.string(),
  last_ids: shapes.lastIds,
  writer: v.optional(v.string()),
  put: byKind(v.unknown()),
  delete: byKind(v.unknown()),
  before: v.optional(byKind(v.unknown())),
});

/** Elements of a list that are judged between two pauses; some ten nanoseconds each. */
const STEP_ELEMENTS = 4096;

/**
 * Encodes a change set in one step, which blocks the event loop if it is large; see
 * {@link encodeInParts}. The checksum of the line becomes the digest of the change set.
 */
export function encodeChangeSet(content: ChangeSetContent): EncodedChangeSet {
  const { bytes, digest } = withChecksum(content);
  return { changeSet: { ...content, digest }, bytes };
}

/** Rows that are encoded between two pauses, and about how many characters of them. */
const STEP_ROWS = 64;
const STEP_CHARACTERS = 64 * 1024;

/** The bytes that {@link encodeChangeSet} returns, encoded in steps. */
export function* encodeInParts(content: ChangeSetContent): Generator<undefined, EncodedChangeSet> {
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  for (const text of textsOf(content)) {
    const piece = Buffer.from(text);
    hash.update(piece);
    pieces.push(piece);
    yield;
  }
  const digest = hash.digest('hex');
  pieces.push(Buffer.from(checksumMember(digest)));
  return { changeSet: { ...content, digest }, bytes: Buffer.concat(pieces) };
}

/** JSON text of a change set without the brace at its end, in pieces. */
function* textsOf({ put, delete: deleted, before, ...head }: ChangeSetContent): Generator<string> {
  yield JSON.stringify(head).slice(0, -1);
  yield ',"put":';
  yield* tablesText(put);
  yield `,"delete":${JSON.stringify(deleted)}`;
  if (before === undefined) return;
  yield ',"before":';
  yield* tablesText(before);
}

/** JSON text of rows by kind, in pieces. */
function* tablesText(tables: ChangeSetContent['put']): Generator<string> {
  yield '{';
  let separator = '';
  for (const [kind, rows] of Object.entries(tables)) {
    yield `${separator}"${kind}":[`;
    let start = 0;
    while (start < rows.length) {
      const end = endOfStep(rows, start);
      const text = JSON.stringify(rows.slice(start, end)).slice(1, -1);
      yield start === 0 ? text : `,${text}`;
      start = end;
    }
    yield ']';
    separator = ',';
  }
  yield '}';
}

/** @returns the index after the last row of the step that begins at `start`. */
function endOfStep(rows: readonly Row[], start: number): number {
  let characters = 0;
  let end = start;
  while (end < rows.length && end - start < STEP_ROWS && characters < STEP_CHARACTERS) {
    characters += charactersOf(rows[end] as Row);
    end += 1;
  }
  return end;
}

/**
 * @param path of the file, for the message.
 * @throws CatalogError `store_damaged`.
 */
export function decodeChangeSet(path: string, bytes: Buffer): ChangeSet {
  const { value, digest } = verifyChecksum(path, bytes);
  return atOnce(judgeInParts(path, value, digest));
}

/**
 * Judges a parsed file, in steps.
 *
 * @returns the change set in it.
 * @throws CatalogError `store_damaged`.
 */
export function* judgeInParts(
  path: string,
  value: unknown,
  digest: string,
): Generator<undefined, ChangeSet> {
  const content = parseShape(path, changeSetShape, value);
  const { put, delete: deleted, before = {} } = content;
  yield* judgeElements(path, put, isRow, ROWS);
  yield* judgeElements(path, deleted, isId, IDS);
  yield* judgeElements(path, before, isRow, ROWS);
  return { ...(content as ChangeSetContent), digest };
}

function* judgeElements(
  path: string,
  tables: Readonly<Record<string, unknown>>,
  isElement: (input: unknown) => boolean,
  what: string,
): Generator<undefined, void> {
  for (const elements of Object.values(tables)) {
    if (!Array.isArray(elements)) throw damaged(path, what);
    for (let at = 0; at < elements.length; at += STEP_ELEMENTS) {
      if (!elements.slice(at, at + STEP_ELEMENTS).every(isElement)) throw damaged(path, what);
      yield;
    }
  }
}

/**
 * Decodes the change set that has to be the next one.
 *
 * @param previous digest of the change set before; null if that could not be read.
 * @throws CatalogError `store_damaged` if it is another one, or of another history.
 */
export function decodeNext(
  path: string,
  bytes: Buffer,
  sequence: number,
  previous: string | null,
): ChangeSet {
  return requireNext(path, decodeChangeSet(path, bytes), sequence, previous);
}

/** Checks the place of a change set in the chain. See {@link decodeNext}. */
export function requireNext(
  path: string,
  changeSet: ChangeSet,
  sequence: number,
  previous: string | null,
): ChangeSet {
  if (changeSet.sequence !== sequence) {
    throw damaged(path, `it holds change set ${changeSet.sequence}`);
  }
  if (previous !== null && changeSet.previous !== previous) {
    throw damaged(path, 'it does not follow the change set before it; it is from another history');
  }
  return changeSet;
}
