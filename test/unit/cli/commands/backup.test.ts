/** spec 8.16: `backup` and `restore` of accounts and keys (the store: test/process/cli/backup). */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../../support/directory.ts';
import { callProgram, type CallOptions, directoryWithStore } from '../../../support/program.ts';
import { RefusingDisk } from '../../../support/refusing-disk.ts';

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);

/** Runs a command that succeeds. @returns what it prints. */
async function done(args: readonly string[], options?: CallOptions): Promise<string> {
  const { status, stdout, stderr } = await callProgram(args, options);
  assert.equal([status, stderr], [0, '']);
  return stdout;
}

async function assertFails(
  status: 1 | 2,
  args: readonly string[],
  ...says: readonly string[]
): Promise<void> {
  const finished = await callProgram(args);
  assert.is(finished.status, status, finished.stderr);
  assert.match(finished.stderr, /^catalog-server: [^\n]{10,}\n$/);
  for (const what of says) assert.ok(finished.stderr.includes(what), finished.stderr);
}

/** A data directory with an account and keys, and a directory for its backups. */
async function furnished(): Promise<{ data: string; folder: string }> {
  const data = join(temporaryDirectory(), 'data');
  await done(['migrate', '--data', data]);
  await done(['users', 'add', 'ann', '--data', data], { input: 'correct horse\n' });
  await done(['issue-token', '--data', data, '--subject', 'bob']);
  return { data, folder: temporaryDirectory() };
}

