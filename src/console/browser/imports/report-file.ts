/** The report of an import as a table that a spreadsheet reads. */
import type { components } from '../../../../dist/console/api.d.ts';
import { cellOf, writeRecord } from './csv.ts';

type Listed = Pick<components['schemas']['Import'], 'errors' | 'changes' | 'created_missing'>;

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
