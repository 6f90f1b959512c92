/** A transaction that runs in slices is one commit, whole or not at all (spec 10.2, 10.3). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import type { Store } from '../../../../src/store/store.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';

const open = () => openStore(storeDirectory(), { disk: quickDisk });

function addBrand(transaction: Transaction, name: string): void {
  const id = transaction.nextId('brands');
  transaction.put('brands', { id, name, logo: '', first_letter: '' });
}

const names = (store: Store) => [...store.ids('brands')].map((id) => store.get('brands', id)?.name);

/** Works for longer than one slice takes. */
function* work(): Generator<undefined, void> {
  const end = performance.now() + 10;
  while (performance.now() < end) yield;
}

test('readers see nothing of a long transaction before its commit, and later transactions wait for it', async () => {
  const store = await open();
  const seen: unknown[] = [];
  const long = store.transactLong(function* (transaction) {
    addBrand(transaction, 'One');
    setImmediate(() => seen.push(names(store)));
    yield* work();
    addBrand(transaction, 'Two');
    return [...transaction.ids('brands')];
  });
  const after = store.transact((transaction) => {
    const before = [...transaction.ids('brands')];
    addBrand(transaction, 'Three');
    return before;
  });
  assert.equal(await long, [1, 2]);
  assert.equal(await after, [1, 2]);
  assert.equal(seen, [[]]);
  assert.equal(names(store), ['One', 'Two', 'Three']);
  assert.is(store.sequence, 2);
  await store.close();
});

test('a long transaction that throws or violates a rule changes nothing, and the next one succeeds', async () => {
  const store = await open();
  const thrown = store.transactLong(function* (transaction) {
    addBrand(transaction, 'One');
    yield* work();
    throw new Error('on second thoughts');
  });
  const broken = store.transactLong(function* (transaction) {
    addBrand(transaction, 'Two');
    yield;
    const id = transaction.nextId('specs');
    yield* transaction.element(3, function* () {
      yield;
      transaction.put('specs', { id, name: 'Colour', goods_id: 9 });
    });
  });
  const next = store.transact((transaction) => addBrand(transaction, 'Three'));
  const outcomes = await Promise.allSettled([thrown, broken, next]);
  assert.equal(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : 'done')),
    ['on second thoughts', '3.spu_id: 9 does not exist', 'done'],
  );
  assert.equal(names(store), ['Three']);
  assert.equal([store.lastId('brands'), store.lastId('specs'), store.sequence], [1, 0, 1]);
  await store.close();
});

test('close waits for a long transaction', async () => {
  const store = await open();
  const long = store.transactLong(function* (transaction) {
    yield* work();
    addBrand(transaction, 'One');
  });
  await store.close();
  await long;
  assert.equal(names(store), ['One']);
});

test.run();
