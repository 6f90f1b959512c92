/** A limit of file sizes (`ulimit -f`): it is an error of the disk, and no signal ends the program. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { machineDisk } from '../../../src/disk/disk.ts';
import { checkStore } from '../../../src/store/check.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../support/paths.ts';
import { runCommand } from '../../support/server.ts';

/** Runs a command that may write files of so many blocks, of 512 or 1024 bytes. */
function limited(blocks: number, command: readonly string[]) {
  const script = `ulimit -f ${blocks} && exec "$@"`;
  return runCommand(['-c', script, 'sh', PROGRAM, ...command], { binary: 'sh' });
}

test('a change set that may not become so large is refused, and leaves nothing', async () => {
  const data = join(temporaryDirectory(), 'data');
  // The empty base fits, and the demo catalog does not.
  const { status, signal, stderr } = await limited(10, ['migrate', '--demo', '--data', data]);
  assert.equal([status, signal], [1, null], stderr);
  assert.match(
    stderr,
    /the disk refused the write \(EFBIG: file too large\); nothing was changed\n$/,
  );
  const { state, findings } = checkStore(machineDisk, data);
  assert.equal([state?.sequence, findings], [0, []]);
});

test('a backup that may not become so large is refused, and the message says what to do', async () => {
  const data = join(temporaryDirectory(), 'data');
  assert.is((await runCommand(['migrate', '--demo', '--data', data])).status, 0);
  const file = join(temporaryDirectory(), 'backup.json');
  const { status, signal, stderr } = await limited(10, ['backup', file, '--data', data]);
  assert.equal([status, signal], [1, null], stderr);
  assert.ok(stderr.startsWith(`catalog-server: the backup could not be written to ${file}: `));
  assert.match(stderr, /EFBIG: .*; .*raise the limit of file sizes \(ulimit -f\)\n$/);
  assert.is(machineDisk.stat(file), null);
});

test('the message for a key file that may not become so large names the file once', async () => {
  const data = temporaryDirectory();
  const command = ['issue-token', '--subject', 'ann', '--role', 'admin', '--data', data];
  const { status, signal, stderr } = await limited(0, command);
  assert.equal([status, signal], [1, null], stderr);
  assert.match(stderr, `${DATA_FILES.keys} cannot be written: EFBIG: file too large`);
  assert.is(stderr.split(DATA_FILES.keys).length, 2, stderr);
});

test.run();
