/** Which failures while cells are read are about a cell (spec 12.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../../src/errors.ts';
import { KINDS } from '../../../../../src/model/kinds.ts';
import { Money } from '../../../../../src/model/money.ts';
import { readCells } from '../../../../../src/resources/transfer/rows/cells.ts';
import { readHeader } from '../../../../../src/resources/transfer/rows/header.ts';
import { Names } from '../../../../../src/resources/transfer/rows/names.ts';
import { References } from '../../../../../src/resources/transfer/rows/references.ts';
import { atOnce } from '../../../../../src/slices.ts';
import type { Transaction } from '../../../../../src/store/writer/draft.ts';

test('a row of the store that cannot be read is not an error of the cell that names it', () => {
  const damage = new CatalogError('store_damaged', 'row 1 of brands cannot be read');
  const transaction = {
    get() {
      throw damage;
    },
  } as unknown as Transaction;
  const [kind, money, names] = [KINDS.goods, new Money('USD'), new Names()];
  names.add('brands', { id: 1, name: 'Acme' });
  const [column] = readHeader(kind, money, ['brand'], 1);
  assert.ok(column);
  const references = new References(transaction, names, new Set(), true);
  const places = { transaction, before: transaction, references, target: null };
  const reading = { kind, money, maxSpecs: 10, ...places };
  assert.throws(
    () => atOnce(readCells([{ column, raw: 'Acme' }], reading)),
    (error: unknown) => error === damage,
  );
});

test.run();
