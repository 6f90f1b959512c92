/** The rows whose former state is in the audit trail, so that a change set need not repeat it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { atOnce } from '../../../../src/slices.ts';
import { rowsInTrail } from '../../../../src/store/writer/rows-in-trail.ts';

type Entries = readonly (readonly [id: number, entry: Row | null])[];

const entry = (id: number, resource: string, resource_id: number) =>
  [id, { id, resource, resource_id }] as const;

/** The rows that rowsInTrail finds for these entries of a draft, after the committed entry 10. */
function inTrail(entries: Entries, last: number): Record<string, number[]> {
  const found = atOnce(rowsInTrail(new Map(entries), 10, last));
  return Object.fromEntries([...found].map(([kind, ids]) => [kind, [...ids]]));
}

test('the row of every new entry is returned, by its kind', () => {
  const entries = [entry(11, 'skus', 1), entry(12, 'skus', 2), entry(13, 'goods', 1)];
  assert.equal(inTrail(entries, 13), { skus: [1, 2], goods: [1] });
  assert.equal(inTrail([...entries, entry(14, 'skus', 1)], 14), { skus: [1, 2], goods: [1] });
});

test('an entry that is deleted names no row', () => {
  assert.equal(inTrail([[3, null], entry(11, 'skus', 1)], 11), { skus: [1] });
});

test('an entry that was committed earlier is ignored', () => {
  assert.equal(inTrail([entry(10, 'skus', 1), entry(11, 'skus', 2)], 11), { skus: [2] });
});

test('no row is returned if a new entry was deleted, because it may be the first one of its row', () => {
  assert.equal(inTrail([[11, null], entry(12, 'skus', 1)], 12), {});
  assert.equal(inTrail([entry(12, 'skus', 1)], 12), {});
});

test.run();