function file(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const read = (data: string, name: string): unknown =>
  JSON.parse(readFileSync(join(data, name), 'utf8'));

test('a backup whose time cannot be recorded is complete, and only a user who may write is warned', async () => {
  const { data, folder } = await furnished();
  const disk = new RefusingDisk();
  for (const [code, warning] of [
    [
      'ENOSPC',
      /^catalog-server: warning: the backup is complete, but its time [^\n]+ENOSPC[^\n]+\n$/,
    ],
    ['EACCES', /^$/],
    ['EROFS', /^$/],
  ] as const) {
    disk.refusal = (step, path) => (step === 'create' && path.startsWith(data) ? code : null);
    const to = join(folder, `${code}.json`);
    const { status, stderr } = await callProgram(['backup', '--data', data, to], { disk });
    assert.is(status, 0, stderr);
    assert.match(stderr, warning);
    await done(['restore', '--data', join(folder, code), to]);
    assert.not.ok(existsSync(join(data, 'backup.json')));
  }
});

test('accounts are in every backup and are restored, and keys are not', async () => {
  const { data, folder } = await furnished();
  const to = join(folder, 'b.json');
  assert.match(
    await done(['backup', '--data', data, to]),
    /; with access\.json; without keys\.json$/m,
  );
  assert.not.ok('encrypted_keys' in JSON.parse(readFileSync(to, 'utf8')));
  const restored = join(folder, 'restored');
  assert.match(await done(['restore', '--data', restored, to]), /; with access\.json$/m);
  assert.equal(read(restored, 'access.json'), read(data, 'access.json'));
  assert.not.ok(existsSync(join(restored, 'keys.json')));
});

test('keys are backed up with a passphrase, and restored only with the same one', async () => {
  const { data, folder } = await furnished();
  const secret = file(folder, 'passphrase', 'a long passphrase');
  const [to, restored] = [join(folder, 'b.json'), join(folder, 'restored')];
  const said = await done(['backup', '--data', data, to, '--passphrase-file', secret]);
  assert.match(said, /; with access\.json; with keys\.json, encrypted$/m);
  const restore = ['restore', '--data', restored, to];
  await assertFails(1, restore, to, '--passphrase-file', '--identity-file', '--without-keys');
  // A space is part of it: another program that decrypts the keys gets the same passphrase.
  for (const other of ['another passphrase', 'a long passphrase ']) {
    const wrong = file(folder, 'wrong', other);
    await assertFails(1, [...restore, '--passphrase-file', wrong], 'cannot be decrypted');
  }
  assert.not.ok(existsSync(restored), 'nothing was made');
  // The end of a line is not part of the passphrase.
  for (const [name, end] of Object.entries({ unix: '\n', windows: '\r\n' })) {
    const same = file(folder, name, `a long passphrase${end}`);
    const target = `${restored}-${name}`;
    await done(['restore', '--data', target, to, '--passphrase-file', same]);
    for (const each of ['access.json', 'keys.json']) {
      assert.equal(read(target, each), read(data, each));
    }
  }
});

test('keys are backed up for a recipient, over standard output and input too', async () => {
  const { data, folder } = await furnished();
  const bytes = await done(['backup', '--data', data, '-', '--recipient', recipient]);
  for (const [name, lineEnd] of [
    ['unix', '\n'],
    ['windows', '\r\n'],
  ] as const) {
    const lines = ['# created: today', '', identity, ''].join(lineEnd);
    const identities = file(folder, `${name}.txt`, lines);
    const restored = join(folder, name);
    const restore = ['restore', '--data', restored, '-'];
    await done([...restore, '--identity-file', identities], { input: bytes });
    assert.equal(read(restored, 'keys.json'), read(data, 'keys.json'), name);
  }
});

test('with --without-keys a backup is restored without its encrypted keys', async () => {
  const { data, folder } = await furnished();
  const [to, restored] = [join(folder, 'b.json'), join(folder, 'restored')];
  await done(['backup', '--data', data, to, '--recipient', recipient]);
  const said = await done(['restore', '--data', restored, to, '--without-keys']);
  assert.match(said, /; with access\.json$/m);
  assert.not.ok(existsSync(join(restored, 'keys.json')));
});

test('restore warns if there is a passphrase or an identity, and the backup has no keys', async () => {
  const { data, folder } = await furnished();
  const to = join(folder, 'b.json');
  await done(['backup', '--data', data, to]);
  for (const flag of ['--passphrase-file', '--identity-file']) {
    const restore = ['restore', '--data', join(folder, flag), to, flag, join(folder, 'secret')];
    const { status, stderr } = await callProgram(restore);
    assert.is(status, 0, stderr);
    assert.match(
      stderr,
      `warning: ${to} holds no keys to decrypt, so the restored store has none\n`,
    );
  }
});

test('restore warns of the base of a store whose later change sets are beside it', async () => {
  const [data, folder] = [join(temporaryDirectory(), 'data'), temporaryDirectory()];
  await done(['migrate', '--demo', '--data', data]);
  const base = join(data, 'catalog.json');
  const { status, stdout, stderr } = await callProgram([
    'restore',
    base,
    '--data',
    join(folder, 'a'),
  ]);
  assert.is(status, 0, stderr);
  assert.match(stdout, ': 0 rows as of change set 0');
  assert.match(stderr, `warning: ${base} is not a backup but the base of a store`);
  assert.match(stderr, `catalog-server backup <file> --data ${data}\n`);
  await done(['backup', join(folder, 'b.json'), '--data', data]);
  const whole = await callProgram(['restore', join(folder, 'b.json'), '--data', join(folder, 'b')]);
  assert.equal([whole.status, whole.stderr], [0, '']);
});

test('restore takes a backup from a directory in which changes is a file', async () => {
  const { data, folder } = await furnished();
  const to = join(folder, 'b.json');
  await done(['backup', '--data', data, to]);
  writeFileSync(join(folder, 'changes'), 'notes');
  const { status, stderr } = await callProgram(['restore', to, '--data', join(folder, 'a')]);
  assert.equal([status, stderr], [0, '']);
});

test('restore does not replace other accounts, and creates no store next to them', async () => {
  const [{ data, folder }, other] = [await furnished(), await furnished()];
  const to = join(folder, 'b.json');
  await done(['backup', '--data', data, to]);
  const target = temporaryDirectory();
  const theirs = readFileSync(join(other.data, 'access.json'), 'utf8');
  file(target, 'access.json', theirs);
  await assertFails(
    1,
    ['restore', '--data', target, to],
    'access.json already exists with other content',
  );
  assert.is(readFileSync(join(target, 'access.json'), 'utf8'), theirs);
  assert.not.ok(existsSync(join(target, 'catalog.json')));
});

test('a passphrase or identity file that is unusable is reported with what to do about it', async () => {
  const { data, folder } = await furnished();
  const into = join(folder, 'b.json');
  const backup = (secret: string) => ['backup', '--data', data, into, '--passphrase-file', secret];
  const none = join(folder, 'none');
  await assertFails(1, backup(none), `there is no file ${none}; name a file with a passphrase`);
  const binary = file(folder, 'binary', Buffer.of(0xff));
  for (const text of ['a long passphrase\n\n', 'a long\r\npassphrase\r\n']) {
    await assertFails(1, backup(file(folder, 'lines', text)), 'lines has more than one line');
  }
  await assertFails(1, backup(binary), 'not text in UTF-8; name a file with a passphrase');
  await assertFails(1, backup(file(folder, 'empty', '\n')), 'empty');
  await assertFails(1, backup('/dev/zero'), '/dev/zero', 'longer than 64 KiB; name another file');
  await assertFails(1, backup(folder), folder, 'cannot be read', 'it is a directory: name a file');
  assert.not.ok(existsSync(into));
  await done(['backup', '--data', data, into, '--recipient', recipient]);
  const comments = file(folder, 'comments', '# public key: age1\n');
  const restore = ['restore', '--data', join(folder, 'new'), into];
  await assertFails(1, [...restore, '--identity-file', comments], 'no age identity; name a file');
});

const WRONG: readonly (readonly string[])[] = [
  ['backup', '--passphrase-file', 'a', '--recipient', recipient],
  ['backup', '--passphrase-file', ''],
  ['backup', '--recipient', 'ssh-ed25519 AAAA'],
  ['backup', '--recipient', identity],
  ['restore', 'b.json', '--passphrase-file', 'a', '--identity-file', 'b'],
  ['restore', 'b.json', '--passphrase-file', 'a', '--without-keys'],
];

for (const args of WRONG) {
  test(`${args.join(' ').slice(0, 60)} is wrong usage`, () =>
    assertFails(2, args, args.at(-2) ?? ''));
}

test('a name that only a directory can have is refused, and no file gets a part of it', async () => {
  const data = await directoryWithStore();
  const folder = temporaryDirectory();
  for (const end of ['/', '//', '/.', '/..']) {
    const name = `${folder}/new${end}`;
    await assertFails(
      1,
      ['backup', '--data', data, name],
      `${name} names a directory; name a file`,
    );
    const exporting = ['export', 'skus', '--data', data, '--output', name];
    await assertFails(1, exporting, `${name} names a directory; name a file`);
  }
  assert.equal(readdirSync(folder), []);
});

test('a name that is one of a file of another store is refused, and the store is unchanged', async () => {
  const [data, other] = [await directoryWithStore(), await directoryWithStore()];
  const before = readdirSync(other);
  for (const name of ['catalog.json', 'head.json', 'keys.json', 'pages/skus/1.html']) {
    const path = join(other, name);
    const says = `${path} would be a file of the store in ${other}; name another`;
    await assertFails(1, ['backup', '--data', data, path], says);
  }
  const exporting = ['export', 'skus', '--data', data, '--output', join(other, 'access.json')];
  await assertFails(1, exporting, 'would be a file of the store');
  assert.equal(readdirSync(other), before);
  await done(['check', '--data', other]);
});

test('a name that is one of a file of an archive is refused, and the archive is unchanged', async () => {
  const data = await directoryWithStore();
  const archive = temporaryDirectory();
  mkdirSync(join(archive, 'bases'));
  writeFileSync(join(archive, 'archive.json'), '{}');
  for (const name of ['archive.json', 'writer.json', 'private', 'changes/1', 'bases/1', 'gaps/1']) {
    const path = join(archive, name);
    const says = `${path} would be a file of the archive in ${archive}; name another`;
    await assertFails(1, ['backup', '--data', data, path], says);
  }
  const exporting = ['export', 'skus', '--data', data, '--output', join(archive, 'archive.json')];
  await assertFails(1, exporting, 'would be a file of the archive');
  assert.equal(readdirSync(archive).toSorted(), ['archive.json', 'bases']);
  assert.equal(readdirSync(join(archive, 'bases')), []);
});

for (const name of ['archive.json', 'bases/shop.json']) {
  test(`a backup may be called ${name}, and is replaced by the next one`, async () => {
    const data = await directoryWithStore();
    const path = join(temporaryDirectory(), name);
    for (const _ of [1, 2]) await done(['backup', '--data', data, path]);
  });
}

test('a backup may be called catalog.json, and is replaced by the next one', async () => {
  const data = await directoryWithStore();
  const path = join(temporaryDirectory(), 'catalog.json');
  for (const _ of [1, 2]) await done(['backup', '--data', data, path]);
});

test('a recipient that age does not know is reported with what to do about it', async () => {
  const { data, folder } = await furnished();
  const cut = recipient.slice(0, -1);
  const backup = ['backup', '--data', data, join(folder, 'b.json'), '--recipient', cut];
  await assertFails(1, backup, `${cut} is not an age recipient; give one as printed by age-keygen`);
});

test('a name of a file that is open already is refused, however it is written', async () => {
  const data = await directoryWithStore();
  for (const name of ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1', '/dev/../dev//stdout']) {
    await assertFails(1, ['backup', '--data', data, name], `${name} names an open file`);
  }
});

test('keys generate makes no file that a store would take for one of its own', async () => {
  const data = await directoryWithStore();
  const before = readdirSync(data);
  for (const name of ['keys.json', 'pages.json', 'webhook-key.json']) {
    const { status, stderr } = await callProgram(['keys', 'generate', join(data, name)]);
    assert.is(status, 1);
    assert.match(stderr, `${join(data, name)} is in a data directory`);
  }
  assert.equal(readdirSync(data), before);
  for (const name of ['archive.key', '.archive.key']) {
    const { status } = await callProgram(['keys', 'generate', join(data, name)]);
    assert.is(status, 0, name);
  }
});

test.run();
