/** What the disk creates, and reading a file in pieces. */
import { appendFileSync, closeSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blockingDisk, machineDisk } from '../../../src/disk/disk.ts';
import { replaceFile } from '../../../src/disk/durable-file.ts';
import { systemErrorCode } from '../../../src/errors.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { fileOf, MIB } from '../../support/large-file.ts';
import { openFiles } from '../../support/linux.ts';

for (const [name, disk] of Object.entries({ machineDisk, blockingDisk })) {
  test(`what the ${name} creates is for its owner alone`, async () => {
    const directory = temporaryDirectory();
    const made = (path: string) => (statSync(join(directory, path)).mode & 0o777).toString(8);
    await disk.writeNew(join(directory, 'new'), Buffer.from('new'));
    closeSync(await disk.create(join(directory, 'created')));
    await replaceFile(disk, join(directory, 'published'), Buffer.from('published'));
    for (const file of ['new', 'created', 'published']) assert.is(made(file), '600', file);
    disk.mkdir(join(directory, 'parent', 'child'));
    for (const path of ['parent', 'parent/child']) assert.is(made(path), '700', path);
    if (await disk.makeApart(join(directory, 'apart'))) assert.is(made('apart'), '700');
  });

  test(`the ${name} creates a file only under a name that is free`, async () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, 'there');
    for (const create of [() => disk.writeNew(path, Buffer.from('new')), () => disk.create(path)]) {
      const code = await create().then(() => 'created', systemErrorCode);
      assert.is(code, 'EEXIST');
    }
    assert.is(readFileSync(path, 'utf8'), 'there');
  });

  test(`the ${name} leaves no file open that it reads or writes as a whole`, async () => {
    const path = join(temporaryDirectory(), 'file');
    const before = openFiles();
    await disk.writeNew(path, Buffer.from('whole'));
    assert.is(disk.read(path)?.toString(), 'whole');
    for (const memory of ['shared', 'own'] as const) {
      assert.is(Buffer.concat([...(disk.pieces(path, memory) ?? [])]).toString(), 'whole');
      // The reader of a file may end before the file does.
      for (const _ of disk.pieces(path, memory) ?? []) break;
    }
    assert.is(openFiles(), before);
  });
}

test('pieces with their own memory contain the whole file after all of them are read', () => {
  for (const bytes of [0, 1, 5000, MIB, 3 * MIB, 3 * MIB + 7, 16 * MIB, 37 * MIB + 7]) {
    const { path, content } = fileOf(bytes);
    const pieces = [...(machineDisk.pieces(path, 'own') ?? [])];
    assert.ok(Buffer.concat(pieces).equals(content), `${bytes} bytes`);
  }
});

test('a file that grows after it was opened is read to its end', () => {
  const { path, content } = fileOf(5000);
  const [first, ...rest] = (function* () {
    for (const piece of machineDisk.pieces(path, 'own') ?? []) {
      yield piece;
      if (piece.length === 5000) appendFileSync(path, content);
    }
  })();
  assert.ok(first?.equals(content));
  assert.ok(Buffer.concat(rest).equals(content));
});

test('a piece of a small file with its own memory takes less than 1 MiB', () => {
  const { path } = fileOf(5000);
  for (const piece of machineDisk.pieces(path, 'own') ?? []) {
    assert.ok(piece.buffer.byteLength < MIB, `${piece.buffer.byteLength} bytes`);
  }
});

test('pieces without their own memory share one buffer, however long the file is', () => {
  const { path, content } = fileOf(3 * MIB + 7);
  const memories = new Set<ArrayBufferLike>();
  const read: Buffer[] = [];
  for (const piece of machineDisk.pieces(path) ?? []) {
    memories.add(piece.buffer);
    read.push(Buffer.from(piece));
  }
  assert.ok(Buffer.concat(read).equals(content));
  assert.is(memories.size, 1);
});

test('pieces() returns null if the file is missing', () => {
  assert.is(machineDisk.pieces(join(temporaryDirectory(), 'file')), null);
});

test.run();
