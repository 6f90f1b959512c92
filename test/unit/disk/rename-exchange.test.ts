/** src/disk/rename-exchange.ts: a rename that replaces a file does what rename(2) does. */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../src/disk/disk.ts';
import { writeVolatile } from '../../../src/disk/durable-file.ts';
import { exchangingDisk, renameExchange } from '../../../src/disk/rename-exchange.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const bytes = (text: string) => Buffer.from(text);

test('a file is written and replaced, and no other file is left', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'seite ü.html');
  const disk = exchangingDisk(machineDisk);
  await writeVolatile(disk, path, bytes('first'));
  const { ino } = statSync(path);
  for (const text of ['second', '', 'third']) {
    await writeVolatile(disk, path, bytes(text));
    assert.is(readFileSync(path, 'utf8'), text);
    assert.equal(readdirSync(directory), ['seite ü.html']);
  }
  assert.is.not(statSync(path).ino, ino);
});

test('a reader that has the old file open reads the old content', async () => {
  const path = join(temporaryDirectory(), 'page.html');
  const disk = exchangingDisk(machineDisk);
  await writeVolatile(disk, path, bytes('old'));
  const fd = openSync(path, 'r');
  await writeVolatile(disk, path, bytes('new'));
  assert.is(readFileSync(fd, 'utf8'), 'old');
  closeSync(fd);
});

test('renameExchange swaps the names of two files, and returns false if one of them is missing', () => {
  const directory = temporaryDirectory();
  const [one, other, none] = ['one', 'other', 'none'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(one, '1');
  writeFileSync(other, '2');
  if (process.platform === 'linux') {
    assert.is(renameExchange(one, other), true);
    assert.equal(
      [one, other].map((path) => readFileSync(path, 'utf8')),
      ['2', '1'],
    );
  }
  assert.is(renameExchange(one, none), false);
  assert.is(renameExchange(none, one), false);
  assert.equal(readdirSync(directory).sort(), ['one', 'other']);
});

test('a directory that has the name keeps it, and the rename fails', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'page.html');
  mkdirSync(path);
  for (const content of [[], ['notes.txt']]) {
    for (const name of content) writeFileSync(join(path, name), '');
    try {
      await writeVolatile(exchangingDisk(machineDisk), path, bytes('new'));
      assert.unreachable();
    } catch (error) {
      assert.is(
        (error as Error).message,
        `${path} is a directory where a file is expected: move it away`,
      );
    }
    assert.equal(readdirSync(directory), ['page.html']);
    assert.equal(readdirSync(path), content);
  }
});

test('a rename that fails throws the error of the disk, and changes nothing', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'page.html');
  writeFileSync(path, 'old');
  const failing = exchangingDisk({
    ...machineDisk,
    rename: () => Promise.reject(new Error('no room')),
  });
  try {
    await failing.rename(join(directory, 'missing'), path);
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, 'no room');
  }
  assert.is(readFileSync(path, 'utf8'), 'old');
});

test.run();
