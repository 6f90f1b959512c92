/** docs/storage.md, "Encryption": only its owner reads a key file, and it is never replaced. */
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../src/disk/disk.ts';
import { createKeyFile, keyId, readKeyFile } from '../../../src/encryption/key-file.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { failureMessage } from '../../support/failure.ts';

test('a key file has 32 random bytes, and only its owner may read it', async () => {
  const path = join(temporaryDirectory(), 'archive.key');
  const id = await createKeyFile(quickDisk, path);
  const key = readKeyFile(path);
  assert.is(key.length, 32);
  assert.is(keyId(key), id);
  assert.is(statSync(path).mode & 0o777, 0o600);
});

test('the id of a key is that of earlier versions, with which archives name their keys', () => {
  assert.is(keyId(new Uint8Array(32)), 'beefc9fa8f57bb61');
});

test('a symbolic link to nothing in the place of a key file is not replaced', async () => {
  const path = join(temporaryDirectory(), 'archive.key');
  symlinkSync('unmounted', path);
  const refused = await createKeyFile(machineDisk, path).then(() => '', String);
  assert.match(refused, 'a key is never overwritten');
});

test('a key file is never replaced', async () => {
  const path = join(temporaryDirectory(), 'archive.key');
  await createKeyFile(quickDisk, path);
  const before = readFileSync(path, 'utf8');
  try {
    await createKeyFile(quickDisk, path);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'a key is never overwritten');
  }
  assert.is(readFileSync(path, 'utf8'), before);
});

test('a key file that is missing, invalid or readable by others is refused', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'archive.key');
  assert.throws(
    () => readKeyFile(path),
    /there is no key file .*; put the key of the archive there/,
  );
  for (const text of ['', 'catalog-key-short\n', '{"keys":[]}']) {
    writeFileSync(path, text, { mode: 0o600 });
    assert.throws(() => readKeyFile(path), /is not a key file; move it away, .*keys generate/);
  }
  writeFileSync(path, 'x'.repeat(1025), { mode: 0o600 });
  assert.throws(() => readKeyFile(path), /it is longer than 1 KiB/);
  const open = join(directory, 'open.key');
  await createKeyFile(quickDisk, open);
  chmodSync(open, 0o640);
  assert.throws(() => readKeyFile(open), /chmod 600/);
});

test('a key in the place of the path of its file is refused, and not shown', async () => {
  const key = `catalog-key-${'A'.repeat(43)}`;
  const refused = await failureMessage(() => readKeyFile(key), 'encryption');
  assert.match(refused, 'write the key to a file, and give its path');
  assert.not.match(refused, 'AAA');
});

test('a key file that an editor has saved in its own way is still the same key', async () => {
  const path = join(temporaryDirectory(), 'archive.key');
  const id = await createKeyFile(quickDisk, path);
  const line = readFileSync(path, 'utf8').trim();
  for (const text of [line, `${line}\r\n`, `\ufeff${line}\n`]) {
    writeFileSync(path, text);
    assert.is(keyId(readKeyFile(path)), id, JSON.stringify(text));
  }
});

test.run();
