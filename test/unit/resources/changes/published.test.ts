/** spec 14.1: the order of the changes of a change set whose rows refer to each other. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../../src/model/kind.ts';
import { changesIn } from '../../../../src/resources/changes/published.ts';
import type { ChangeSet } from '../../../../src/store/change-set.ts';

/** @returns each change as its action and the id of its row. */
function changesOf(changeSet: Partial<ChangeSet>): string[] {
  const empty = { sequence: 1, previous: '', digest: '', time: '', last_ids: {} };
  const whole: ChangeSet = { ...empty, put: {}, delete: {}, ...changeSet };
  return [...changesIn(whole)].flatMap((change) => {
    if (change === null) return [];
    const { action, id } = JSON.parse(change.text(true)) as { action: string; id: number };
    return [`${action} ${id}`];
  });
}

const category = (id: number, parent: number | null): Row => ({ id, name: '', parent_id: parent });

test('a category that is written comes before the categories below it', () => {
  const below = [category(1, 4), category(2, null), category(3, 9), category(4, 5)];
  const before = { categories: [category(1, null), category(2, null), category(3, null)] };
  assert.equal(changesOf({ put: { categories: [...below, category(5, null)] }, before }), [
    'create 5',
    'create 4',
    'update 1',
    'update 2',
    'update 3',
  ]);
});

test('a category that is deleted comes after the categories below it', () => {
  const rows = [category(1, null), category(2, 1), category(3, 7), category(4, 3), category(7, 1)];
  const deleted = { categories: rows.map(({ id }) => id) };
  const order = ['delete 2', 'delete 4', 'delete 3', 'delete 7', 'delete 1'];
  assert.equal(changesOf({ delete: deleted, before: { categories: rows } }), order);
  const audits = rows.map(
    (row): Row => ({
      id: row.id,
      resource: 'categories',
      resource_id: row.id,
      before: JSON.stringify(row),
    }),
  );
  assert.equal(changesOf({ delete: deleted, put: { audits } }), order);
});

test('rows that do not refer to each other come by ascending id', () => {
  const rows = Array.from({ length: 600 }, (_, index) => category(index + 1, null));
  assert.equal(
    changesOf({ put: { categories: rows } }),
    rows.map(({ id }) => `create ${id}`),
  );
  assert.equal(
    changesOf({ delete: { categories: rows.map(({ id }) => id) } }),
    rows.map(({ id }) => `delete ${id}`),
  );
});

test.run();
