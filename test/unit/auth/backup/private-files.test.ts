/** spec 15.3 and 15.4: accounts and keys are copied together; other files are not replaced. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { restoreCredentials } from '../../../../src/auth/backup/credentials.ts';
import { PrivateFiles, privateFilesIn } from '../../../../src/auth/backup/private-files.ts';
import { encodeKeys, makeKey } from '../../../../src/auth/keys.ts';
import { encodePrivate } from '../../../../src/auth/private-file.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { failureOf } from '../../../support/failure.ts';

const contentOf = (directory: string, name: string): unknown =>
  JSON.parse(readFileSync(join(directory, name), 'utf8'));

function filled(): string {
  const directory = temporaryDirectory();
  const access = { users: [], revoked_subjects: [], revoked_tokens: [] };
  writeFileSync(join(directory, 'access.json'), encodePrivate(access), { mode: 0o600 });
  const keys = encodeKeys([makeKey(0)]);
  writeFileSync(join(directory, 'keys.json'), encodePrivate(keys), { mode: 0o600 });
  return directory;
}

/** Writes the files of a copy. */
async function write(directory: string, copy: Uint8Array): Promise<void> {
  await restoreCredentials(quickDisk, directory, privateFilesIn(copy));
}

test('a copy contains each file unchanged, and is written with mode 0600', async () => {
  const directory = filled();
  const copy = new PrivateFiles(directory).read();
  const other = temporaryDirectory();
  await write(other, copy);
  for (const name of ['access.json', 'keys.json']) {
    assert.equal(contentOf(other, name), contentOf(directory, name));
    assert.is(statSync(join(other, name)).mode & 0o777, 0o600);
  }
  assert.not.ok(existsSync(join(other, 'webhook-key.json')));
});

test('existing files with the same content are kept, and one with other content fails the copy', async () => {
  const directory = filled();
  const copy = new PrivateFiles(directory).read();
  await write(directory, copy);
  const other = temporaryDirectory();
  const keys = JSON.stringify(encodeKeys([makeKey(1)]));
  writeFileSync(join(other, 'keys.json'), keys, { mode: 0o600 });
  try {
    await write(other, copy);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'keys.json already exists with other content');
  }
  assert.not.ok(existsSync(join(other, 'access.json')));
});

test('a new or changed file is noticed', () => {
  const directory = filled();
  const files = new PrivateFiles(directory);
  files.read();
  assert.not.ok(files.changed());
  const path = join(directory, 'keys.json');
  for (const keys of [[makeKey(0), makeKey(0)], [makeKey(0)]] as const) {
    writeFileSync(path, JSON.stringify(encodeKeys(keys)), { mode: 0o600 });
    assert.ok(files.changed());
    files.read();
    assert.not.ok(files.changed());
  }
  files.close();
});

test('a broken link in the place of a file is refused as that file, and says what to do', async () => {
  const directory = filled();
  const files = new PrivateFiles(directory);
  const path = join(directory, 'access.json');
  rmSync(path);
  symlinkSync(join(directory, 'elsewhere'), path);
  const { code, message } = await failureOf(() => files.read());
  assert.is(code, 'access_file');
  assert.match(message, 'its symbolic link leads to a file that is missing');
  files.close();
});

test('a file that a copy has is not missing in a later one, and is copied again once it is back', async () => {
  const directory = filled();
  for (const name of ['access.json', 'keys.json']) {
    const files = new PrivateFiles(directory);
    const copy = files.read();
    const path = join(directory, name);
    const bytes = readFileSync(path);
    rmSync(path);
    assert.ok(files.changed());
    for (const when of ['at once', 'later']) {
      const { code, message } = await failureOf(() => files.read());
      assert.is(code, name === 'access.json' ? 'access_file' : 'key_file', when);
      assert.ok(message.startsWith(`${path} was removed while the server was running; `), message);
      assert.not.ok(files.changed(), when);
    }
    writeFileSync(path, bytes, { mode: 0o600 });
    assert.ok(files.changed());
    assert.equal(files.read(), copy);
    files.close();
    // After a restart the file may be missing on purpose.
    rmSync(path);
    const next = new PrivateFiles(directory);
    assert.not.ok(name in privateFilesIn(next.read()));
    next.close();
    writeFileSync(path, bytes, { mode: 0o600 });
  }
});

test('a damaged file is not copied, and is not new until it changes again', async () => {
  for (const name of ['access.json', 'keys.json', 'webhook-key.json']) {
    const directory = filled();
    const files = new PrivateFiles(directory);
    const before = existsSync(join(directory, name)) && readFileSync(join(directory, name));
    writeFileSync(join(directory, name), '{"cut', { mode: 0o600 });
    const { code, message } = await failureOf(() => files.read());
    assert.is(code, name === 'access.json' ? 'access_file' : 'key_file');
    assert.ok(message.startsWith(join(directory, name)), message);
    assert.not.ok(files.changed());
    if (before === false) rmSync(join(directory, name));
    else writeFileSync(join(directory, name), before, { mode: 0o600 });
    assert.ok(files.changed());
    assert.equal(Object.keys(privateFilesIn(files.read())), ['access.json', 'keys.json']);
    files.close();
  }
});

test('a damaged copy is refused, and none of its files is written', async () => {
  const copy = JSON.parse(Buffer.from(new PrivateFiles(filled()).read()).toString()) as object;
  const partly = JSON.stringify({ ...copy, 'keys.json': '{}' });
  for (const text of [
    '',
    '[]',
    '{"passwd":"x"}',
    '{"keys.json":"{"}',
    '{"keys.json":"{}"}',
    partly,
  ]) {
    const directory = temporaryDirectory();
    try {
      await write(directory, Buffer.from(text));
      assert.unreachable();
    } catch (error) {
      assert.match(String(error), /are damaged|keys\.json of the archive/);
    }
    assert.equal(readdirSync(directory), [], text);
  }
});

test('files that are closed are not watched any more', () => {
  const files = new PrivateFiles(filled());
  files.read();
  assert.not.ok(files.changed());
  files.close();
  assert.ok(files.changed());
});

test.run();
