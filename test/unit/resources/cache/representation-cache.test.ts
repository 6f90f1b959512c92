/** Cached representations equal fresh ones. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KIND_NAMES, type KindName } from '../../../../src/model/kind.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { existingRow } from '../../../../src/model/rows.ts';
import {
  type Readable,
  RepresentationCache,
} from '../../../../src/resources/cache/representation-cache.ts';
import { represent } from '../../../../src/resources/represent.ts';
import { inSlices } from '../../../../src/slices.ts';
import type { Transaction } from '../../../../src/store/writer/draft.ts';
import { Store } from '../../../../src/store/store.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

function opened(directory: string): Promise<Store> {
  return openQuickStore(directory, { smallestCheckpoint: 1 });
}

async function filled(directory = temporaryDirectory()): Promise<Store> {
  const store = await opened(directory);
  await store.transact((draft) => {
    draft.put('brands', { id: draft.nextId('brands'), name: 'B', logo: '', first_letter: '' });
    for (const parent_id of [null, 1, 2]) {
      draft.put('categories', { id: draft.nextId('categories'), name: 'C', parent_id });
    }
    draft.put('goods', {
      id: draft.nextId('goods'),
      name: 'SPU',
      brand_id: 1,
      category1_id: 1,
      category2_id: 2,
      category3_id: 3,
      sales: 0,
      comments: 0,
      desc_detail: '',
      desc_pack: '',
      desc_service: '',
    });
    draft.put('specs', { id: draft.nextId('specs'), name: 'Colour', goods_id: 1 });
    draft.put('options', { id: draft.nextId('options'), value: 'Silver', spec_id: 1 });
    for (const name of ['One', 'Two']) {
      draft.put('skus', {
        id: draft.nextId('skus'),
        name,
        goods_id: 1,
        caption: '',
        category_id: 3,
        price: 3,
        cost_price: 1,
        market_price: 4,
        stock: 0,
        sales: 0,
        is_launched: true,
        code: null,
      });
    }
    addRecord(draft);
  });
  return store;
}

function addRecord(draft: Transaction): void {
  draft.put('sku_specs', { id: draft.nextId('sku_specs'), sku_id: 1, spec_id: 1, option_id: 1 });
}

/** A representation as values that can be compared. */
function shown(readable: Readable | null): { text: string; etag: string } | null {
  if (readable === null) return null;
  const { text, etag } = readable;
  return { text: typeof text === 'string' ? text : Buffer.from(text).toString(), etag };
}

/** Whether both are views of the same bytes, so that the text was not made twice. */
function isSame(one: Readable | null, other: Readable | null): boolean {
  if (!(one?.text instanceof Uint8Array) || !(other?.text instanceof Uint8Array)) return false;
  return one.text.buffer === other.text.buffer && one.text.byteOffset === other.text.byteOffset;
}

const reader = (cache: RepresentationCache) => (kind: KindName, id: number) =>
  cache.get(KINDS[kind], id);

const changed =
  (kind: 'brands' | 'categories' | 'goods' | 'specs' | 'skus', id: number) =>
  (draft: Transaction): void => {
    const row = draft.get(kind, id);
    if (row !== undefined) draft.put(kind, { ...row, name: `${row['name']} changed` });
  };

for (const [what, change] of [
  ['its row', changed('skus', 1)],
  ['the name of its SPU', changed('goods', 1)],
  ['the name of its category', changed('categories', 3)],
  ['the name of a brand', changed('brands', 1)],
  ['the name of a specification', changed('specs', 1)],
  ['its records, by adding one', addRecord],
  ['its records, by deleting one', (draft: Transaction) => draft.delete('sku_specs', 1)],
] as const) {
  test(`no cached representation is returned after a change of ${what}`, async () => {
    const store = await filled();
    const cache = new RepresentationCache(store);
    const compare = () => {
      for (const name of KIND_NAMES) {
        for (const id of store.ids(name)) {
          const row = existingRow(store, name, id);
          const expected = shown(represent(KINDS[name], row, store));
          assert.equal(shown(cache.get(KINDS[name], id)), expected, 'made');
          assert.equal(shown(cache.get(KINDS[name], id)), expected, 'kept');
        }
      }
    };
    compare();
    await store.transact(change);
    compare();
    await store.close();
  });
}

test('a representation stays cached until something that it shows changes', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const read = () => reader(cache)('skus', 1);
  const first = read();
  await store.transact(changed('skus', 2));
  await store.transact(changed('brands', 1));
  assert.ok(isSame(read(), first));
  await store.close();
});

