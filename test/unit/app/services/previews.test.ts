/** How many previews of pages are made at a time and wait (spec 7.7). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Previews } from '../../../../src/app/services/previews.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import type { PagePreviews } from '../../../../src/pages/refresh/previews.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { openQuickStore } from '../../../support/quick-store.ts';
import { addShop } from '../../../support/shop.ts';

test('spec 7.7: two previews are made at a time, 20 wait, and one more is busy', async () => {
  const store = await openQuickStore(temporaryDirectory());
  await store.transact((transaction) => addShop(transaction, 1));
  const free = Promise.withResolvers<void>();
  const two = Promise.withResolvers<void>();
  let rendering = 0;
  let most = 0;
  const pages: Pick<PagePreviews, 'render'> = {
    async render() {
      rendering += 1;
      most = Math.max(most, rendering);
      if (rendering === 2) two.resolve();
      await free.promise;
      rendering -= 1;
      return 'a page';
    },
  };
  const previews = new Previews(store, pages as PagePreviews);
  const ask = () => previews.page(KINDS.skus, { id: 1 }, 'partial', 'ann');
  const taken = Array.from({ length: 22 }, ask);
  // If it waits instead of being refused, it ends with the others.
  const last = ask().catch((error: unknown) => error);
  await two.promise;
  free.resolve();
  const refused = await last;
  assert.instance(refused, CatalogError);
  const { code, status } = refused as CatalogError;
  assert.equal([code, status], ['busy', 503]);
  assert.equal([...new Set(await Promise.all(taken))], ['a page']);
  assert.is(most, 2);
  assert.is(await ask(), 'a page');
  await store.close();
});

test.run();
