import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { takeBase } from '../../../../src/hosts/following/take-base.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

test('a base that is taken is reported with its progress, and a signal ends its transfer', async () => {
  const source = await openQuickStore(temporaryDirectory());
  const bytes = Buffer.concat(await Array.fromAsync(baseSlices(source.snapshot())));
  const half = Math.floor(bytes.length / 2);
  const { signal } = new AbortController();
  let ending: AbortSignal | undefined;
  const percents: number[] = [];
  const lines: string[] = [];
  const base = await takeBase({
    primary: {
      address: 'https://primary',
      async *base(given) {
        ending = given;
        yield bytes.subarray(0, half);
        yield bytes.subarray(half);
      },
    },
    disk: quickDisk,
    directory: temporaryDirectory(),
    expected: 2 * half,
    log: { info: (message) => void lines.push(message) },
    onProgress: (percent) => void percents.push(percent),
    signal,
  });
  assert.equal(percents, [50, 99], 'it is complete only when it is in its place');
  assert.equal(lines, [
    'fetching a base from https://primary, about 1 MiB',
    `fetched a base of ${bytes.length} bytes as of change set 0`,
  ]);
  assert.is(ending, signal);
  await base.abandon();
  await source.close();
});

test.run();
