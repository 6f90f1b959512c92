import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import { openStore, storeDirectory } from '../../support/checked.ts';

test('this one damages a store, and does not say so', async () => {
  const directory = storeDirectory();
  const store = await openStore(directory);
  await store.close();
  writeFileSync(join(directory, 'head.json'), '{}');
});

test.run();
