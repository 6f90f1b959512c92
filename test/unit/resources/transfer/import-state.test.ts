/** How much of an import is listed (spec 12.7). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ImportState } from '../../../../src/resources/transfer/import-state.ts';

const UNITS = 1024 * 1024;

/** The report of an import that changes rows. @param units of the text of each change, about. */
function reportOf(rows: number, units: number) {
  const state = new ImportState(1, 'goods', false);
  for (let id = 1; id <= rows; id += 1) {
    const fields = () => ({ desc_detail: ['', 'x'.repeat(units)] as const });
    state.count(id, { change: { action: 'update', id, fields }, created: [] });
  }
  return JSON.parse(state.text);
}

test('1,000 changes are listed, and all are counted', () => {
  const { changes, change_count: count, changed } = reportOf(1002, 1);
  assert.equal([changes.length, count, changed], [1000, 1002, 1002]);
});

test('no further change is listed after 4 Mi characters, and all are counted', () => {
  const { changes, change_count: count, changed } = reportOf(9, UNITS);
  assert.equal([changes.length, count, changed], [4, 9, 9]);
});

test('1,000 errors are listed, and all are counted', () => {
  const state = new ImportState(1, 'goods', false);
  for (let row = 2; row < 1004; row += 1) state.addError({ row, column: 'name', message: 'wrong' });
  const { errors, error_count: count } = JSON.parse(state.text);
  assert.equal([errors.length, count], [1000, 1002]);
});

test.run();
