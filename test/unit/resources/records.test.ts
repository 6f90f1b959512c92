/** Writes to a row that changes between the request and its commit (spec 3.11). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../src/errors.ts';
import { KINDS } from '../../../src/model/kinds.ts';
import { existingRow } from '../../../src/model/rows.ts';
import type { Address } from '../../../src/resources/address.ts';
import { AuditedStore } from '../../../src/resources/audit/audited-store.ts';
import { type Precondition, Records } from '../../../src/resources/records.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { codeOf } from '../../support/failure.ts';
import { openQuickStore } from '../../support/quick-store.ts';

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

test('a write to a row to which more than 200 others refer runs in slices', async () => {
  const store = await openQuickStore(temporaryDirectory());
  let isLong: boolean | null = null;
  const audited = new (class extends AuditedStore {
    override transact<T>(...[subject, slices, run]: Parameters<AuditedStore['transact']>) {
      isLong = slices;
      return super.transact(subject, slices, run) as Promise<T>;
    }
  })(store);
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
    assert.is(isLong, wanted, 'a change');
    assert.is(await codeOf(records.remove(address, parent, null, null)), 'referred_to');
    assert.is(isLong, wanted, 'a removal');
  }
  await store.close();
});

test.run();
