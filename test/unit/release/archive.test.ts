/** The files of an archive before it is written. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withStaged } from '../../../release/archive.ts';
import { temporaryDirectory } from '../../support/directory.ts';

for (const umask of [0o002, 0o022, 0o077]) {
  test(`staged files have the same modes with the umask ${umask.toString(8)}`, () => {
    const source = join(temporaryDirectory(), 'file');
    writeFileSync(source, '', { mode: 0o600 });
    const before = process.umask(umask);
    try {
      const entries = [
        { source, path: 'usr/bin/program', executable: true },
        { source, path: 'DEBIAN/control' },
      ] as const;
      const modes = withStaged(entries, (directory) =>
        ['', ...readdirSync(directory, { recursive: true }).map(String)]
          .toSorted()
          .map((path) => [path, (statSync(join(directory, path)).mode & 0o777).toString(8)]),
      );
      assert.equal(modes, [
        ['', '755'],
        ['DEBIAN', '755'],
        ['DEBIAN/control', '644'],
        ['usr', '755'],
        ['usr/bin', '755'],
        ['usr/bin/program', '755'],
      ]);
      assert.is(process.umask(), umask, 'it is as before');
    } finally {
      process.umask(before);
    }
  });
}

test.run();
