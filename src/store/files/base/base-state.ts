/** The state that a base document holds, in the form of the current version. */
import type { KindName } from '../../../model/kind.ts';
import { ALL_KINDS } from '../../../model/kinds.ts';
import { perKind } from '../../../model/per-kind.ts';
import { RowTable } from '../../memory/row-table.ts';
import { State } from '../../state.ts';
import { damaged } from '../files.ts';
import { type BaseDocument, migrated, SCHEMA_VERSION } from '../schema.ts';

/** The content of a base, found by its lines or by its outline. */
export interface BaseTables {
  /** The document without rows. */
  readonly head: unknown;
  readonly rows: Record<KindName, RowTable>;
}

/**
 * @param document of the version, without rows.
 * @param rows of which the state takes ownership.
 * @throws CatalogError `store_damaged` if a migration needs a row that cannot be read.
 */
export function stateOfTables(
  path: string,
  schema: number,
  document: object,
  rows: Record<KindName, RowTable>,
): State {
  if (schema === SCHEMA_VERSION) return stateOf(migrated(schema, document), rows);
  const read = perKind(({ name }) => [...rows[name].values()]);
  return stateOfDocument(path, schema, { ...document, tables: read });
}

/**
 * @param document of the version, with its rows.
 * @throws CatalogError `store_damaged` if two rows of a kind have one id.
 */
export function stateOfDocument(path: string, schema: number, document: object): State {
  const base = migrated(schema, document);
  const rows = perKind(({ name }) => new RowTable(base.tables[name]));
  for (const { name } of ALL_KINDS) {
    if (rows[name].size !== (base.tables[name]?.length ?? 0)) {
      throw damaged(path, `${name} has two rows with one id`);
    }
  }
  return stateOf(base, rows);
}

function stateOf(
  { sequence, previous, time, last_ids }: BaseDocument,
  rows: Record<KindName, RowTable>,
): State {
  const lastIds = perKind(({ name }) => last_ids[name] ?? 0);
  return new State({ sequence, digest: previous, time, lastIds, rows });
}
