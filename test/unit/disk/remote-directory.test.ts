/** docs/backup.md, "Where it is": files of a directory that may be on another machine. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fsp from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RemoteDirectory } from '../../../src/disk/remote-directory.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { openFiles } from '../../support/linux.ts';

async function textOf(directory: RemoteDirectory, name: string): Promise<string | null> {
  const pieces = await directory.read(name);
  if (pieces === null) return null;
  const parts = await Array.fromAsync(pieces, (piece) => Buffer.from(piece));
  return Buffer.concat(parts).toString();
}

test('a file can be written, replaced, listed by name and removed', async () => {
  const directory = new RemoteDirectory(temporaryDirectory());
  for (const name of ['b', 'a']) await directory.write(`folder/${name}`, [Buffer.from(name)]);
  await directory.write('folder/a', [Buffer.from('new '), Buffer.from('content')]);
  assert.is(await textOf(directory, 'folder/a'), 'new content');
  assert.equal(await directory.list('folder'), ['a', 'b']);
  await directory.remove('folder/a');
  await directory.remove('folder/a');
  assert.is(await textOf(directory, 'folder/a'), null);
});

test('hidden files, as NFS leaves them for removed ones, are not listed', async () => {
  const path = temporaryDirectory();
  const directory = new RemoteDirectory(path);
  await directory.write('folder/a', [Buffer.from('a')]);
  for (const name of ['.nfs0000001200000003', '.DS_Store']) {
    writeFileSync(join(path, 'folder', name), '');
  }
  assert.equal(await directory.list('folder'), ['a']);
});

test('files and folders are for their owner alone: an archive has accounts and keys', async () => {
  const path = temporaryDirectory();
  await new RemoteDirectory(path).write('folder/a', [Buffer.from('a')]);
  const modeOf = (name: string) => (statSync(join(path, name)).mode & 0o777).toString(8);
  assert.equal([modeOf('folder'), modeOf('folder/a')], ['700', '600']);
});

test('a file has its name and its new content only when it is complete', async () => {
  const directory = new RemoteDirectory(temporaryDirectory());
  let seen: unknown = null;
  async function* halves() {
    yield Buffer.from('new ');
    seen = [await directory.list('folder'), await textOf(directory, 'folder/a')];
    yield Buffer.from('content');
  }
  await directory.write('folder/a', halves());
  assert.equal(seen, [[], null]);
  await directory.write('folder/a', [Buffer.from('old content')]);
  await directory.write('folder/a', halves());
  assert.equal(seen, [['a'], 'old content']);
  assert.is(await textOf(directory, 'folder/a'), 'new content');
});

test('a write that fails again says the same, without the name of the temporary file', async () => {
  const path = temporaryDirectory();
  mkdirSync(join(path, 'a'));
  const directory = new RemoteDirectory(path);
  const messages = new Set<string>();
  for (let times = 0; times < 2; times += 1) {
    const written = directory.write('a', [Buffer.from('a')]);
    await written.catch((error: unknown) => messages.add(String(error)));
  }
  assert.is(messages.size, 1);
  assert.match([...messages].join(), join(path, 'a'));
});

/** The steps of a write that matter after a power loss, in order; paths are relative to `path`. */
async function stepsOf(path: string, write: () => Promise<void>): Promise<string[]> {
  const steps: string[] = [];
  const within = (file: string) =>
    basename(file).endsWith('.tmp') ? 'the new file' : relative(path, file) || 'the directory';
  const { open, rename } = fsp;
  fsp.open = async (file, ...rest) => {
    const handle = await open(file, ...rest);
    for (const call of ['sync', 'datasync'] as const) {
      const original = handle[call].bind(handle);
      handle[call] = async () => {
        await original();
        steps.push(`sync ${within(String(file))}`);
      };
    }
    return handle;
  };
  fsp.rename = async (from, to) => {
    await rename(from, to);
    steps.push(`name ${within(String(to))}`);
  };
  try {
    await write();
    return steps;
  } finally {
    Object.assign(fsp, { open, rename });
  }
}

