/** What `rebuild-pages` says about pages that the disk refuses. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../../src/disk/disk.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { callProgram } from '../../../support/program.ts';

/** A disk on which no page of a SKU can be written, or only the first pages cannot. */
function refusing(code: string, isRefused = (path: string) => path.includes('/skus/')): Disk {
  return {
    ...quickDisk,
    async writeNew(path, ...rest) {
      if (isRefused(path)) throw Object.assign(new Error(`${code}: refused`), { code });
      await quickDisk.writeNew(path, ...rest);
    },
  };
}

for (const [code, advice] of [
  ['EACCES', 'give the user that runs catalog-server the right to use it, or name another path'],
  ['ENOSPC', 'its disk is full: free some space'],
] as const) {
  test(`the error for pages that fail with ${code} names ten of them, and says what to do`, async () => {
    const data = temporaryDirectory();
    await callProgram(['migrate', '--demo', '--data', data]);
    const disk = refusing(code);
    const { status, stderr } = await callProgram(['rebuild-pages', '--data', data], { disk });
    assert.is(status, 1);
    assert.match(stderr, new RegExp(`^catalog-server: skus/1\\.html: ${code}: refused '[^']+'; `));
    assert.ok(stderr.endsWith(`; and 26 more; ${advice}\n`), stderr);
  });
}

test('the error says nothing about pages that it does not name', async () => {
  const data = temporaryDirectory();
  await callProgram(['migrate', '--demo', '--data', data]);
  const late = refusing('ENOSPC', (path) => path.includes('/skus/'));
  const disk: Disk = {
    ...late,
    async writeNew(path, ...rest) {
      if (path.includes('/goods/')) throw Object.assign(new Error('EOTHER'), { code: 'EOTHER' });
      await late.writeNew(path, ...rest);
    },
  };
  const { stderr } = await callProgram(['rebuild-pages', '--data', data], { disk });
  assert.match(stderr, /^catalog-server: goods\/1\.html: EOTHER/);
  assert.not.match(stderr, 'skus');
  assert.match(stderr, /; and \d+ more\n$/);
});

test.run();
