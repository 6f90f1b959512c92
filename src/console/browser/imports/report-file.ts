/** The report of an import as a table that a spreadsheet reads. */
import { cellOf, writeRecord } from './csv.ts';

/** The lists of an import (spec 12.7). */
interface Listed {
  readonly errors: readonly {
    readonly row: number | null;
    readonly column: string | null;
    readonly message: string;
  }[];
  readonly changes: readonly {
    readonly row: number;
    readonly id: number;
    readonly action: string;
    readonly fields: Readonly<Record<string, readonly unknown[]>>;
  }[];
  /** Reports of earlier versions have no such list. */
  readonly created_missing?: readonly {
    readonly row: number;
    readonly resource: string;
    readonly id: number;
    readonly name: string;
  }[];
}

const HEADER = ['row', 'column', 'id', 'result', 'before', 'after'];

/** CSV of everything that the server lists. */
export function reportFile({ errors, changes, created_missing: missing = [] }: Listed): string {
  const rows: unknown[][] = [HEADER];
  for (const { row, column, message } of errors) {
    rows.push([row, column, null, message, null, null]);
  }
  for (const { row, resource, id, name } of missing) {
    rows.push([row, resource, id, 'create', null, name]);
  }
  for (const { row, id, action, fields } of changes) {
    for (const [name, [before, after]] of Object.entries(fields)) {
      rows.push([row, name, id, action, before, after]);
    }
  }
  return rows.map((cells) => writeRecord(cells.map(cellOf), ',')).join('');
}
