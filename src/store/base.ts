/** The base document: the whole catalog as of one change set, in a file that a person can read. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { CatalogError } from '../errors.ts';
import { ALL_KINDS } from '../model/kinds.ts';
import type { KindName, Row } from '../model/kind.ts';
import { damaged, seal, shapes, unseal } from './change-set.ts';

/** The version of the files' form that this program reads and writes. */
export const SCHEMA_VERSION = 1;

/** Rows between two pauses of {@link baseSlices}: well under a millisecond of work. */
const SLICE = 400;

export interface Snapshot {
  /** Of the last change set that is contained. */
  readonly sequence: number;
  /** The digest of that change set; before the first, what tells this history from others. */
  readonly previous: string;
  readonly lastIds: Readonly<Record<KindName, number>>;
  readonly rows: Readonly<Record<KindName, readonly Row[]>>;
}

const baseShape = v.object({
  schema: shapes.count,
  sequence: shapes.count,
  previous: shapes.digest,
  last_ids: shapes.lastIds,
  tables: shapes.rows,
});

export interface Base extends Omit<Snapshot, 'rows' | 'lastIds'> {
  readonly lastIds: Readonly<Partial<Record<KindName, number>>>;
  readonly rows: Readonly<Partial<Record<KindName, readonly Row[]>>>;
  readonly digest: string;
}

/** @throws CatalogError `store_damaged`, `schema_version`. */
export function decodeBase(name: string, bytes: Buffer): Base {
  const { value, digest } = unseal(name, bytes);
  // A later version may have another shape: it is to be told from damage.
  const version = v.safeParse(v.looseObject({ schema: shapes.count }), value);
  if (version.success && version.output.schema !== SCHEMA_VERSION) {
    throw otherSchema(dirname(name), version.output.schema);
  }
  const parsed = v.safeParse(baseShape, value);
  if (!parsed.success) throw damaged(name, v.summarize(parsed.issues).split('\n')[0] ?? '');
  const { sequence, previous, last_ids, tables } = parsed.output;
  return { sequence, previous, lastIds: last_ids, rows: tables, digest };
}

/** The file in slices, one row a line; the last slice seals it. */
export function* baseSlices(snapshot: Snapshot): Generator<Uint8Array> {
  const hash = createHash('sha256');
  const slice = (text: string) => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    return bytes;
  };
  const { sequence, previous, lastIds } = snapshot;
  const head = JSON.stringify({ schema: SCHEMA_VERSION, sequence, previous, last_ids: lastIds });
  yield slice(`${head.slice(0, -1)},"tables":{`);
  for (const [index, { name }] of ALL_KINDS.entries()) {
    yield slice(`${index === 0 ? '' : ','}\n"${name}":[`);
    const rows = snapshot.rows[name];
    for (let start = 0; start < rows.length; start += SLICE) {
      const lines = rows.slice(start, start + SLICE).map((row) => `\n${JSON.stringify(row)}`);
      yield slice((start === 0 ? '' : ',') + lines.join(','));
    }
    yield slice(']');
  }
  yield slice('\n}');
  yield Buffer.from(seal(hash.digest('hex')));
}

function otherSchema(directory: string, found: number): CatalogError {
  const what = `${directory} has schema version ${found}, this program has ${SCHEMA_VERSION}`;
  return new CatalogError(
    'schema_version',
    found < SCHEMA_VERSION
      ? `${what}; run: catalog-server migrate --data ${directory}`
      : `${what}; use a newer catalog-server (catalog-server migrate only goes forward)`,
  );
}
