/**
 * What remembers each row of an import. The engine enlarges a map in one turn of the event loop: one
 * of a million entries holds up all clients for some 100 ms. Hence each of these is made of small
 * maps. The test counts entries, because the time depends on the machine.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changeOf } from '../../src/model/change.ts';
import { perKind } from '../../src/model/per-kind.ts';
import type { RowOf } from '../../src/model/rows.ts';
import { Retry } from '../../src/pages/refresh/retry.ts';
import { RowSummaries } from '../../src/pages/refresh/row-summaries.ts';
import { skuPage } from '../../src/pages/shop/names.ts';
import { Seen } from '../../src/resources/transfer/rows/seen.ts';
import { FrozenView } from '../../src/store/memory/frozen-view.ts';
import { RowTable } from '../../src/store/memory/row-table.ts';
import { Draft } from '../../src/store/writer/draft.ts';
import { MemoryStore } from '../support/memory-store.ts';

const ROWS = 100_000;

/** The engine doubles a map of this many entries in 1 to 2 ms. */
const MOST_ENTRIES = 16_384;

type Sku = RowOf<'skus'>;

function skuWith(id: number): Sku {
  const prices = { price: id, cost_price: 0, market_price: 0, stock: 0, sales: 0 };
  const references = { goods_id: 1, category_id: 1 };
  const texts = { name: `SKU ${id}`, caption: '', code: `${id}` };
  return { id, ...texts, ...references, ...prices, is_launched: true };
}

const REMEMBERING: Readonly<Record<string, () => (row: Sku) => void>> = {
  'ids that the file has'() {
    const seen = new Seen();
    return ({ id }) => assert.not(seen.repeats('id', String(id)));
  },
  'rows of the draft and its look-ups by value'() {
    const draft = new Draft(new MemoryStore().freeze());
    return (row) => {
      // A new transaction, as for each commit of an import: it keeps the writes that it may undo.
      if (row.id % 250 === 0) draft.run(() => {});
      draft.put('skus', row);
      assert.equal([...draft.matching('skus', 'name', row.name)], [row.id]);
    };
  },
  'rows whose pages are not named yet'() {
    const summaries = new RowSummaries();
    return (row) => summaries.add(changeOf('skus', row.id, null, row));
  },
  'rows that have changed since an export began'() {
    const rows = perKind(() => new RowTable([]).snapshot());
    Object.assign(rows.skus, { has: () => true });
    const moment = { sequence: 0, digest: '', lastIds: perKind(() => 0), rows };
    const view = new FrozenView(moment, new MemoryStore(), () => {});
    return (row) => view.keep([changeOf('skus', row.id, row, null)]);
  },
  'pages that cannot be written'() {
    const clock = { now: () => 0, after: () => () => {} };
    const retry = new Retry(
      () => {},
      () => {},
      clock,
    );
    const full = new Error('ENOSPC');
    return ({ id }) => retry.failed(skuPage(id), full);
  },
};

/** Runs a task. @returns the most entries that a map or a set had, of those that it made. */
function mostEntriesIn(task: () => void): number {
  let most = 0;
  class CountedMap<K, V> extends Map<K, V> {
    override set(key: K, value: V): this {
      super.set(key, value);
      most = Math.max(most, this.size);
      return this;
    }
  }
  class CountedSet<T> extends Set<T> {
    override add(value: T): this {
      super.add(value);
      most = Math.max(most, this.size);
      return this;
    }
  }
  const before = { Map, Set };
  Object.assign(globalThis, { Map: CountedMap, Set: CountedSet });
  try {
    task();
  } finally {
    Object.assign(globalThis, before);
  }
  return most;
}

for (const [what, remembering] of Object.entries(REMEMBERING)) {
  test(`no map of the ${what} has more than ${MOST_ENTRIES} entries`, () => {
    const most = mostEntriesIn(() => {
      const remember = remembering();
      for (let id = 1; id <= ROWS; id += 1) remember(skuWith(id));
    });
    assert.ok(most > 1, 'it keeps its entries in maps');
    assert.ok(most <= MOST_ENTRIES, `${most} entries`);
  });
}

test.run();
