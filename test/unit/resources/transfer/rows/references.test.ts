/** How names in cells are resolved (spec 12.9). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Names } from '../../../../../src/resources/transfer/rows/names.ts';
import { References } from '../../../../../src/resources/transfer/rows/references.ts';
import type { Transaction } from '../../../../../src/store/writer/draft.ts';
import { add, MemoryStore } from '../../../../support/memory-store.ts';

/** @returns the transaction, which calls `onRead` for each row that is read. */
function observed(transaction: Transaction, onRead: () => void): Transaction {
  return new Proxy(transaction, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]) => {
        if (key === 'get') onRead();
        return Reflect.apply(value, target, parameters);
      };
    },
  });
}

test('a name that many specifications have is resolved without reading all of them', () => {
  const names = new Names();
  let reads = 0;
  const found: number[] = [];
  new MemoryStore().commit([
    (transaction) => {
      for (let spu = 1; spu <= 100; spu += 1) {
        const goods_id = add(transaction, 'goods', { name: `SPU ${spu}` });
        names.add('goods', { id: goods_id, name: `SPU ${spu}` });
        for (const name of ['Size', 'Colour']) {
          const id = add(transaction, 'specs', { name, goods_id });
          names.add('specs', { id, name });
        }
      }
      const view = observed(transaction, () => (reads += 1));
      const references = new References(view, names, new Set(), true);
      found.push(references.spec('Colour', 'SPU 7'), references.spec('Size', 'SPU 100'));
      assert.throws(
        () => references.spec('Colour', null),
        /^specifications 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 have this name; give the id$/,
      );
      // They lack what they refer to, so they must not be committed.
      for (const kind of ['specs', 'goods'] as const) {
        const ids = Array.from(transaction.ids(kind));
        for (const id of ids) transaction.delete(kind, id);
      }
    },
  ]);
  assert.equal(found, [14, 199]);
  assert.ok(reads < 30, `${reads} rows are read`);
});

test.run();
