/** src/resources/transfer/exports.ts: what an export leaves in memory. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Money } from '../../../../src/model/money.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { Exports } from '../../../../src/resources/transfer/exports.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { addShop } from '../../../support/shop.ts';

const SKUS = 5;

const EVERYTHING = { filters: [], sortby: 'id', order: 'asc' } as const;

for (const format of ['csv', 'ndjson', 'json'] as const) {
  test(`a ${format} export of rows that are text in memory is the same, and creates no objects`, async () => {
    const store = new MemoryStore();
    store.commit([(transaction) => addShop(transaction, SKUS)]);
    const state = store.opened();
    const texts: string[] = [];
    for (const source of [store, state]) {
      const { text } = await new Exports(source, new Money('USD')).open(
        KINDS.skus,
        format,
        EVERYTHING,
      );
      let whole = '';
      for await (const piece of text) whole += piece;
      texts.push(whole);
    }
    assert.match(texts[0] ?? '', `SKU ${SKUS}`);
    assert.is(texts[1], texts[0]);
    for (const kind of ['skus', 'sku_specs'] as const) {
      assert.is.not(state.peek(kind, 1), state.peek(kind, 1), kind);
    }
  });
}

test('an export keeps the state that it shows only until it is read or closed', async () => {
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, SKUS)]);
  let open = 0;
  const freeze = store.freeze.bind(store);
  store.freeze = () => {
    const view = freeze();
    const close = view.close.bind(view);
    open += 1;
    view.close = () => {
      open -= 1;
      close();
    };
    return view;
  };
  const exports = new Exports(store, new Money('USD'));
  for (const isRead of [true, false]) {
    const { text } = await exports.open(KINDS.skus, 'csv', EVERYTHING);
    const pieces = text[Symbol.asyncIterator]();
    assert.is((await pieces.next()).done, false);
    assert.is(open, 1);
    if (isRead) assert.is((await pieces.next()).done, true);
    else await pieces.return?.();
    assert.is(open, 0, isRead ? 'it was read' : 'it was closed');
  }
});

test('no commit comes between the preparation of an export and its view', async () => {
  const store = new MemoryStore();
  store.commit([(transaction) => addShop(transaction, SKUS)]);
  let isPrepared = false;
  const [prepareIndexes, freeze] = [store.prepareIndexes.bind(store), store.freeze.bind(store)];
  store.prepareIndexes = (sought) => {
    isPrepared = true;
    // Whatever runs next may commit.
    queueMicrotask(() => (isPrepared = false));
    return prepareIndexes(sought);
  };
  store.freeze = () => {
    assert.ok(isPrepared);
    return freeze();
  };
  const { text } = await new Exports(store, new Money('USD')).open(KINDS.skus, 'csv', EVERYTHING);
  assert.match(await Array.fromAsync(text, String).then((pieces) => pieces.join('')), 'SKU 1');
});

test.run();
