/** Rows of one owner: a SKU that has too many records already may keep them (spec 2.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { lookupIn } from '../../../../src/model/rows.ts';
import { atOnce } from '../../../../src/slices.ts';
import { verify, type Write } from '../../../../src/store/writer/verify.ts';

const RECORDS = 12_000;

const recordOf = (id: number): Row => ({ id, sku_id: 1, spec_id: 1, option_id: 1 });

const ROWS: Readonly<Record<string, Row>> = {
  skus: { id: 1, goods_id: 1, category_id: 3, code: null },
  goods: { id: 1 },
  specs: { id: 1, goods_id: 1 },
  options: { id: 1, spec_id: 1 },
};

/** SKU 1 with as many records, of which one is deleted. */
function verifying(write: Omit<Write, 'element'>, deleted = 0): void {
  const get = lookupIn((kind, key) => {
    const id = Number(key);
    if (kind === 'sku_specs') return id === deleted || id > RECORDS ? undefined : recordOf(id);
    if (kind === 'categories') return { id, parent_id: id === 1 ? null : id - 1 };
    return ROWS[kind]?.id === id ? ROWS[kind] : undefined;
  });
  const ids = Array.from({ length: RECORDS }, (_, index) => index + 1);
  const matching = (kind: string) => (kind === 'sku_specs' ? ids : []);
  atOnce(verify({ get, matching }, [{ ...write, element: undefined }]));
}

test('a SKU that has too many records can be changed, and its records too', () => {
  verifying({ kind: 'skus', id: 1, before: { ...ROWS['skus'], id: 1, stock: 1 } });
  verifying({ kind: 'sku_specs', id: 5, before: { ...recordOf(5), option_id: 2 } });
});

test('its records can be deleted', () => {
  verifying({ kind: 'sku_specs', id: 5, before: recordOf(5) }, 5);
});

test('no record can be added to it', () => {
  const adding = () => verifying({ kind: 'sku_specs', id: RECORDS, before: null });
  assert.throws(adding, /^specs: SKU 1 would have more than 10000 specification records$/);
  const moving = { kind: 'sku_specs', id: 5, before: { ...recordOf(5), sku_id: 2 } } as const;
  assert.throws(() => verifying(moving), /would have more than 10000/);
});

test.run();
