/** The base document: the whole state as of one change set, as JSON that a person can read. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { CatalogError } from '../../errors.ts';
import { ALL_KINDS } from '../../model/kinds.ts';
import type { Row } from '../../model/kind.ts';
import { shapes } from './change-set.ts';
import { type Snapshot, State } from '../state.ts';
import { damaged, parseShape, checksumMember, verifyChecksum } from './files.ts';
import { perKind } from '../../model/per-kind.ts';
import { RowTable } from '../memory/row-table.ts';
import { type BaseDocument, migrated, SCHEMA_VERSION, shapeOf } from './schema.ts';

/** Rows between two pauses of {@link baseSlices}: well under a millisecond of work. */
const ROWS_PER_SLICE = 400;

export interface Base {
  /** The version of the file. The state has the form of the current version. */
  readonly schema: number;
  readonly state: State;
}

/**
 * Reads a base of this version or an earlier one.
 *
 * @throws CatalogError `store_damaged`; `schema_version` if a later program has written it.
 */
export function decodeBase(path: string, bytes: Buffer): Base {
  const { value } = verifyChecksum(path, bytes);
  const { schema } = parseShape(path, v.looseObject({ schema: shapes.count }), value);
  if (schema > SCHEMA_VERSION) throw laterSchema(path, schema);
  const shape = shapeOf(schema);
  if (shape === undefined) throw damaged(path, `there has never been a schema version ${schema}`);
  return { schema, state: stateOf(path, migrated(schema, parseShape(path, shape, value))) };
}

function stateOf(path: string, base: BaseDocument): State {
  const { sequence, previous, time, last_ids, tables } = base;
  const rows = perKind(({ name }) => new RowTable(tables[name]));
  for (const { name } of ALL_KINDS) {
    if (rows[name].size !== (tables[name]?.length ?? 0)) {
      throw damaged(path, `${name} has two rows with one id`);
    }
  }
  const lastIds = perKind(({ name }) => last_ids[name] ?? 0);
  return new State({ sequence, digest: previous, time, lastIds, rows });
}

/** @returns the file's bytes in slices, one row a line; the last slice is the checksum. */
export function* baseSlices(snapshot: Snapshot): Generator<Uint8Array> {
  const hash = createHash('sha256');
  const slice = (text: string) => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    return bytes;
  };
  const { sequence, digest: previous, time, lastIds } = snapshot;
  const head = { schema: SCHEMA_VERSION, sequence, previous, time, last_ids: lastIds };
  yield slice(`${JSON.stringify(head).slice(0, -1)},"tables":{`);
  for (const [index, { name }] of ALL_KINDS.entries()) {
    yield slice(`${index === 0 ? '' : ','}\n"${name}":[`);
    let separator = '';
    for (const lines of sliced(snapshot.rows[name])) {
      yield slice(separator + lines.join(','));
      separator = ',';
    }
    yield slice(']');
  }
  yield slice('\n}');
  yield Buffer.from(checksumMember(hash.digest('hex')));
}

function* sliced(rows: Iterable<Row>): Generator<string[]> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(`\n${JSON.stringify(row)}`);
    if (lines.length === ROWS_PER_SLICE) {
      yield lines;
      lines = [];
    }
  }
  if (lines.length > 0) yield lines;
}

/** @returns the error for a store that an earlier version of the program has written. */
export function earlierSchema(directory: string, found: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `${directory} has schema version ${found}, this program has ${SCHEMA_VERSION}; run: catalog-server migrate --data ${directory}`,
  );
}

function laterSchema(path: string, found: number): CatalogError {
  return new CatalogError(
    'schema_version',
    `${path} has schema version ${found}, this program has ${SCHEMA_VERSION}; use a newer catalog-server (catalog-server migrate only goes forward)`,
  );
}
