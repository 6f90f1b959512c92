/** When an archive that has failed is tried again (spec 15.3). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { retryDelay } from '../../../src/archive/retry.ts';
import { requestedDelay, StoreFailure } from '../../../src/archive/storage/object-store.ts';
import { CatalogError } from '../../../src/errors.ts';
import { Archived } from '../../support/archive.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { MemoryObjects } from '../../support/object-store.ts';
import { until } from '../../support/until.ts';

/** As the archiver gets it. */
const busy = (milliseconds: number) => {
  const cause = new Error('a write failed', { cause: new StoreFailure('slow', milliseconds) });
  return new CatalogError('archive_failed', 'cannot be reached', { cause });
};

test('delays grow to half a minute, and half of them is random', () => {
  const delays = (chance: number) =>
    [1, 2, 7, 100].map((failures) => retryDelay(failures, new Error('cut off'), chance));
  assert.equal(delays(1), [500, 1000, 30_000, 30_000]);
  assert.equal(delays(0), [250, 500, 15_000, 15_000]);
});

test('no attempt is made while the store wants none, for five minutes at most', () => {
  assert.is(retryDelay(1, busy(7000), 1), 7500);
  assert.is(retryDelay(1, busy(86_400_000), 1), 300_500);
});

test('an archiver waits as the error says', async () => {
  const network = new MemoryObjects();
  network.before = () => {
    network.before = () => {};
    throw new StoreFailure('slow', 7000);
  };
  const requested: number[] = [];
  const archived = await Archived.open(temporaryDirectory(), {
    network,
    retryDelay: (_failures, error) => {
      requested.push(requestedDelay(error));
      return 1;
    },
  });
  await archived.archived();
  await until('it has waited', () => requested.length > 0);
  await archived.close();
  assert.equal(requested, [7000]);
});

test('a failure is logged once, although each attempt writes an object of another name', async () => {
  const archived = await Archived.open(temporaryDirectory());
  await archived.archived();
  const failed = new Set<string>();
  archived.network.before = (call, name) => {
    if (call !== 'put' || !name.startsWith('changes/')) return;
    failed.add(name);
    throw new Error(`a write of ${name} failed: AccessDenied`);
  };
  for (let names = 1; names <= 3; names += 1) {
    await archived.commit(1);
    await until('it has failed', () => failed.size >= names);
  }
  archived.network.before = () => {};
  await archived.archived();
  await archived.close();
  const [failure, ...others] = archived.log;
  assert.match(failure ?? '', /a write of changes\/0{11}1-\S+ failed: AccessDenied$/);
  assert.equal(others, ['memory: can be reached again']);
});

test.run();
