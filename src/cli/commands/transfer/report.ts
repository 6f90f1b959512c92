/** The report of an import on the command line (spec 8.14). */
import type { Context } from '../../../app/context.ts';
import { CatalogError } from '../../../errors.ts';
import { cutBetweenCharacters } from '../../../model/characters.ts';
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
  printRest(error_count - errors.length, 'error', context);
  if (state !== 'done') throw failure(file, found);
  if (dry_run) {
    printMissing(found, context);
    printChanges(kind, found, context);
  }
  const { rows, created, changed, unchanged } = found;
  const would = dry_run ? 'would be ' : '';
  const { created_missing_count: missing = 0 } = found;
  const also = missing === 0 ? '' : `, ${counted(missing, 'missing item')} ${would}created`;
  context.print(
    `${file}: ${counted(rows, 'row')}, ${created} ${would}created, ${changed} ${would}changed, ${unchanged} unchanged${also}`,
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
  printRest(count - created_missing.length, 'missing item', context);
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
  printRest(change_count - changes.length, 'row', context);
}

/** A report lists only the first errors, items and rows. */
function printRest(count: number, what: string, context: Context): void {
  if (count > 0) context.print(`and ${counted(count, `more ${what}`)}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN
    ? `${text.slice(0, cutBetweenCharacters(text, MAX_SHOWN))}…`
    : text;
}

/** A message may quote a cell that has several lines. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
