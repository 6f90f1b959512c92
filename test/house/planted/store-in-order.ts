import { test } from 'uvu';
import { leftInDisorder, openStore, storeDirectory } from '../../support/checked.ts';

test('this one says that it damages a store, and does not', async () => {
  const directory = storeDirectory();
  const store = await openStore(directory);
  await store.close();
  leftInDisorder(directory);
});

test.run();
