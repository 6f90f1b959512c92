/** Rows that were stored at some time, maybe by an earlier version, in the form of this one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../src/model/kinds.ts';
import { storedRow } from '../../../src/resources/rows.ts';

test('what stored values lack is as in a new row, and what rows do not have is left out', () => {
  const brand = { name: 'Oak', first_letter: 'O', founded: 1815 };
  assert.equal(storedRow(KINDS.brands, 7, brand), {
    id: 7,
    name: 'Oak',
    logo: '',
    first_letter: 'O',
  });
  const sku = storedRow(KINDS.skus, 7, { name: 'Table', stock: 3 });
  assert.is(sku['sales'], 0, 'the service begins to count there');
  assert.is(sku['code'], null);
  assert.not.ok('specs' in sku, 'other rows have them');
});

test('what was stored is kept, also where the service sets it and where it is empty', () => {
  const sku = storedRow(KINDS.skus, 7, { sales: 12, is_launched: false, stock: 0, caption: '' });
  assert.equal(
    [sku['sales'], sku['is_launched'], sku['stock'], sku['caption']],
    [12, false, 0, ''],
  );
});

test.run();