test('a change of the records of one SKU does not remove other SKUs from the cache', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const read = reader(cache);
  const [one, two] = [read('skus', 1), read('skus', 2)];
  await store.transact(addRecord);
  assert.not.ok(isSame(read('skus', 1), one));
  assert.ok(isSame(read('skus', 2), two));
  await store.close();
});

test('the cache never exceeds its size, and representations that are read often stay in it', async () => {
  const store = await filled();
  const most = 64 * 1024;
  const cache = new RepresentationCache(store, most);
  const read = reader(cache);
  const count = 1000;
  await store.transact((draft) => {
    const brand = { logo: '', first_letter: '' };
    for (let n = 0; n < count; n += 1) {
      draft.put('brands', { id: draft.nextId('brands'), name: `Brand ${n}`, ...brand });
    }
  });
  const [once, again] = [read('skus', 1), read('skus', 2)];
  const tag = again?.etag;
  let moves = 0;
  let last = again;
  for (let id = 1; id <= count; id += 1) {
    read('brands', id);
    const now = read('skus', 2);
    if (!isSame(now, last)) moves += 1;
    last = now;
    assert.is(now?.etag, tag);
    assert.ok(cache.bytes <= most, String(cache.bytes));
  }
  assert.ok(cache.bytes > most / 2, 'the bytes are in use');
  assert.ok(moves > 0 && moves < 10, `spared ${moves} times, made anew not once`);
  assert.not.ok(isSame(read('skus', 1), once));
  await store.close();
});

test('a returned text does not change when the cache reuses its memory', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store, 16 * 1024);
  const read = reader(cache);
  const given = read('skus', 1);
  const expected = shown(given);
  for (let turn = 0; turn < 200; turn += 1) {
    await store.transact(changed('skus', 1));
    read('skus', 1);
  }
  assert.equal(shown(given), expected);
  await store.close();
});

test('texts of any characters and lengths are returned unchanged', async () => {
  const store = await filled();
  const names = fc.array(fc.string({ unit: 'binary', maxLength: 3000 }), {
    minLength: 1,
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(names, fc.array(fc.nat(29)), async (texts, reads) => {
      const cache = new RepresentationCache(store, 40_000);
      await store.transact((draft) => {
        for (const [index, name] of texts.entries()) {
          draft.put('brands', { id: index + 1, name, logo: '', first_letter: '' });
        }
      });
      const target = Buffer.alloc(32 * 1024);
      for (const id of [...texts.keys(), ...reads.filter((index) => index < texts.length)]) {
        const row = existingRow(store, 'brands', id + 1);
        const expected = shown(represent(KINDS.brands, row, store));
        const bytes = cache.copyText(KINDS.brands, row.id, target, 5);
        assert.is(target.toString('utf8', 5, 5 + bytes), expected?.text);
        assert.equal(shown(cache.get(KINDS.brands, row.id)), expected);
        assert.ok(cache.bytes <= 40_000, String(cache.bytes));
      }
    }),
    { numRuns: 40 },
  );
  await store.close();
});

test('a text is not copied if the target has no room for it', async () => {
  const store = await filled();
  const row = existingRow(store, 'skus', 1);
  const { length } = represent(KINDS.skus, row, store).text;
  for (const most of [1_000_000, 400]) {
    const cache = new RepresentationCache(store, most);
    const target = Buffer.alloc(length + 10, 'x');
    assert.is(cache.copyText(KINDS.skus, 1, target, 11), 0, 'made');
    assert.is(cache.copyText(KINDS.skus, 1, target, 11), 0, 'kept');
    assert.is(target.toString(), 'x'.repeat(length + 10));
    assert.is(cache.copyText(KINDS.skus, 1, target, 10), length);
  }
  await store.close();
});

test('replaced texts do not accumulate while the cache has room', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store, 4_000_000);
  const read = reader(cache);
  const stays = read('skus', 2);
  const before = cache.bytes;
  for (let turn = 0; turn < 1500; turn += 1) {
    await store.transact((draft) => {
      draft.put('brands', { id: 1, name: `${turn}`.repeat(200), logo: '', first_letter: '' });
    });
    read('brands', 1);
  }
  const segment = 256 * 1024;
  assert.ok(cache.bytes <= before + 2 * segment, `${cache.bytes} bytes, ${before} before`);
  assert.ok(isSame(read('skus', 2), stays));
  await store.close();
});

test('a representation that is larger than the cache is returned but not cached', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store, 400);
  const read = reader(cache);
  const expected = represent(KINDS.skus, existingRow(store, 'skus', 1), store);
  assert.equal(shown(read('skus', 1)), shown(expected));
  assert.is(cache.bytes, 0);
  await store.close();
});

