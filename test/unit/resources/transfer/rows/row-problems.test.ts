/** Which failures are problems of a row of a file, and which end its import. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../../src/errors.ts';
import { IntegrityError } from '../../../../../src/model/failures.ts';
import { KINDS } from '../../../../../src/model/kinds.ts';
import {
  problemsOf,
  RowProblems,
} from '../../../../../src/resources/transfer/rows/row-problems.ts';

const found = (error: unknown) => problemsOf(error, (attribute) => `column of ${attribute}`);

test('an invalid value and a wrong reference are problems of their columns', () => {
  const invalid = new CatalogError('invalid', 'no', { fields: { name: ['a', 'b'], stock: ['c'] } });
  assert.equal(found(invalid), [
    { column: 'column of name', message: 'a' },
    { column: 'column of name', message: 'b' },
    { column: 'column of stock', message: 'c' },
  ]);
  const violation = { attribute: 'brand_id', message: 'there is no brand 7' };
  assert.equal(found(new IntegrityError(violation)), [
    { column: 'column of brand_id', message: 'there is no brand 7' },
  ]);
});

test('an invalid row without an invalid attribute is a problem of the whole row', () => {
  const message = 'the body must be a JSON object';
  for (const details of [{ fields: {} }, {}]) {
    const problems = found(new CatalogError('invalid', message, details));
    assert.equal(problems, [{ column: null, message }]);
  }
});

test('a violation in another row is a problem without a column, and the message names that row', () => {
  const violation = { attribute: 'option_id', message: 'it does not fit' };
  const error = new IntegrityError(violation, { dependent: { kind: KINDS.sku_specs, id: 9 } });
  const [problem, ...others] = found(error) ?? [];
  assert.equal([problem?.column, others], [null, []]);
  assert.match(problem?.message ?? '', /option_id .* 9: it does not fit$/);
});

test('problems that were found while reading the row are returned unchanged', () => {
  const problems = [{ column: 'price', message: 'no' }];
  assert.is(found(new RowProblems(problems)), problems);
});

test('any other failure is not a problem of the row', () => {
  for (const error of [
    new CatalogError('store_damaged', 'row 7 cannot be read'),
    new CatalogError('busy', 'later'),
    new Error('a defect'),
    null,
  ]) {
    assert.is(found(error), null, String(error));
  }
});

test.run();
