/** spec 15.3 and 15.4: accounts and keys are copied together, and no other file is replaced. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PrivateFiles, writePrivateFiles } from '../../../../src/auth/backup/private-files.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';

function filled(): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'access.json'), '{"users":[]}\n');
  writeFileSync(join(directory, 'keys.json'), '{"keys":[]}\n');
  return directory;
}

test('a copy has each file as it is, and is written for its owner alone', async () => {
  const directory = filled();
  const copy = new PrivateFiles(directory).read();
  const other = temporaryDirectory();
  assert.equal(await writePrivateFiles(quickDisk, other, copy), ['access.json', 'keys.json']);
  for (const name of ['access.json', 'keys.json']) {
    assert.is(readFileSync(join(other, name), 'utf8'), readFileSync(join(directory, name), 'utf8'));
    assert.is(statSync(join(other, name)).mode & 0o777, 0o600);
  }
  assert.not.ok(existsSync(join(other, 'webhook-key.json')));
});

test('files that are there already are kept if they are the same, and otherwise refused', async () => {
  const directory = filled();
  const copy = new PrivateFiles(directory).read();
  await writePrivateFiles(quickDisk, directory, copy);
  const other = temporaryDirectory();
  writeFileSync(join(other, 'keys.json'), '{"keys":[1]}\n');
  try {
    await writePrivateFiles(quickDisk, other, copy);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'keys.json is another than that of the archive');
  }
  assert.not.ok(existsSync(join(other, 'access.json')));
});

test('a file that is new, changed or removed is noticed', () => {
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
  files.close();
});

test('a copy that is damaged is refused', async () => {
  for (const text of ['', '[]', '{"passwd":"x"}']) {
    try {
      await writePrivateFiles(quickDisk, temporaryDirectory(), Buffer.from(text));
      assert.unreachable();
    } catch (error) {
      assert.match(String(error), 'are damaged');
    }
  }
});

test.run();
