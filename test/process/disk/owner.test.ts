/** What root creates in the data directory of another user: the server of that user can read it. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blockingDisk } from '../../../src/disk/disk.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertDone } from '../../support/finished.ts';
import { fixture, PROGRAM } from '../../support/paths.ts';
import { callProgram } from '../../support/program.ts';
import { testUnprivileged } from '../../support/unprivileged.ts';

/** That of {@link testUnprivileged}. */
const USER = 65_534;

/** Runs a command as the user of the test, which has to succeed. */
async function done(data: string, args: readonly string[], input = ''): Promise<string> {
  const finished = await callProgram([...args, '--data', data], { input, disk: blockingDisk });
  assertDone(finished);
  return finished.stdout;
}

/** A directory of the unprivileged user, in one of the test's own. */
function directoryOfUser(): string {
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, USER, USER);
  chmodSync(dirname(data), 0o755);
  return data;
}

/** Paths in a directory that do not belong to the unprivileged user. */
function foreignIn(data: string): string[] {
  const all = readdirSync(data, { recursive: true }).map(String);
  assert.ok(all.length > 0);
  return all.filter((name) => {
    const { uid, gid } = lstatSync(join(data, name));
    return uid !== USER || gid !== USER;
  });
}

function assertReadable(data: string, as: readonly string[]): void {
  assert.equal(foreignIn(data), []);
  const [command, ...words] = [...as, PROGRAM, 'check', '--data', data];
  const { status, stdout } = spawnSync(command, words, { cwd: '/', encoding: 'utf8' });
  assert.is(status, 0, stdout);
}

testUnprivileged('commands of root leave a store to the owner of its directory', async (as) => {
  // Only root can create files for others.
  if (as.length === 0) return;
  const data = directoryOfUser();
  await done(data, ['migrate', '--demo']);
  const token = await done(data, ['issue-token', '--subject', 'ann']);
  assert.ok(token.length > 100);
  await done(data, ['users', 'add', 'ann'], 'correct horse');
  await done(data, ['rebuild-pages']);
  await done(data, ['import', 'skus', '-', '--match', 'id'], 'id,price USD\n1,599.00\n');
  await done(data, ['undo', '1']);
  await done(data, ['keys', 'rotate']);
  assertReadable(data, as);
  const file = join(dirname(data), 'backup.json');
  await done(data, ['backup', file]);
  assert.is(statSync(file).uid, 0, 'a file elsewhere stays with root');
  assertReadable(data, as);
  const restored = directoryOfUser();
  await done(restored, ['restore', file]);
  assertReadable(restored, as);
});

testUnprivileged('a migration by root leaves a store to its owner', async (as) => {
  if (as.length === 0) return;
  const data = directoryOfUser();
  cpSync(fixture(1), data, { recursive: true });
  for (const name of readdirSync(data, { recursive: true }).map(String)) {
    chownSync(join(data, name), USER, USER);
  }
  await done(data, ['migrate']);
  assertReadable(data, as);
});

testUnprivileged('root gives away only what it has created', async (as) => {
  if (as.length === 0) return;
  const data = directoryOfUser();
  const file = join(dirname(data), 'of-root');
  writeFileSync(file, '');
  symlinkSync(file, join(data, 'access.lock'));
  await done(data, ['migrate']);
  const args = ['users', 'add', 'ann', '--data', data];
  const { status, stderr } = await callProgram(args, { input: 'correct horse' });
  assert.is(status, 1);
  assert.match(stderr, 'access.lock cannot be used (EFTYPE: a symbolic link)');
  assert.is(statSync(file).uid, 0);
});

testUnprivileged(
  'root gives away nothing in a directory of others, to which a link leads',
  async (as) => {
    if (as.length === 0) return;
    const data = directoryOfUser();
    await done(data, ['migrate', '--demo']);
    const elsewhere = temporaryDirectory();
    symlinkSync(elsewhere, join(data, 'pages'));
    await done(data, ['rebuild-pages']);
    const written = readdirSync(elsewhere, { recursive: true }).map(String);
    assert.ok(written.includes('index.html') && written.includes('skus/1.html'));
    for (const name of written) assert.is(lstatSync(join(elsewhere, name)).uid, 0, name);
  },
);

/** A directory whose `cluster.json` names a file of root with a password. */
async function directoryWithPassword(): Promise<{ data: string; logPasswordFile: string }> {
  const data = directoryOfUser();
  await done(data, ['migrate']);
  const logPasswordFile = join(dirname(data), 'of-root');
  writeFileSync(logPasswordFile, 'secret', { mode: 0o600 });
  const settings = { log: 'etcd://127.0.0.1:1/shop', logUser: 'ann', logPasswordFile };
  writeFileSync(join(data, 'cluster.json'), JSON.stringify(settings));
  return { data, logPasswordFile };
}

testUnprivileged('root reads only those files for a user that the user could read', async (as) => {
  if (as.length === 0) return;
  const { data, logPasswordFile } = await directoryWithPassword();
  const args = ['users', 'add', 'ann', '--data', data];
  const refused = await callProgram(args, { input: 'correct horse' });
  assert.match(refused.stderr, `--log-password-file: ${logPasswordFile} cannot be read: EACCES`);
  chownSync(logPasswordFile, USER, USER);
  const read = await callProgram(args, { input: 'correct horse' });
  assert.match(read.stderr, 'etcd does not answer');
});

testUnprivileged('root that may not become another user reads them as root', async (as) => {
  if (as.length === 0) return;
  const { data } = await directoryWithPassword();
  for (const capability of ['setuid', 'setgid']) {
    const dropped = [`--bounding-set=-${capability}`, `--inh-caps=-${capability}`];
    const words = [...dropped, '--', PROGRAM, 'users', 'add', 'ann', '--data', data];
    const options = { cwd: '/', input: 'correct horse', encoding: 'utf8' } as const;
    assert.match(spawnSync('setpriv', words, options).stderr, 'etcd does not answer', capability);
  }
});

test.run();
