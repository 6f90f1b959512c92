/** Writes to a row that changes between the request and its commit (spec 3.11). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../src/errors.ts';
import type { KindName } from '../../../src/model/kind.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import { soughtByObject, soughtByWrite } from '../../../src/model/relations.ts';
import { existingRow } from '../../../src/model/rows.ts';
import type { Address } from '../../../src/resources/address.ts';
import { AuditedStore } from '../../../src/resources/audit/audited-store.ts';
import { type Precondition, Records } from '../../../src/resources/records.ts';
import { State } from '../../../src/store/state.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { codeOf } from '../../support/failure.ts';
import { add } from '../../support/memory-store.ts';
import { openQuickStore } from '../../support/quick-store.ts';
import { addChain, addSku, addSpu } from '../../support/shop.ts';

const BRANDS: Address = { kind: KINDS.brands, parent: null };

type Write = (records: Records, id: number, allowed: Precondition) => Promise<unknown>;

const WRITES: Readonly<Record<string, Write>> = {
  'a change': (records, id, allowed) =>
    records.update(BRANDS, id, 'partial', { logo: 'a.png' }, allowed, null),
  'a removal': (records, id, allowed) => records.remove(BRANDS, id, allowed, null),
};

for (const [what, write] of Object.entries(WRITES)) {
  test(`the row and the condition of ${what} are judged when it is carried out`, async () => {
    const store = await openQuickStore(temporaryDirectory());
    const records = new Records(new AuditedStore(store));
    const created = await records.create(BRANDS, { name: 'Acme' }, { subject: null, key: null });
    const id = Number(created.id);
    const isAsCreated: Precondition = ({ etag }) => {
      if (etag !== created.etag) throw new CatalogError('precondition_failed', 'it has changed');
    };
    const renaming = store.transact((transaction) => {
      transaction.put('brands', { ...existingRow(transaction, 'brands', id), name: 'Other' });
    });
    assert.is(await codeOf(write(records, id, isAsCreated)), 'precondition_failed');
    await renaming;
    const { name, logo } = existingRow(store, 'brands', id);
    assert.equal([name, logo], ['Other', '']);
    const removing = store.transact((transaction) => transaction.delete('brands', id));
    assert.is(await codeOf(write(records, id, null)), 'not_found');
    await removing;
    assert.is(store.get('brands', id), undefined);
    await store.close();
  });
}

test('an item that was read before is gone as soon as it is deleted', async () => {
  const store = await openQuickStore(temporaryDirectory());
  const records = new Records(new AuditedStore(store));
  const created = await records.create(BRANDS, { name: 'Acme' }, { subject: null, key: null });
  const id = Number(created.id);
  const read = async () => records.read(BRANDS, id);
  assert.is((await read()).etag, created.etag);
  await records.remove(BRANDS, id, null, null);
  assert.is(await codeOf(read()), 'gone');
  await store.close();
});

/** Notes whether the last write ran in slices. */
class WatchedStore extends AuditedStore {
  isLong: boolean | null = null;

  override transact<T>(...[subject, isLong, run]: Parameters<AuditedStore['transact']>) {
    this.isLong = isLong;
    return super.transact(subject, isLong, run) as Promise<T>;
  }
}

test('a write to a row to which more than 200 others refer runs in slices', async () => {
  const store = await openQuickStore(temporaryDirectory());
  const audited = new WatchedStore(store);
  const records = new Records(audited);
  const { categories } = KINDS;
  const [address, sender] = [
    { kind: categories, parent: null },
    { subject: null, key: null },
  ];
  const parent = Number((await records.create(address, { name: 'Parent' }, sender)).id);
  for (const [added, wanted] of [
    [200, false],
    [1, true],
  ] as const) {
    const children = Array.from({ length: added }, () => ({ name: 'Child', parent_id: parent }));
    await records.createAll(categories, children, sender);
    await records.update(address, parent, 'partial', { name: 'Other' }, null, null);
    assert.is(audited.isLong, wanted, 'a change');
    assert.is(await codeOf(records.remove(address, parent, null, null)), 'referred_to');
    assert.is(audited.isLong, wanted, 'a removal');
  }
  await store.close();
});

