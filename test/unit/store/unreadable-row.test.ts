/**
 * A row whose text cannot be parsed although the checksum matches, as after an edit by hand, is
 * reported: by `check`, when the row is read, and when a change set replaces it.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { CatalogError } from '../../../src/errors.ts';
import { checkStore } from '../../../src/store/check.ts';
import { CHECKSUM_LENGTH, checksumMember } from '../../../src/json/checksum.ts';
import { createStore } from '../../../src/store/files/create.ts';
import { recover } from '../../../src/store/files/recovery.ts';
import { Store } from '../../../src/store/store.ts';
import { quickDisk } from '../../support/disk.ts';
import { leftInDisorder, openStore, storeDirectory } from '../../support/checked.ts';
import { codeOf } from '../../support/failure.ts';
import { openQuickStore } from '../../support/quick-store.ts';

const book = (id: number) => ({
  id,
  name: `Book ${id}`,
  pub_date: '1815-12-23',
  commentcount: 0,
  readcount: 0,
  image: '',
});

/**
 * A store with three books in its base, of which the text of the second was changed by hand.
 *
 * @param isReplaced whether a change set after the base replaces the second book.
 */
async function forged(isReplaced = false): Promise<string> {
  const made = storeDirectory();
  const store = await openStore(made, { disk: quickDisk });
  await store.transact((all) => {
    for (const _ of [1, 2, 3]) all.put('books', book(all.nextId('books')));
  });
  await store.close();
  const recovered = recover(machineDisk, made);
  assert.ok(recovered);
  const directory = leftInDisorder(storeDirectory());
  await createStore(quickDisk, directory, recovered.state.snapshot());
  if (isReplaced) {
    const later = await opened(directory);
    await later.transact((all) => all.put('books', { ...book(2), name: 'New' }));
    await later.close();
  }
  const path = join(directory, DATA_FILES.base);
  const content = readFileSync(path).subarray(0, -CHECKSUM_LENGTH).toString('utf8');
  const text = content.replace('"name":"Book 2"', '"name":"Book 2" 2');
  assert.is.not(text, content);
  const digest = createHash('sha256').update(text).digest('hex');
  writeFileSync(path, text + checksumMember(digest));
  return directory;
}

/** Opens a store that is not checked at close, because the check reads every row. */
function opened(directory: string): Promise<Store> {
  return openQuickStore(directory, { create: false });
}

const message = (directory: string) =>
  `${join(directory, DATA_FILES.base)} is damaged: row 2 of books: `;

test('check names the file and the row', async () => {
  const directory = await forged();
  const { findings } = checkStore(machineDisk, directory);
  assert.is(findings.length, 1);
  assert.ok(findings[0]?.startsWith(message(directory)), findings[0]);
});

test('reading the row fails as store_damaged, and other rows can be read', async () => {
  const directory = await forged();
  const store = await opened(directory);
  try {
    assert.equal(store.get('books', 3), book(3));
    assert.throws(
      () => store.get('books', 2),
      (error: unknown) =>
        error instanceof CatalogError &&
        error.code === 'store_damaged' &&
        error.message.startsWith(message(directory)),
    );
  } finally {
    await store.close();
  }
});

test('a commit that would replace the row fails as store_damaged, and the next one succeeds', async () => {
  const directory = await forged();
  const store = await opened(directory);
  try {
    const replacing = store.transact((all) => all.put('books', { ...book(2), name: 'New' }));
    assert.is(await codeOf(replacing), 'store_damaged');
    await store.transact((all) => all.put('books', { ...book(3), name: 'New' }));
    assert.is(store.get('books', 3)?.name, 'New');
  } finally {
    await store.close();
  }
});

test('a start fails as store_damaged if a change set replaces the row', async () => {
  const directory = await forged(true);
  assert.throws(
    () => recover(machineDisk, directory),
    (error: unknown) =>
      error instanceof CatalogError &&
      error.code === 'store_damaged' &&
      error.message.startsWith(message(directory)),
  );
});

test.run();
