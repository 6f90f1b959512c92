/** docs/backup.md, "Where it is": files of a directory that may be on another machine. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RemoteDirectory } from '../../../src/disk/remote-directory.ts';
import { temporaryDirectory } from '../../support/directory.ts';

async function textOf(directory: RemoteDirectory, name: string): Promise<string | null> {
  const pieces = await directory.read(name);
  if (pieces === null) return null;
  const parts = await Array.fromAsync(pieces, (piece) => Buffer.from(piece));
  return Buffer.concat(parts).toString();
}

test('a file appears whole, replaces another, and is listed by name', async () => {
  const directory = new RemoteDirectory(temporaryDirectory());
  for (const name of ['b', 'a']) await directory.write(`folder/${name}`, [Buffer.from(name)]);
  await directory.write('folder/a', [Buffer.from('new '), Buffer.from('content')]);
  assert.is(await textOf(directory, 'folder/a'), 'new content');
  assert.equal(await directory.list('folder'), ['a', 'b']);
  await directory.remove('folder/a');
  await directory.remove('folder/a');
  assert.is(await textOf(directory, 'folder/a'), null);
});

test('a write that fails leaves nothing', async () => {
  const path = temporaryDirectory();
  const directory = new RemoteDirectory(path);
  const failing = (async function* () {
    yield Buffer.from('half');
    throw new Error('no more');
  })();
  await directory.write('folder/a', failing).then(
    () => assert.unreachable(),
    (error: unknown) => assert.match(String(error), 'no more'),
  );
  assert.equal(readdirSync(join(path, 'folder')), []);
});

test('a directory that is missing is not made: it may be a mount', async () => {
  const path = join(temporaryDirectory(), 'mount');
  const directory = new RemoteDirectory(path);
  for (const call of [() => directory.list('a'), () => directory.write('a', [])]) {
    await call().then(
      () => assert.unreachable(),
      (error: unknown) => assert.match(String(error), 'ENOENT'),
    );
  }
  assert.not.ok(existsSync(path));
});

test('what a killed process left is removed after a day, and never listed', async () => {
  const path = temporaryDirectory();
  const [old, young] = ['.0123456789abcdef.tmp', '.fedcba9876543210.tmp'];
  mkdirSync(join(path, 'folder'));
  for (const name of [old, young]) writeFileSync(join(path, 'folder', name), '');
  const before = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(join(path, 'folder', old), before, before);
  const directory = new RemoteDirectory(path);
  assert.equal(await directory.list('folder'), []);
  await directory.write('folder/a', []);
  assert.equal(readdirSync(join(path, 'folder')).toSorted(), [young, 'a'].toSorted());
});

test.run();