test('a long text has its own memory, which is released when the text is replaced', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const read = reader(cache);
  const rename = (name: string) =>
    store.transact((draft) => {
      draft.put('brands', { id: 1, name, logo: '', first_letter: '' });
    });
  await rename('x'.repeat(1_000_000));
  const before = cache.bytes;
  assert.ok(isSame(read('brands', 1), read('brands', 1)));
  assert.ok(cache.bytes - before > 1_000_000);
  await rename('short');
  assert.ok(cache.bytes - before < 100_000);
  await store.close();
});

test('a representation is current as soon as a commit is applied', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  const read = reader(cache);
  read('skus', 1);
  const seen: (string | undefined)[] = [];
  store.onApply(() => seen.push(shown(read('skus', 1))?.text));
  await store.transact(changed('skus', 1));
  await store.transact(addRecord);
  const [renamed, extended] = seen.map((text) => JSON.parse(text ?? ''));
  assert.is(renamed.name, 'One changed');
  assert.is(renamed.specs.length, 1);
  assert.is(extended.specs.length, 2);
  await store.close();
});

test('rows that are read for their representations are not kept as objects', async () => {
  const directory = temporaryDirectory();
  const before = await filled(directory);
  // The next commit writes a base, and the next start leaves its rows as text.
  await before.transact(changed('brands', 1));
  await before.close();
  const store = await opened(directory);
  reader(new RepresentationCache(store))('skus', 1);
  assert.is.not(store.peek('skus', 1), store.peek('skus', 1));
  assert.is.not(store.peek('sku_specs', 1), store.peek('sku_specs', 1));
  assert.equal(store.peek('skus', 1), store.get('skus', 1));
  assert.is(store.peek('skus', 1), store.get('skus', 1));
  await store.close();
});

/** Takes the turns of long work, so that none that begins now is over before the result is called. */
function delayLongWork(): () => void {
  const over = new AbortController();
  function* work(): Generator<undefined, void> {
    while (!over.signal.aborted) yield;
  }
  for (let count = 0; count < 100; count += 1) void inSlices(work());
  return () => over.abort();
}

test('a representation of many records is made in steps, as of the request, and then cached', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  assert.ok(cache.get(KINDS.skus, 1), 'of few records at once');
  const add = (count: number) =>
    store.transact((draft) => {
      for (let record = 0; record < count; record += 1) {
        const id = draft.nextId('sku_specs');
        draft.put('sku_specs', { id, sku_id: 1, spec_id: 1, option_id: 1 });
      }
    });
  await add(5000);
  const fresh = () => shown(represent(KINDS.skus, existingRow(store, 'skus', 1), store));
  assert.is(cache.get(KINDS.skus, 1), null, 'of many not at once');
  assert.is(cache.copyText(KINDS.skus, 1, Buffer.alloc(1_000_000), 0), 0);
  let endDelay = delayLongWork();
  const preparing = cache.prepare(KINDS.skus, 1);
  assert.is(cache.prepare(KINDS.skus, 1), preparing, 'once, whoever asks');
  const expected = fresh();
  await add(1);
  const after = cache.prepare(KINDS.skus, 1);
  assert.is.not(after, preparing, 'anew for who asks after a commit');
  endDelay();
  assert.equal(shown(await preparing), expected, 'that of the request');
  assert.equal(shown(await after), fresh(), 'that of the later request');
  assert.equal(shown(cache.get(KINDS.skus, 1)), fresh(), 'of the row as it is');
  assert.is.not(cache.prepare(KINDS.skus, 1), after, 'of what is made only the cache is kept');
  await add(1);
  endDelay = delayLongWork();
  const early = cache.prepare(KINDS.skus, 1);
  await store.transact(changed('goods', 1));
  const renamed = cache.prepare(KINDS.skus, 1);
  assert.is.not(renamed, early, 'anew for who asks after its SPU was renamed');
  endDelay();
  assert.equal(shown(await renamed), fresh(), 'with the new name');
  await early;
  assert.equal(shown(cache.get(KINDS.skus, 1)), fresh(), 'whichever ends last');
  await add(1);
  assert.is(cache.get(KINDS.skus, 1), null, 'of a row that has changed');
  endDelay = delayLongWork();
  const late = cache.prepare(KINDS.skus, 1);
  await add(1);
  endDelay();
  await late;
  assert.is(cache.get(KINDS.skus, 1), null, 'of a row that changed meanwhile');
  await store.close();
});

test('a representation of a row that does not exist is an error each time', async () => {
  const store = await filled();
  const cache = new RepresentationCache(store);
  assert.throws(() => cache.get(KINDS.skus, 9), /there is no skus 9/);
  for (let turn = 0; turn < 2; turn += 1) {
    const refused = await cache.prepare(KINDS.skus, 9).then(String, String);
    assert.match(refused, /skus 9/);
  }
  await store.close();
});

test.run();
