/** spec 8.14: the lines of `import` about its errors, its changes and its counts. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { report } from '../../../../src/cli/commands/transfer/report.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import type { ImportReport } from '../../../../src/resources/transfer/import-state.ts';
import { contextOf } from '../../../support/service.ts';

const DONE: ImportReport = {
  id: 1,
  collection: 'brands',
  state: 'done',
  dry_run: false,
  rows: 3,
  created: 1,
  changed: 1,
  unchanged: 1,
  refused: 0,
  error_count: 0,
  change_count: 0,
  errors: [],
  changes: [],
};

/** What is printed, and with which message the command fails; null if it does not. */
function said(found: Partial<ImportReport>): { lines: string[]; failure: string | null } {
  const lines: string[] = [];
  const context = { ...contextOf(), print: (line: string) => void lines.push(line) };
  try {
    report('brands.csv', KINDS.brands, { ...DONE, ...found }, context);
    return { lines, failure: null };
  } catch (error) {
    assert.instance(error, CatalogError);
    const { code, message } = error as CatalogError;
    assert.is(code, 'import_failed');
    return { lines, failure: message };
  }
}

const lastOf = (found: Partial<ImportReport>) => said(found).lines.at(-1);

test('the last line counts the rows, and the items that were created for names', () => {
  assert.is(lastOf({}), 'brands.csv: 3 rows, 1 created, 1 changed, 1 unchanged');
  assert.match(lastOf({ rows: 1 }) ?? '', ': 1 row, ');
  assert.match(lastOf({ rows: 0 }) ?? '', ': 0 rows, ');
  assert.match(lastOf({ created_missing_count: 1 }) ?? '', /, 1 missing item created$/);
  assert.match(lastOf({ created_missing_count: 2 }) ?? '', /, 2 missing items created$/);
  assert.is(
    lastOf({ created_missing_count: 2, dry_run: true }),
    'brands.csv: 3 rows, 1 would be created, 1 would be changed, 1 unchanged, 2 missing items would be created',
  );
});

const ERRORS = [
  { row: 3, column: 'name', message: 'is "one\r\ntwo"' },
  { row: 4, column: null, message: 'has too many cells' },
  { row: null, column: null, message: 'the file is cut off' },
];

test('each error has a line with its row and its column, if it has any, and the rest are counted', () => {
  const { lines, failure } = said({ state: 'refused', errors: ERRORS, error_count: 5 });
  assert.equal(lines, [
    'row 3, name: is "one two"',
    'row 4: has too many cells',
    'the file is cut off',
    'and 2 more errors',
  ]);
  assert.is(
    failure,
    'nothing was imported from brands.csv: 5 errors, listed on standard output; the first is: row 3, name: is "one two"',
  );
  assert.is(lastOf({ state: 'refused', errors: ERRORS, error_count: 4 }), 'and 1 more error');
  const one = said({ state: 'refused', errors: ERRORS.slice(1, 2), error_count: 1 });
  assert.match(one.failure ?? '', ': one error, listed');
  assert.is(one.lines.length, 1);
});

test('an import that failed while it wrote gives the last error as the reason', () => {
  const { failure } = said({ state: 'failed', errors: ERRORS, error_count: 3 });
  assert.is(failure, 'the import of brands.csv failed: the file is cut off');
  assert.is(said({ state: 'failed' }).failure, 'the import of brands.csv failed');
});

test('a dry run has a line for each listed item and row, and the rest are counted', () => {
  const found: Partial<ImportReport> = {
    dry_run: true,
    created_missing: [{ row: 2, resource: 'brands', id: 7, name: 'Acme\n' }],
    created_missing_count: 2,
    changes: [
      { row: 2, id: 8, action: 'create', fields: { name: [null, 'New'], logo: [null, ''] } },
      { row: 3, id: 1, action: 'update', fields: { name: ['Old', 'Newer'] } },
    ],
    change_count: 3,
  };
  assert.equal(said(found).lines.slice(0, -1), [
    'row 2: missing brand "Acme\\n" would be created',
    'and 1 more missing item',
    'row 2: brand 8 would be created: name "New", logo ""',
    'row 3: brand 1 would be changed: name "Old" -> "Newer"',
    'and 1 more row',
  ]);
  const more = said({ ...found, created_missing_count: 5, change_count: 9 }).lines;
  assert.is(more[1], 'and 4 more missing items');
  assert.is(more[4], 'and 7 more rows');
  const all = said({ ...found, created_missing_count: 1, change_count: 2 }).lines;
  assert.not.ok(all.some((line) => line.startsWith('and ')));
  assert.is(said({ ...found, dry_run: false }).lines.length, 1, 'an import lists no changes');
});

test('of a long value the first 60 characters are shown, and no half of a character', () => {
  const shownOf = (value: string) => {
    const fields = { name: [null, value] as const };
    const changes = [{ row: 2, id: 8, action: 'create' as const, fields }];
    return said({ dry_run: true, changes, change_count: 1 }).lines[0]?.split('name ')[1];
  };
  const fits = 'x'.repeat(58);
  assert.is(shownOf(fits), `"${fits}"`);
  assert.is(shownOf(`${fits}yz`), `"${fits}y…`);
  assert.is(shownOf(`${fits}\u{1f600}`), `"${fits}…`);
});

test.run();
