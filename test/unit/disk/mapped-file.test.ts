/** A large file is mapped, and copied later (src/disk/system/mapped-file.ts). */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MappedFile } from '../../../src/disk/system/mapped-file.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { fileOf, MIB } from '../../support/large-file.ts';
import { hasPopulate, openFiles, testPopulate } from '../../support/linux.ts';

function mapped(path: string): MappedFile {
  const file = MappedFile.open(path);
  if (file === null) throw new Error(`${path} was not mapped`);
  return file;
}

const contentOf = ({ pieces }: MappedFile): Buffer => Buffer.concat(pieces);

/** Runs all steps. @returns how many there were. */
const copied = (file: MappedFile): number => [...file.copy()].length;

/** Overwrites the beginning of a file, without changing its length. */
function overwrite(path: string): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, 'overwritten', 0);
  closeSync(fd);
}

testPopulate('the pieces of a mapped file are its content, before the copy and after it', () => {
  for (const bytes of [MIB, MIB + 1, 3 * MIB + 7, 16 * MIB, 37 * MIB + 7]) {
    const { path, content } = fileOf(bytes);
    const file = mapped(path);
    assert.ok(contentOf(file).equals(content), `${bytes} bytes`);
    assert.is(file.isCopied, false);
    assert.is(copied(file), Math.ceil(bytes / MIB), 'a step copies at most 1 MiB');
    assert.ok(contentOf(file).equals(content), `${bytes} bytes, copied`);
    assert.is(file.isCopied, true);
  }
});

testPopulate('after the copy, the file may be overwritten, shortened and removed', () => {
  const { path, content } = fileOf(17 * MIB + 5);
  const file = mapped(path);
  copied(file);
  overwrite(path);
  assert.ok(contentOf(file).equals(content));
  writeFileSync(path, '');
  assert.ok(contentOf(file).equals(content));
  rmSync(path);
  assert.ok(contentOf(file).equals(content));
});

testPopulate('the copy fails if the file was overwritten since it was mapped', () => {
  const { path } = fileOf(2 * MIB);
  const file = mapped(path);
  overwrite(path);
  assert.throws(() => copied(file), /file was written to while the program started/);
  file.close();
});

testPopulate('the copy fails if the file was overwritten between two of its steps', () => {
  const { path } = fileOf(2 * MIB);
  const file = mapped(path);
  const steps = file.copy();
  steps.next();
  overwrite(path);
  assert.throws(() => [...steps], /was written to while the program started/);
  assert.is(file.isCopied, false);
  file.close();
});

testPopulate('another file under the same name changes nothing', () => {
  const { path, content } = fileOf(2 * MIB);
  const file = mapped(path);
  writeFileSync(`${path}.new`, Buffer.alloc(2 * MIB, 'n'));
  renameSync(`${path}.new`, path);
  assert.is(copied(file), 2);
  assert.ok(contentOf(file).equals(content));
});

testPopulate('writing to the memory does not change the file', () => {
  const { path, content } = fileOf(MIB);
  const file = mapped(path);
  file.pieces[0]?.fill('x', 0, 100);
  assert.ok(readFileSync(path).equals(content));
  assert.is(copied(file), 1);
  assert.is(file.pieces[0]?.toString('latin1', 0, 3), 'xxx');
  assert.ok(readFileSync(path).equals(content));
});

testPopulate('the file is closed after the copy, and by close(), which ends a copy', () => {
  const { path } = fileOf(3 * MIB);
  const before = openFiles();
  const first = mapped(path);
  assert.is(openFiles(), before + 1);
  copied(first);
  assert.is(openFiles(), before);
  first.close();
  assert.is(openFiles(), before, 'closing it again does nothing');

  const second = mapped(path);
  const steps = second.copy();
  steps.next();
  second.close();
  assert.is(openFiles(), before);
  assert.is(steps.next().done, true);
  assert.is(second.isCopied, false);
  assert.is(openFiles(), before);
});

test('a small file, a directory and a missing file are not mapped, and nothing stays open', () => {
  const before = hasPopulate ? openFiles() : 0;
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'directory'));
  for (const path of [fileOf(MIB - 1).path, fileOf(0).path, join(directory, 'directory')]) {
    assert.is(MappedFile.open(path), null);
  }
  assert.is(MappedFile.open(join(directory, 'missing')), null);
  if (hasPopulate) assert.is(openFiles(), before);
});

test.run();
