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

test('a value that is not valid is a problem of its column, and so is a reference', () => {
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

test('what the row does to another row is a problem of the row as a whole, which names the other', () => {
  const violation = { attribute: 'option_id', message: 'it does not fit' };
  const error = new IntegrityError(violation, { dependent: { kind: KINDS.sku_specs, id: 9 } });
  const [problem, ...others] = found(error) ?? [];
  assert.equal([problem?.column, others], [null, []]);
  assert.match(problem?.message ?? '', /option_id .* 9: it does not fit$/);
});

test('what the reader of the row has found is given as it is', () => {
  const problems = [{ column: 'price', message: 'no' }];
  assert.is(found(new RowProblems(problems)), problems);
});

test('any other failure is not about the row', () => {
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
