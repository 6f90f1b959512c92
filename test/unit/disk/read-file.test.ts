/** What the message about a file that cannot be read advises (src/disk/read-file.ts). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readable } from '../../../src/disk/read-file.ts';

const RIGHT = 'make it readable for the user that runs catalog-server';

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: RIGHT,
  EPERM: RIGHT,
  EISDIR: 'there is a directory where a file is expected: move it away',
  ENOENT:
    'its symbolic link leads to a file that is missing: put that file back, mount its disk, or remove the link',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine: close some programs',
  EIO: 'the disk fails: restore the file from a backup, or see "Damage" in docs/storage.md',
  EUCLEAN: 'its file system is damaged: check it (fsck)',
  ESTALE: 'its file server does not have it any more: mount the file system again',
  ENODEV: 'check the disk, and try again',
};

for (const [code, advice] of Object.entries(ADVICE)) {
  test(`${code}: ${advice}`, () => {
    const cause = Object.assign(new Error(`${code}: why`), { code });
    const read = () => {
      throw cause;
    };
    assert.throws(
      () => readable('/srv/keys.json', read),
      (error: Error) => error.message === `/srv/keys.json cannot be read (${code}: why); ${advice}`,
    );
  });
}

test.run();
