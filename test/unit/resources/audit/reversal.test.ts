/** spec 1.14: undoing in steps, in which a server serves other requests. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KINDS } from '../../../../src/model/kinds.ts';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { reverse } from '../../../../src/resources/audit/reversal.ts';
import { Records } from '../../../../src/resources/records.ts';
import { atOnce } from '../../../../src/slices.ts';
import { Draft, type Transaction } from '../../../../src/store/writer/draft.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { fill } from '../../../support/filled-store.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

const RECORDS = 200;

/** Reads of a single row in one step, at most. */
const MAX_READS = 10;

/** @returns the transaction, and a function that tells how many rows were read since its last call. */
function counted(transaction: Transaction): readonly [Transaction, () => number] {
  let reads = 0;
  const counting = new Proxy(transaction, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === 'get') reads += 1;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const taken = () => {
    const read = reads;
    reads = 0;
    return read;
  };
  return [counting, taken];
}

test('a step of undoing a SKU and its records reads few rows, however many records there are', async () => {
  const directory = temporaryDirectory();
  await fill(directory, 1);
  const store = await openQuickStore(directory);
  const records = new Records(new AuditedStore(store));
  const specs = Array.from({ length: RECORDS }, () => ({ spec_id: 1, option_id: 1 }));
  const sku = { name: 'Phone', caption: '', spu_id: 1, category_id: 3, price: 1, stock: 1 };
  const values = { ...sku, cost_price: 1, market_price: 1, is_launched: true, specs };
  const address = { kind: KINDS.skus, parent: null };
  await records.create(address, values, { subject: 'ann', key: null });
  const view = store.freeze();
  const draft = new Draft(view);
  const undone = atOnce(
    draft.runInParts(function* (transaction) {
      const [counting, reads] = counted(transaction);
      const steps = reverse(counting, [1], false);
      for (;;) {
        const step = steps.next();
        assert.ok(reads() <= MAX_READS, 'a step is short');
        if (step.done === true) return step.value;
        yield;
      }
    }),
  );
  const deleted = undone.filter(({ after }) => after === null);
  assert.is(deleted.length, 1 + RECORDS);
  view.close();
  await store.close();
});

test.run();
