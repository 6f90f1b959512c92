/** spec 15.3 and 15.4: accounts and keys are copied together; other files are not replaced. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PrivateFiles, writePrivateFiles } from '../../../../src/auth/backup/private-files.ts';
import { encodeKeys, makeKey } from '../../../../src/auth/keys.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';

const contentOf = (directory: string, name: string): unknown =>
  JSON.parse(readFileSync(join(directory, name), 'utf8'));

function filled(): string {
  const directory = temporaryDirectory();
  const access = { users: [], revoked_subjects: [], revoked_tokens: [] };
  writeFileSync(join(directory, 'access.json'), JSON.stringify(access), { mode: 0o600 });
  const keys = encodeKeys([makeKey(0)]);
  writeFileSync(join(directory, 'keys.json'), JSON.stringify(keys), { mode: 0o600 });
  return directory;
}

test('a copy contains each file unchanged, and is written with mode 0600', async () => {
  const directory = filled();
  const copy = new PrivateFiles(directory).read();
  const other = temporaryDirectory();
  assert.equal(await writePrivateFiles(quickDisk, other, copy), ['access.json', 'keys.json']);
  for (const name of ['access.json', 'keys.json']) {
    assert.equal(contentOf(other, name), contentOf(directory, name));
    assert.is(statSync(join(other, name)).mode & 0o777, 0o600);
  }
  assert.not.ok(existsSync(join(other, 'webhook-key.json')));
});

test('existing files with the same content are kept, and one with other content fails the copy', async () => {
  const directory = filled();
  const copy = new PrivateFiles(directory).read();
  await writePrivateFiles(quickDisk, directory, copy);
  const other = temporaryDirectory();
  const keys = JSON.stringify(encodeKeys([makeKey(1)]));
  writeFileSync(join(other, 'keys.json'), keys, { mode: 0o600 });
  try {
    await writePrivateFiles(quickDisk, other, copy);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'keys.json already exists with other content');
  }
  assert.not.ok(existsSync(join(other, 'access.json')));
});

test('a new, changed or removed file is noticed', () => {
  const directory = filled();
  const files = new PrivateFiles(directory);
  files.read();
  assert.not.ok(files.changed());
  writeFileSync(join(directory, 'webhook-key.json'), '{}');
  assert.ok(files.changed());
  files.read();
  assert.not.ok(files.changed());
  writeFileSync(join(directory, 'webhook-key.json'), '{"key":"longer"}');
  assert.ok(files.changed());
  files.read();
  assert.not.ok(files.changed());
  rmSync(join(directory, 'webhook-key.json'));
  assert.ok(files.changed());
  assert.not.ok('webhook-key.json' in JSON.parse(Buffer.from(files.read()).toString()));
  assert.not.ok(files.changed());
  files.close();
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
      await writePrivateFiles(quickDisk, directory, Buffer.from(text));
      assert.unreachable();
    } catch (error) {
      assert.match(String(error), /are damaged|keys\.json of the archive/);
    }
    assert.equal(readdirSync(directory), [], text);
  }
});

test.run();
