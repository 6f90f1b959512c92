/** spec 13.3: the names in the list of the latest changes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../../src/model/kinds.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { recentChanges } from '../../../../src/resources/audit/recent.ts';
import { Records } from '../../../../src/resources/records.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

const SENDER = { subject: 'ann', key: null };
const BRANDS = { kind: KINDS.brands, parent: null };

test('a change is listed under the name that it gave the item, and a deletion under the last name', async () => {
  const store = await openQuickStore(temporaryDirectory());
  const records = new Records(new AuditedStore(store));
  const { id } = await records.create(BRANDS, { name: 'Before' }, SENDER);
  await records.update(BRANDS, Number(id), 'partial', { name: 'After' }, null, 'ann');
  await records.remove(BRANDS, Number(id), null, 'ann');
  const listed = recentChanges(store, 10).map(({ action, label }) => [action, label]);
  assert.equal(listed, [
    ['delete', 'After'],
    ['update', 'After'],
    ['create', 'Before'],
  ]);
  await store.close();
});

test('a name is listed as it is, whatever its characters', async () => {
  const store = await openQuickStore(temporaryDirectory());
  const records = new Records(new AuditedStore(store));
  const names = ['"', '\\', '\\"name":"x"', '\u0001'.repeat(255), '\ud83d\ude00'.repeat(255)];
  await records.createAll(
    KINDS.brands,
    names.map((name) => ({ name })),
    SENDER,
  );
  assert.equal(
    recentChanges(store, names.length).map(({ label }) => label),
    names.toReversed(),
  );
  await store.close();
});

test.run();
