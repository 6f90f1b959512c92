/** A list of rows that own many others: few of these are read in one turn, and all as of then. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KindName, Row } from '../../../../src/model/kind.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { Records } from '../../../../src/resources/records.ts';
import { representAll } from '../../../../src/resources/represent.ts';
import {
  MAX_READ_AT_ONCE,
  MAX_READ_FOR_LIST,
  OwnedRows,
} from '../../../../src/resources/text/owned-rows.ts';
import { existingRow } from '../../../../src/model/rows.ts';
import type { ReadableStore } from '../../../../src/store/readable-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { skuFields } from '../../../support/catalog.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

/** Fewer than would be read one by one for a single SKU. */
const RECORDS = 200;
const SKUS = 30;

const SENDER = { subject: 'ann', key: null };
const PAIRS = Array.from({ length: RECORDS }, () => ({ spec_id: 1, option_id: 1 }));

let store: Store;
let records: Records;

async function create(kind: KindName, body: object): Promise<void> {
  await records.create({ kind: KINDS[kind], parent: null }, body, SENDER);
}

test.before(async () => {
  store = await openQuickStore(temporaryDirectory());
  records = new Records(new AuditedStore(store));
  await create('brands', { name: 'Ondine' });
  for (const parent_id of [null, 1, 2]) await create('categories', { name: 'C', parent_id });
  const chain = { category1_id: 1, category2_id: 2, category3_id: 3 };
  await create('goods', { name: 'Phone', brand_id: 1, ...chain, caption: '' });
  await create('specs', { name: 'Colour', spu_id: 1 });
  for (const value of ['Silver', 'Black']) await create('options', { value, spec_id: 1 });
  const sku = skuFields({ spu: 1, chain: [1, 2, 3] }, { specs: PAIRS });
  const skus = Array.from({ length: SKUS }, () => sku);
  await records.createAll(KINDS.skus, skus, SENDER);
});

test.after(() => store.close());

/** The store, with the number of records that were read from it, and of snapshots of them. */
function counting() {
  let [count, snapshots] = [0, 0];
  const seen = new Proxy<ReadableStore>(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        if ((name === 'get' || name === 'peek') && given[0] === 'sku_specs') count += 1;
        if (name === 'rowsBy') snapshots += 1;
        return Reflect.apply(member, target, given);
      };
    },
  });
  return { seen, reads: () => count, snapshots: () => snapshots };
}

test('the records of many SKUs are not all read in the turn of the request', async () => {
  const { seen, reads } = counting();
  const rows = Array.from(
    { length: SKUS },
    (_, index): Row => existingRow(store, 'skus', index + 1),
  );
  const texts = representAll(KINDS.skus, rows, seen);
  assert.ok(reads() <= MAX_READ_FOR_LIST, `${reads()} records`);
  assert.ok(reads() > 0, 'those of the first SKUs are');
  // What is committed later does not show.
  const black = { specs: [{ spec_id: 1, option_id: 2 }] };
  const [nesting] = KINDS.sku_specs.nestings;
  assert.ok(nesting !== undefined);
  for (const id of [1, SKUS]) {
    const own = { kind: KINDS.skus, parent: null };
    await records.update(own, id, 'partial', black, null, 'ann');
    const nested = { kind: KINDS.sku_specs, parent: { nesting, id } };
    await records.remove(nested, (id - 1) * RECORDS + 1, null, 'ann');
  }
  const all = Array.from(texts, (parts) => JSON.parse([...parts].join('')));
  assert.is(all.length, SKUS);
  for (const { id, specs } of all) {
    assert.equal(specs, PAIRS, `SKU ${id}`);
  }
});

test('more than 256 records of one SKU are read one by one, of all such SKUs from one snapshot', async () => {
  const pair = { spec_id: 1, option_id: 1 };
  const counts = [MAX_READ_AT_ONCE, MAX_READ_AT_ONCE + 1, MAX_READ_AT_ONCE + 1];
  const skus = counts.map((length) =>
    skuFields({ spu: 1, chain: [1, 2, 3] }, { specs: Array.from({ length }, () => pair) }),
  );
  await records.createAll(KINDS.skus, skus, SENDER);
  const { seen, reads, snapshots } = counting();
  const owned = new OwnedRows(seen);
  const found = counts.map((_, index) =>
    owned.of('sku_specs', 'sku_id', existingRow(store, 'skus', SKUS + index + 1)),
  );
  assert.is(reads(), MAX_READ_AT_ONCE);
  assert.is(snapshots(), 1);
  assert.equal(
    found.map((rows) => [...rows].length),
    counts,
  );
});

test.run();
