/** The report of an import on the command line (spec 8.14). */
import type { Context } from '../../../app/context.ts';
import { CatalogError } from '../../../errors.ts';
import type { Kind } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import type { ImportError, ImportReport } from '../../../resources/transfer/import-state.ts';

/** Characters of a value that a line shows. */
const MAX_SHOWN = 60;

/**
 * Prints a line for each error; for each row that would change, if nothing is written; and what
 * was imported.
 *
 * @param file the name of the file for messages.
 * @throws CatalogError `import_failed` unless the import is done.
 */
export function report(file: string, kind: Kind, found: ImportReport, context: Context): void {
  const { state, errors, error_count, dry_run } = found;
  for (const error of errors) context.print(describeError(error));
  if (error_count > errors.length) context.print(`and ${error_count - errors.length} more errors`);
  if (state !== 'done') throw failure(file, found);
  if (dry_run) {
    printMissing(found, context);
    printChanges(kind, found, context);
  }
  const { rows, created, changed, unchanged } = found;
  const would = dry_run ? 'would be ' : '';
  const count = rows === 1 ? '1 row' : `${rows} rows`;
  const { created_missing_count: missing = 0 } = found;
  const items = missing === 1 ? '1 missing item' : `${missing} missing items`;
  const also = missing === 0 ? '' : `, ${items} ${would}created`;
  context.print(
    `${file}: ${count}, ${created} ${would}created, ${changed} ${would}changed, ${unchanged} unchanged${also}`,
  );
}

function failure(file: string, { state, errors, error_count }: ImportReport): CatalogError {
  const count = error_count === 1 ? 'one error' : `${error_count} errors`;
  const [first] = state === 'refused' ? errors : errors.slice(-1);
  const why = first === undefined ? '' : `: ${describeError(first)}`;
  const what =
    state === 'refused'
      ? `nothing was imported from ${file}: ${count}, listed on standard output; the first is`
      : `the import of ${file} failed`;
  return new CatalogError('import_failed', `${what}${why}`);
}

/** `row 3, category: there is no category "Phonse"`. */
function describeError({ row, column, message }: ImportError): string {
  const place = [
    ...(row === null ? [] : [`row ${row}`]),
    ...(column === null ? [] : [column]),
  ].join(', ');
  return oneLine(place === '' ? message : `${place}: ${message}`);
}

function printMissing(
  { created_missing = [], created_missing_count: count = 0 }: ImportReport,
  context: Context,
): void {
  for (const { row, resource, name } of created_missing) {
    const what = `${KINDS[resource].label} ${JSON.stringify(name)}`;
    context.print(oneLine(`row ${row}: missing ${what} would be created`));
  }
  const more = count - created_missing.length;
  if (more > 0) context.print(`and ${more} more missing items`);
}

function printChanges(kind: Kind, { changes, change_count }: ImportReport, context: Context): void {
  for (const { row, id, action, fields } of changes) {
    const what = action === 'create' ? 'created' : 'changed';
    const values = Object.entries(fields).map(([name, [before, after]]) =>
      action === 'create'
        ? `${name} ${shown(after)}`
        : `${name} ${shown(before)} -> ${shown(after)}`,
    );
    context.print(
      oneLine(`row ${row}: ${kind.label} ${id} would be ${what}: ${values.join(', ')}`),
    );
  }
  if (change_count > changes.length)
    context.print(`and ${change_count - changes.length} more rows`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** A message may quote a cell that has several lines. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