test('so does a write to a row that few refer to, if more than 200 refer to these', async () => {
  const store = await openQuickStore(temporaryDirectory());
  await store.transact((transaction) => {
    const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
    addSpu(transaction, 'Table', brand, addChain(transaction, 'Wood'));
    addChain(transaction, 'Leaf');
    for (let nth = 1; nth <= 300; nth += 1) addSku(transaction, `SKU ${nth}`, 1, 6);
  });
  const audited = new WatchedStore(store);
  const records = new Records(audited);
  const address = { kind: KINDS.categories, parent: null };
  await records.update(address, 5, 'partial', { parent_id: 1 }, null, null);
  assert.is(audited.isLong, true);
  await store.close();
});

test('a write looks rows up by those attributes only whose indexes it has prepared', async () => {
  const looked = new Set<string>();
  const { matching } = State.prototype;
  State.prototype.matching = function (kind, attribute, value) {
    looked.add(`${kind} by ${attribute}`);
    return matching.call(this, kind, attribute, value);
  };
  const store = await openQuickStore(temporaryDirectory());
  const records = new Records(new AuditedStore(store));
  let sku = 0;
  const at = (kind: KindName): Address => {
    // Records are only written below their SKU.
    const nesting = KINDS[kind].nestings.find(({ writable }) => writable);
    return { kind: KINDS[kind], parent: nesting === undefined ? null : { nesting, id: sku } };
  };
  const prepared = (kind: KindName) =>
    [...soughtByWrite(kind), ...soughtByObject(kind)].map(
      (sought) => `${sought.kind} by ${sought.attribute}`,
    );
  const during = async <T>(kind: KindName, write: () => Promise<T>): Promise<T> => {
    looked.clear();
    const result = await write();
    const names = new Set(prepared(kind));
    assert.equal([...looked.difference(names)], [], `not prepared by a write of ${kind}`);
    return result;
  };
  let keys = 0;
  const make = async (kind: KindName, body: object): Promise<number> => {
    const sender = { subject: 'ann', key: `key ${(keys += 1)}` };
    return Number((await during(kind, () => records.create(at(kind), body, sender))).id);
  };
  const change = (kind: KindName, id: number, body: object) =>
    during(kind, () => records.update(at(kind), id, 'partial', body, null, null));
  const remove = (kind: KindName, id: number) =>
    during(kind, () => records.remove(at(kind), id, null, null));

  try {
    const category1_id = await make('categories', { name: 'One' });
    const other = await make('categories', { name: 'Other' });
    const category2_id = await make('categories', { name: 'Two', parent_id: category1_id });
    const category3_id = await make('categories', { name: 'Three', parent_id: category2_id });
    const brand_id = await make('brands', { name: 'Acme' });
    const levels = { category1_id, category2_id, category3_id };
    const phone = await make('goods', { name: 'Phone', brand_id, ...levels });
    const tablet = await make('goods', { name: 'Tablet', brand_id, ...levels });
    const colour = await make('specs', { name: 'Colour', spu_id: phone });
    const size = await make('specs', { name: 'Size', spu_id: phone });
    const silver = await make('options', { value: 'Silver', spec_id: colour });
    const large = await make('options', { value: 'Large', spec_id: size });
    const prices = { price: 1, cost_price: 1, market_price: 1, stock: 1, is_launched: true };
    const fields = { name: 'SKU', caption: '', category_id: category3_id, ...prices };
    const specs = [{ spec_id: colour, option_id: silver }];
    sku = await make('skus', { ...fields, spu_id: phone, code: 'A', specs });
    const free = await make('skus', { ...fields, spu_id: phone, code: 'B' });
    const record = await make('sku_specs', { spec_id: colour, option_id: silver });
    await make('books', { name: 'Emma', pub_date: '1815-12-23' });

    await change('skus', free, { code: 'C', spu_id: tablet });
    await change('specs', size, { spu_id: tablet });
    await change('options', large, { spec_id: colour });
    await change('goods', tablet, { name: 'Pad' });
    assert.is(await codeOf(change('categories', category2_id, { parent_id: other })), 'integrity');
    const referred: [KindName, number][] = [
      ['categories', category3_id],
      ['brands', brand_id],
      ['goods', phone],
      ['specs', colour],
      ['options', silver],
    ];
    for (const [kind, id] of referred) {
      assert.is(await codeOf(remove(kind, id)), 'referred_to', kind);
    }
    await remove('sku_specs', record);
    await remove('skus', sku);
    await remove('options', large);
  } finally {
    State.prototype.matching = matching;
    await store.close();
  }
});

test.run();
