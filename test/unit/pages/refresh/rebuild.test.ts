/** Rebuilding pages lets other work run, even if the disk never makes it wait. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blockingDisk } from '../../../../src/disk/disk.ts';
import { FileLock } from '../../../../src/disk/lock.ts';
import { rebuildPages } from '../../../../src/pages/refresh/rebuild.ts';
import { PageList } from '../../../../src/pages/shop/page-list.ts';
import { createWriter } from '../../../../src/pages/writer/create-writer.ts';
import { State } from '../../../../src/store/state.ts';
import { DEFAULT_SETTINGS } from '../../../../src/pages/shop/settings.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { countingTurns } from '../../../support/turns.ts';

test('other work runs between two progress reports of a rebuild', async () => {
  const directory = temporaryDirectory();
  const seen: number[] = [];
  await countingTurns((turns) =>
    rebuildPages(
      new FileLock(join(directory, 'pages.lock')),
      () => State.empty(),
      new PageList(false),
      () => createWriter(blockingDisk, directory, DEFAULT_SETTINGS),
      { stale: false, skus: Array.from({ length: 100 }, (_, index) => index + 1) },
      () => void seen.push(turns()),
    ),
  );
  assert.ok(seen.length > 3);
  assert.is(new Set(seen.slice(1)).size, seen.length - 1, seen.join(' '));
});

test.run();
