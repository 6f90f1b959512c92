/** Work that is done beside the uploads of change sets (src/archive/archiver.ts, invariant 1). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Archived } from '../../support/archive.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

/** An archive that keeps nothing but its newest base, with two bases. */
async function withOldObjects(remove: () => void | Promise<void>): Promise<Archived> {
  const now = () => Date.now() + 60_000;
  const archived = await Archived.open(temporaryDirectory(), { keep: 1, now });
  await archived.archived();
  archived.network.before = (call) => (call === 'remove' ? remove() : undefined);
  const { baseSequence } = archived.store;
  while (archived.store.baseSequence === baseSequence) await archived.commit(1);
  return archived;
}

test('change sets are archived while old objects are removed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let removals = 0;
  const archived = await withOldObjects(() => {
    removals += 1;
    return promise;
  });
  await until('objects are removed', () => removals > 0);
  await archived.commit(1);
  await archived.archived();
  assert.is(removals, 1, 'the removal is still under way');
  resolve();
  await until('they are removed', () => archived.network.in('bases').length === 1);
  await archived.close();
});

test('change sets are archived if nothing can be removed, which is reported', async () => {
  let isRefused = true;
  const archived = await withOldObjects(() => {
    if (isRefused) throw new Error('AccessDenied');
  });
  await until('it is reported', () => archived.log.some((line) => line.includes('AccessDenied')));
  await archived.commit(1);
  await until('it is archived', () => archived.archiver.figures.changeSets === 0);
  assert.match(archived.archiver.figures.failing ?? '', 'AccessDenied');
  isRefused = false;
  await until('they are removed', () => archived.network.in('bases').length === 1);
  await archived.archived();
  assert.match(archived.log.at(-1) ?? '', 'can be reached again');
  await archived.close();
});

test.run();
