/** Bases of earlier versions in the form of the current one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrated, migrationsFrom, SCHEMA_VERSION } from '../../../../src/store/files/schema.ts';

const brand = { id: 1, name: 'Works', logo: '', first_letter: '' };
const version1 = {
  schema: 1,
  sequence: 7,
  previous: 'a'.repeat(64),
  last_ids: { brands: 2 },
  tables: { brands: [brand] },
};
const version2 = { ...version1, schema: 2, time: '2026-01-01T00:00:00.000Z' };
const version3 = {
  ...version2,
  schema: 3,
  last_ids: { brands: 2, audits: 0 },
  tables: { brands: [brand], audits: [] },
};

test('each version is converted step by step, and the current one is not changed', () => {
  assert.is(SCHEMA_VERSION, 3);
  assert.equal(migrated(1, version1), { ...version3, time: null });
  assert.equal(migrated(2, version2), version3);
  assert.is(migrated(3, version3), version3);
});

test('each step names the version that it leads to', () => {
  const steps = [1, 2, 3].map((from) => migrationsFrom(from).map(({ to }) => to));
  assert.equal(steps, [[2, 3], [3], []]);
});

test.run();
