/** A catalog with changes on top of it, compared with one in which they were committed. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OverlaidCatalog } from '../../../../src/pages/shop/overlay.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { MemoryStore } from '../../../support/memory-store.ts';

const PARENTS = 2;

/** Categories of the first level, and categories below these parents. */
function storeOf(parents: readonly number[]): MemoryStore {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      for (let parent = 1; parent <= PARENTS; parent += 1) put(transaction, parent, null);
      parents.forEach((parent, index) => put(transaction, PARENTS + index + 1, parent));
    },
  ]);
  return store;
}

function put(transaction: Transaction, id: number, parent_id: number | null): void {
  while (transaction.lastId('categories') < id) transaction.nextId('categories');
  transaction.put('categories', { id, name: `Category ${id} of ${parent_id}`, parent_id });
}

const parent = fc.integer({ min: 1, max: PARENTS });

test('lists and rows of an overlay are the same as after the commit of its changes', () => {
  const edits = fc.array(fc.tuple(fc.nat({ max: 14 }), fc.option(parent)), { maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(parent, { maxLength: 12 }),
      edits,
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.nat({ max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      (parents, edited, order, offset, limit) => {
        const [before, after] = [storeOf(parents), storeOf(parents)];
        const changes = after.commit([
          (transaction) => {
            for (const [row, moved] of edited) {
              const id = PARENTS + row + 1;
              if (moved !== null) put(transaction, id, moved);
              else if (transaction.get('categories', id)) transaction.delete('categories', id);
            }
          },
        ]);
        const overlaid = new OverlaidCatalog(before, changes);
        for (let value = 1; value <= PARENTS; value += 1) {
          const filters = [['parent_id', value]] as const;
          const selection = { filters, sortby: 'id', order, offset, limit };
          assert.equal(
            overlaid.select('categories', selection).ids,
            after.select('categories', selection).ids,
          );
        }
        for (let id = 1; id <= PARENTS + 16; id += 1) {
          assert.equal(overlaid.get('categories', id), after.get('categories', id));
          assert.equal(overlaid.peek('categories', id), after.get('categories', id));
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a list of an overlay can be sorted only by id', () => {
  const after = storeOf([]);
  const changes = after.commit([(transaction) => put(transaction, 3, 1)]);
  const overlaid = new OverlaidCatalog(storeOf([]), changes);
  const selection = { filters: [], sortby: 'name', order: 'asc', offset: 0, limit: 1 } as const;
  assert.throws(() => overlaid.select('categories', selection), /by id alone/);
});

test.run();
