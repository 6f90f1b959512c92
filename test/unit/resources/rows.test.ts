/** Rows that were stored by this or an earlier version are read in the form of this version. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../src/model/kinds.ts';
import { storedRow } from '../../../src/resources/rows.ts';

test('missing attributes of a stored row get the values of a new row, and unknown ones are left out', () => {
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

test('stored values are kept, even empty ones and those of attributes that the server sets', () => {
  const sku = storedRow(KINDS.skus, 7, { sales: 12, is_launched: false, stock: 0, caption: '' });
  assert.equal(
    [sku['sales'], sku['is_launched'], sku['stock'], sku['caption']],
    [12, false, 0, ''],
  );
});

test.run();
