/** A view shows the moment when it was made, whatever is committed while it is open. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import type { View } from '../../../../src/store/view.ts';
import { MemoryStore } from '../../../support/memory-store.ts';

const PARENTS = [null, 1, 2, 3];
const IDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** What a view shows of the categories. */
function shown(view: View): unknown {
  return {
    rows: IDS.map((id) => view.get('categories', id)),
    children: PARENTS.map((parent) => [...view.matching('categories', 'parent_id', parent)]),
  };
}

const step = fc.record({
  id: fc.constantFrom(4, 5, 6, 7, 8),
  parent_id: fc.constantFrom(...PARENTS),
  deletes: fc.boolean(),
});

test('rows and look-ups by value are those of the moment', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 12 }), (a, b) => {
      const store = new MemoryStore();
      const put = (tx: Transaction, id: number, parent_id: number | null) =>
        tx.put('categories', { id, name: `category ${id}`, parent_id });
      const run = ({ id, parent_id, deletes }: (typeof a)[number]) =>
        store.commit([
          (tx) => {
            if (!deletes) put(tx, id, parent_id);
            else if (tx.get('categories', id) !== undefined) tx.delete('categories', id);
          },
        ]);
      store.commit([(tx) => [1, 2, 3].forEach((id) => put(tx, id, null))]);
      for (const each of a) run(each);
      const view = store.freeze();
      const before = shown(store);
      for (const each of b) {
        run(each);
        assert.equal(shown(view), before);
      }
      view.close();
    }),
  );
});

test.run();
