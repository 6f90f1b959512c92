/** Former states that the audit trail tells are not stated twice; those that it may not are. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { atOnce } from '../../../../src/slices.ts';
import { toldByTrail } from '../../../../src/store/writer/told-rows.ts';

type Entries = readonly (readonly [id: number, entry: Row | null])[];

const entry = (id: number, resource: string, resource_id: number) =>
  [id, { id, resource, resource_id }] as const;

/** What a draft tells that has these entries, after the committed entry 10. */
function told(entries: Entries, last: number): Record<string, number[]> {
  const found = atOnce(toldByTrail(new Map(entries), 10, last));
  return Object.fromEntries([...found].map(([kind, ids]) => [kind, [...ids]]));
}

test('every row of a new entry is told, by its kind', () => {
  const entries = [entry(11, 'skus', 1), entry(12, 'skus', 2), entry(13, 'goods', 1)];
  assert.equal(told(entries, 13), { skus: [1, 2], goods: [1] });
  assert.equal(told([...entries, entry(14, 'skus', 1)], 14), { skus: [1, 2], goods: [1] });
});

test('entries that make room are no entries about rows', () => {
  assert.equal(told([[3, null], entry(11, 'skus', 1)], 11), { skus: [1] });
});

test('an earlier entry tells nothing of this change set', () => {
  assert.equal(told([entry(10, 'skus', 1), entry(11, 'skus', 2)], 11), { skus: [2] });
});

test('nothing is told if a new entry had to make room: it may be the first one of its row', () => {
  assert.equal(told([[11, null], entry(12, 'skus', 1)], 12), {});
  assert.equal(told([entry(12, 'skus', 1)], 12), {});
});

test.run();
