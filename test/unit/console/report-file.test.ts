/** The report of an import as the console stores it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reportFile } from '../../../src/console/browser/imports/report-file.ts';

const REPORT: Parameters<typeof reportFile>[0] = {
  errors: [],
  changes: [{ row: 2, id: 7, action: 'update', fields: { stock: [1, 2], name: ['-', 'A, "B"'] } }],
  created_missing: [{ row: 2, resource: 'options', id: 9, name: 'Purple' }],
};

const HEADER = 'row,column,id,result,before,after\r\n';

test('a report has each value that changes, and each item that is created for a name', () => {
  assert.is(
    reportFile(REPORT),
    `${HEADER}2,options,9,create,,Purple\r\n2,stock,7,update,1,2\r\n2,name,7,update,'-,"A, ""B"""\r\n`,
  );
});

test('an error that quotes a formula of the file is no formula in the report', () => {
  const errors = [
    { row: 1, column: '=1+1', message: 'is not a column' },
    { row: null, column: null, message: '=1+1 is in the file twice' },
  ];
  assert.is(
    reportFile({ errors, changes: [] }),
    `${HEADER}1,'=1+1,,is not a column,,\r\n,,,'=1+1 is in the file twice,,\r\n`,
  );
});

test.run();
