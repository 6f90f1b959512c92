/** What the program says if the disk refuses the files of a store at a start. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Store } from '../../../../src/store/store.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { failureOf } from '../../../support/failure.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';

const ADVICE = {
  EACCES: 'give the user that runs catalog-server the right to write to it and try again',
  EPERM: 'give the user that runs catalog-server the right to write to it and try again',
  EROFS: 'mount its file system for writing and try again',
  ENOSPC: 'free some space and try again',
  EDQUOT: 'free some space and try again',
  EFBIG: 'raise the limit of file sizes (ulimit -f) and try again',
  EMFILE: 'raise the limit of open files (ulimit -n) and try again',
  ENFILE: 'close some programs and try again',
  ENOTEMPTY: 'move the files of other programs out of that directory and try again',
  EIO: 'check the disk and try again',
};

for (const [code, advice] of Object.entries(ADVICE)) {
  test(`a start that fails with ${code} names the directory, and says what to do`, async () => {
    const directory = join(temporaryDirectory(), 'data');
    const disk = new RefusingDisk();
    disk.refusal = (step) => (step === 'create' ? code : null);
    const { message } = await failureOf(() =>
      Store.open({
        directory,
        command: 'test',
        create: true,
        disk,
        history: 0,
        onError: () => {},
        onFatal: () => {},
      }),
    );
    assert.ok(message.startsWith(`${directory} cannot be written (`), message);
    assert.ok(message.endsWith(`); ${advice}`), message);
  });
}

test.run();
