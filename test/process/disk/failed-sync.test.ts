/** A disk that cannot sync a new file: the file does not get its name. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DATA_FILES } from '../../../src/data-files.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../support/paths.ts';
import { runCommand } from '../../support/server.ts';

const CALLS = 'fsync,fdatasync';
const INJECTION = [
  '-f',
  '-o',
  '/dev/null',
  '-e',
  `trace=${CALLS}`,
  '-e',
  `inject=${CALLS}:error=EIO`,
];

const canInject = spawnSync('strace', [...INJECTION, 'true'], { stdio: 'ignore' }).status === 0;

const NAME = 'a key file that cannot be synced is not made, and no token of its key is issued';

(canInject ? test : test.skip)(canInject ? NAME : `${NAME} (skipped: needs strace)`, async () => {
  const data = temporaryDirectory();
  const { status, stdout, stderr } = await runCommand(
    [...INJECTION, PROGRAM, 'issue-token', '--subject', 'ann', '--role', 'admin', '--data', data],
    { binary: 'strace' },
  );
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, `${DATA_FILES.keys} cannot be written: EIO`);
  assert.equal(readdirSync(data), []);
});

test.run();
