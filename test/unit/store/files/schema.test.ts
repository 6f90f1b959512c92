/** The migration of bases and change sets of earlier schema versions. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChangeSet } from '../../../../src/store/change-set.ts';
import {
  migrated,
  migratedChangeSet,
  migrationsFrom,
  SCHEMA_VERSION,
} from '../../../../src/store/files/schema.ts';

const brand = { id: 1, name: 'Works', logo: '', first_letter: '' };
const version1 = {
  sequence: 7,
  previous: 'a'.repeat(64),
  last_ids: { brands: 2 },
  tables: { brands: [brand] },
};
const version2 = { ...version1, time: '2026-01-01T00:00:00.000Z' };
const version3 = {
  ...version2,
  last_ids: { brands: 2, audits: 0 },
  tables: { brands: [brand], audits: [], skus: [{ id: 1, name: 'Lamp' }] },
};
const version4 = {
  ...version3,
  tables: { ...version3.tables, skus: [{ id: 1, name: 'Lamp', code: null }] },
};

const version5 = {
  ...version4,
  last_ids: { ...version4.last_ids, webhooks: 0 },
  tables: { ...version4.tables, webhooks: [] },
};

test('a base of each earlier version is migrated to version 5, and one of version 5 is not changed', () => {
  assert.is(SCHEMA_VERSION, 5);
  const { skus: _, ...tables } = version5.tables;
  assert.equal(migrated(1, version1), { ...version5, tables, time: null });
  assert.equal(migrated(2, version2), { ...version5, tables });
  assert.equal(migrated(3, version3), version5);
  assert.equal(migrated(4, version4), version5);
  assert.is(migrated(5, version5), version5);
});

test('each migration converts the rows of a change set after a base as it converts those of the base', () => {
  const bases: Readonly<Record<number, { tables: ChangeSet['put'] }>> = {
    1: version1,
    2: version2,
    3: version3,
    4: version4,
    5: version5,
  };
  const times = { sequence: 8, previous: '', digest: '', time: '' };
  for (let schema = 1; schema <= SCHEMA_VERSION; schema += 1) {
    const base = bases[schema];
    assert.ok(base, `version ${schema} is missing here`);
    const { tables } = migrated(schema, base);
    const changeSet = { ...times, last_ids: {}, put: base.tables, delete: {} };
    const { put } = migratedChangeSet(schema, changeSet);
    for (const [kind, rows] of Object.entries(put)) {
      assert.equal(rows, tables[kind as keyof typeof tables], `${kind} of version ${schema}`);
    }
  }
});

test('the migrations from a version lead to each later version in order', () => {
  const steps = [1, 2, 3, 4, 5].map((from) => migrationsFrom(from).map(({ to }) => to));
  assert.equal(steps, [[2, 3, 4, 5], [3, 4, 5], [4, 5], [5], []]);
});

test('a change set after an older base is migrated like the base', () => {
  const put = { brands: [brand], skus: [{ id: 1, name: 'Lamp' }] };
  const times = { sequence: 8, previous: '', digest: '', time: '' };
  const changeSet = { ...times, last_ids: {}, put, delete: {} };
  const skus = [{ id: 1, name: 'Lamp', code: null }];
  assert.equal(migratedChangeSet(3, changeSet), { ...changeSet, put: { ...put, skus } });
  assert.is(migratedChangeSet(4, changeSet), changeSet);
});

test.run();
