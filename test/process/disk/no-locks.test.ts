/** A file system without locks, such as NFS without its lock service: every command says so. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { fixture, PROGRAM } from '../../support/paths.ts';
import { runCommand } from '../../support/server.ts';

const INJECTION = ['-f', '-o', '/dev/null', '-e', 'trace=flock', '-e', 'inject=flock:error=ENOLCK'];

const canInject = spawnSync('strace', [...INJECTION, 'true'], { stdio: 'ignore' }).status === 0;

const ROWS = join(temporaryDirectory(), 'rows.csv');
writeFileSync(ROWS, 'name\nOak\n');

const COMMANDS: readonly [lock: string, ...command: string[]][] = [
  ['lock', 'serve', '--port', '0'],
  ['lock', 'migrate'],
  ['lock', 'undo', '1'],
  ['lock', 'import', 'brands', ROWS],
  ['lock', 'restore', join(fixture(1), 'catalog.json')],
  ['access.lock', 'users', 'add', 'ann', '--role', 'viewer'],
  ['access.lock', 'keys', 'rotate'],
  ['pages.lock', 'rebuild-pages'],
];

for (const [lock, ...command] of COMMANDS) {
  const name = `${command.join(' ').replace(ROWS, 'rows.csv')} fails at once without locks, and says so`;
  (canInject ? test : test.skip)(canInject ? name : `${name} (skipped: needs strace)`, async () => {
    const data = temporaryDirectory();
    if (command[0] !== 'restore') {
      assert.is((await runCommand(['migrate', '--data', data])).status, 0);
    }
    const { status, stdout, stderr } = await runCommand(
      [...INJECTION, PROGRAM, ...command, '--data', data],
      { binary: 'strace', input: 'correct horse\n' },
    );
    assert.is(status, 1, stderr);
    assert.is(stdout, '');
    assert.is(
      stderr,
      `catalog-server: ${join(data, lock)} cannot be used (ENOLCK: the file cannot be locked); ` +
        'its file system has no locks: use a local disk, or start the lock service of the file system\n',
    );
  });
}

test.run();
