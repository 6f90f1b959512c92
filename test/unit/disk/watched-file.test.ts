/** src/disk/watched-file.ts: a file that is read again when it has changed. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  readShort,
  readShortOnce,
  readWithMode,
  WatchedFile,
} from '../../../src/disk/watched-file.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { openFiles } from '../../support/linux.ts';

test('however often a file changes and disappears, at most one descriptor is open', () => {
  const path = join(temporaryDirectory(), 'access.json');
  const file = new WatchedFile(path);
  const before = openFiles();
  for (let round = 1; round <= 20; round += 1) {
    writeFileSync(path, `${round}`);
    assert.is(file.changed(), true);
    assert.is(file.read()?.bytes.toString(), `${round}`);
    assert.is(file.changed(), false);
    assert.ok(openFiles() <= before + 1, `${openFiles() - before} descriptors`);
    rmSync(path);
    assert.is(file.changed(), true);
    assert.is(file.read(), null);
    assert.ok(openFiles() <= before, `${openFiles() - before} descriptors`);
  }
  writeFileSync(path, 'last');
  file.read();
  file.close();
  assert.ok(openFiles() <= before, `${openFiles() - before} descriptors`);
});

test('a file that is read once does not stay open, whether it is accepted or not', () => {
  const path = join(temporaryDirectory(), 'passphrase');
  writeFileSync(path, 'secret');
  const before = openFiles();
  assert.is(readWithMode(path)?.bytes.toString(), 'secret');
  for (const read of [readShort, readShortOnce]) {
    assert.is(read(path, 6, 'usage')?.bytes.toString(), 'secret', 'as many bytes as it may have');
    assert.throws(() => read(path, 5, 'usage'), /it is longer than/);
    assert.is(read(`${path}.none`, 6, 'usage'), null);
  }
  assert.is(openFiles(), before);
});

test('a symbolic link to a file that is missing does not count as no file', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'access.json');
  const target = join(directory, 'mounted');
  symlinkSync(target, path);
  const file = new WatchedFile(path);
  assert.throws(() => file.read(), /ENOENT/);
  assert.is(file.changed(), true);
  writeFileSync(target, 'accounts');
  assert.is(file.read()?.bytes.toString(), 'accounts');
  file.close();
});

test.run();
