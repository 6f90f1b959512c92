/** What the files of a store have in common. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as v from 'valibot';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { createStore } from '../../../../src/store/files/create.ts';
import { listChanges, parseShape } from '../../../../src/store/files/files.ts';
import { State } from '../../../../src/store/state.ts';
import { addBook } from '../../../support/books.ts';
import { openStore, storeDirectory } from '../../../support/checked.ts';
import { quickDisk } from '../../../support/disk.ts';
import { failureMessage } from '../../../support/failure.ts';

test('a file is not judged further after its first fault', async () => {
  // Anybody may have made an object of an archive, and every fault that is collected takes memory.
  let judged = 0;
  const never = v.custom<number>(() => {
    judged += 1;
    return false;
  }, 'must be something else');
  const judge = () => parseShape('a.json', v.array(never), [1, 2, 3]);
  assert.match(
    await failureMessage(judge, 'store_damaged'),
    /^a\.json is damaged: .*something else/,
  );
  assert.is(judged, 1);
});

test('a store whose change sets get a thirteenth digit opens again, with each of them', async () => {
  const directory = storeDirectory();
  const last = 999_999_999_998;
  await createStore(quickDisk, directory, { ...State.empty().snapshot(), sequence: last });
  const store = await openStore(directory, { disk: quickDisk });
  for (let nth = 0; nth < 3; nth += 1) await store.transact(addBook());
  await store.close();
  const again = await openStore(directory, { disk: quickDisk });
  assert.is(again.sequence, last + 3);
  assert.is(again.count('books'), 3);
  await again.close();
});

test('a number of a change set has no more zeros in front than twelve digits need', () => {
  const names = ['000000000012.json', '1000000000000.json'];
  const others = ['0000000000012.json', '12.json', '10000000000000000.json', '000000000000.json'];
  const { sequences, unexpected } = listChanges(
    { ...machineDisk, list: () => [...names, ...others] },
    '/data',
  );
  assert.equal(sequences, [12, 1_000_000_000_000]);
  assert.equal(
    unexpected,
    others.map((name) => join('/data/changes', name)),
  );
});

test.run();