test('a file is synced before it gets its name, and its name before the write resolves', async () => {
  const path = temporaryDirectory();
  const directory = new RemoteDirectory(path);
  const write = (name: string) => () => directory.write(name, [Buffer.from('content')]);
  assert.equal(await stepsOf(path, write('folder/a')), [
    'sync the new file',
    'name folder/a',
    'sync folder',
    'sync the directory',
  ]);
  assert.equal(await stepsOf(path, write('a')), [
    'sync the new file',
    'name a',
    'sync the directory',
  ]);
  // So that the last sync of a large file has little left to do.
  const piece = Buffer.alloc(4 * 1024 * 1024);
  const large = () => directory.write('large', [piece, piece, piece]);
  assert.equal((await stepsOf(path, large)).slice(0, 3), [
    'sync the new file',
    'sync the new file',
    'name large',
  ]);
});

test('a write that fails leaves no file', async () => {
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

const nothing = () => 'no error';

const callsOf = (directory: RemoteDirectory) => [
  () => directory.list('a'),
  () => directory.read('a'),
  () => directory.write('a', []),
];

test('a missing directory is not created, because it may be a mount', async () => {
  const path = join(temporaryDirectory(), 'mount');
  const directory = new RemoteDirectory(path);
  for (const call of callsOf(directory)) {
    assert.match(await call().then(nothing, String), 'does not exist; mount it, or create it');
  }
  assert.not.ok(existsSync(path));
});

test('a file in place of the directory is an error, not an empty directory', async () => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, '');
  for (const call of callsOf(new RemoteDirectory(path))) {
    assert.match(await call().then(nothing, String), `${path} is not a directory`);
  }
});

test('what cannot be read does not count as missing', async () => {
  const path = temporaryDirectory();
  const directory = new RemoteDirectory(path);
  await directory.write('file', [Buffer.from('content')]);
  assert.match(await directory.list('file').then(nothing, String), 'ENOTDIR');
  assert.match(await directory.read('file/a').then(nothing, String), 'ENOTDIR');
  assert.equal([await directory.list('none'), await directory.read('none')], [[], null]);
});

test('no call leaves a file open, also if it fails or a reader ends early', async () => {
  const path = temporaryDirectory();
  const directory = new RemoteDirectory(path);
  const before = openFiles();
  await directory.write('a', [Buffer.from('content')]);
  assert.is(await textOf(directory, 'a'), 'content');
  for await (const _ of (await directory.read('a')) ?? []) break;
  const failing = (async function* () {
    yield Buffer.from('half');
    throw new Error('no more');
  })();
  assert.match(await directory.write('b', failing).then(nothing, String), 'no more');
  assert.is(openFiles(), before);
});

test('a write does not fail because a temporary file is gone as soon as it is listed', async () => {
  const path = temporaryDirectory();
  // It is listed, and no look at it finds a file.
  symlinkSync('nothing', join(path, '.0123456789abcdef.tmp'));
  const directory = new RemoteDirectory(path);
  await directory.write('a', [Buffer.from('a')]);
  assert.is(await textOf(directory, 'a'), 'a');
});

test('temporary files of a killed process are never listed, and only they are removed after a day', async () => {
  const path = temporaryDirectory();
  const [old, young] = ['.0123456789abcdef.tmp', '.fedcba9876543210.tmp'];
  const others = ['.nfs0000001200000003', 'archived'];
  mkdirSync(join(path, 'folder'));
  for (const name of [old, young, ...others]) writeFileSync(join(path, 'folder', name), '');
  const before = new Date(Date.now() - 2 * 86_400_000);
  for (const name of [old, ...others]) utimesSync(join(path, 'folder', name), before, before);
  const directory = new RemoteDirectory(path);
  assert.equal(await directory.list('folder'), ['archived']);
  await directory.write('folder/a', []);
  assert.equal(readdirSync(join(path, 'folder')).toSorted(), [young, ...others, 'a'].toSorted());
});

test.run();
