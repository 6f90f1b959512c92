/** src/pages/refresh/batches.ts: pages that are made together, one of which cannot be gathered. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PageBatches } from '../../../../src/pages/refresh/batches.ts';
import { Gatherer } from '../../../../src/pages/shop/gather.ts';
import { PageWriter } from '../../../../src/pages/writer/page-writer.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { add, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu, Site } from '../../../support/shop.ts';

test('a row that cannot be read fails the pages that show it, and no others', async () => {
  const store = new MemoryStore();
  store.commit([
    (transaction) => {
      const brand = add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
      for (const name of ['Table', 'Chair']) {
        addSku(transaction, name, addSpu(transaction, name, brand, addChain(transaction, name)), 3);
      }
    },
  ]);
  const peek = store.peek.bind(store);
  store.peek = (kind, id) => {
    if (kind === 'skus' && id === 1) throw new Error('row 1 of skus is damaged');
    return peek(kind, id);
  };
  const { disk, files } = memoryDisk();
  const writer = new PageWriter(disk, '', new Site().renderer, 'a shop');
  const batches = new PageBatches(new Gatherer(store, null), writer, async () => {});
  const names = ['index.html', 'skus/1.html', 'skus/2.html', 'goods/1.html', 'goods/2.html'];
  const failure = { message: 'row 1 of skus is damaged', systemCode: null };
  assert.equal(await batches.make(names, false), [
    'written',
    failure,
    'written',
    failure,
    'written',
  ]);
  assert.equal([...files.keys()].toSorted(), [
    'pages/goods/2.html',
    'pages/index.html',
    'pages/skus/2.html',
  ]);
});

test.run();
