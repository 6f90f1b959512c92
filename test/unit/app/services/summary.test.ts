/** spec 13.3: from where on there is a warning, and how long one from the file system is reused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Summaries } from '../../../../src/app/services/summary.ts';
import { NOW, summariesWith } from '../../../support/summaries.ts';

const DAY = 24 * 3_600_000;
const GIB = 1024 ** 3;

async function codesOf(summaries: Summaries): Promise<string[]> {
  return (await summaries.read()).warnings.map(({ code }) => code);
}

test('a disk is nearly full below 1 GiB, or below twice the bytes of the store', async () => {
  for (const [free, bytes, isFull] of [
    [GIB, 0, false],
    [GIB - 1, 0, true],
    // The base and the change sets are 2 GiB each.
    [8 * GIB, 2 * GIB, false],
    [8 * GIB - 1, 2 * GIB, true],
  ] as const) {
    const summaries = summariesWith({ freeSpace: () => Promise.resolve(free) }, bytes);
    assert.equal(await codesOf(summaries), isFull ? ['disk_nearly_full'] : [], `${free} ${bytes}`);
  }
});

test('a backup is too old after more than 7 days', async () => {
  assert.equal(await codesOf(summariesWith({ lastBackup: () => NOW - 7 * DAY })), []);
  const older = summariesWith({ lastBackup: () => NOW - 7 * DAY - 1 });
  assert.equal(await codesOf(older), ['no_backup']);
});

test('if memory is scarce, that is the only warning, although it is a reason not to be ready', async () => {
  const reason = () => 'memory is scarce';
  const scarce = summariesWith({ isMemoryScarce: () => true, reason });
  assert.equal(await codesOf(scarce), ['memory_scarce']);
  assert.equal(await codesOf(summariesWith({ reason })), ['not_ready']);
});

test('the disk and the backup are looked at once in 10 seconds, and again if the clock was set back', async () => {
  let now = NOW;
  let looked = 0;
  const freeSpace = () => {
    looked += 1;
    return Promise.resolve(1024 * GIB);
  };
  const summaries = summariesWith({ now: () => now, freeSpace });
  for (const [time, times] of [
    [NOW, 1],
    [NOW + 9999, 1],
    [NOW + 10_000, 2],
    [NOW - DAY, 3],
  ] as const) {
    now = time;
    await summaries.read();
    assert.is(looked, times, `${time - NOW} ms`);
  }
});

test.run();
