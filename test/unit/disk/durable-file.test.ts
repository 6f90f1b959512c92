/** How a durable write ends if a call fails, or is reported as failed but took effect. */
import fs, {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blockingDisk, type Disk, machineDisk } from '../../../src/disk/disk.ts';
import {
  makeDirectory,
  removeTemporaries,
  replaceFile,
  withOpen,
  writeDurably,
  writeOnce,
  writePieces,
  writeVolatile,
} from '../../../src/disk/durable-file.ts';
import type { Steps } from '../../../src/disk/publish.ts';
import { CatalogError, messageOf } from '../../../src/errors.ts';
import { directoryWith, temporaryDirectory } from '../../support/directory.ts';
import { publishWith } from '../../support/disk.ts';
import { outcomeOf } from '../../support/failure.ts';
import { PowerDisk, Volume } from '../../support/power-disk.ts';
import { type Refusal, RefusingDisk, type Step } from '../../support/refusing-disk.ts';

const at =
  (step: Step, code: string): Refusal =>
  (other) =>
    other === step ? code : null;

const either =
  (...refusals: readonly Refusal[]): Refusal =>
  (step, path) =>
    refusals.map((refusal) => refusal(step, path)).find((code) => code !== null) ?? null;

interface Given {
  readonly exclusive: boolean;
  readonly refusal?: Refusal;
  readonly lateRefusal?: Refusal;
  /** The content of the file that has the final name before the write. */
  readonly there?: string;
}

/** @returns how the write of "new" ended, and the files with their contents. */
async function write({ exclusive, refusal, lateRefusal, there }: Given) {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  if (there !== undefined) writeFileSync(path, there);
  const disk = new RefusingDisk();
  const ended = await withOpen(disk, directory, async (fd) => {
    disk.refusal = refusal ?? null;
    disk.lateRefusal = lateRefusal ?? null;
    try {
      await writeDurably(disk, path, Buffer.from('new'), fd, { exclusive });
      return 'durable';
    } catch (error) {
      return error instanceof CatalogError ? error.code : (error as NodeJS.ErrnoException).code;
    }
  });
  const files = readdirSync(directory).map((name) =>
    name === 'file' ? readFileSync(path, 'utf8') : 'temporary',
  );
  return [ended, ...files];
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

test('a write replaces the file of that name, unless it is exclusive', async () => {
  assert.equal(await write({ exclusive: false, there: 'old' }), ['durable', 'new']);
  assert.equal(await write({ exclusive: true, there: 'old' }), ['second_writer', 'old']);
  assert.equal(await write({ exclusive: true }), ['durable', 'new']);
});

test('a rename or link that is reported as failed but took effect is a success', async () => {
  const renamed = { exclusive: false, lateRefusal: at('rename', 'EIO') };
  assert.equal(await write(renamed), ['durable', 'new']);
  assert.equal(await write({ ...renamed, there: 'old' }), ['durable', 'new']);
  const linked = { exclusive: true, lateRefusal: at('link', 'EIO') };
  assert.equal(await write(linked), ['durable', 'new']);
  // A request to a network file system that is sent twice fails the second time.
  assert.equal(await write({ ...linked, lateRefusal: at('link', 'EEXIST') }), ['durable', 'new']);
});

test('a rename or link that failed leaves the name unchanged', async () => {
  assert.equal(await write({ exclusive: true, refusal: at('link', 'EIO') }), ['EIO']);
  const refusal = at('rename', 'EIO');
  assert.equal(await write({ exclusive: false, refusal }), ['EIO']);
  assert.equal(await write({ exclusive: false, refusal, there: 'old' }), ['EIO', 'old']);
});

test('if the name cannot be checked after a failure, the write fails as durability_unknown', async () => {
  for (const [exclusive, step] of [
    [true, 'link'],
    [false, 'rename'],
  ] as const) {
    const refusal = either(at(step, 'EIO'), at('stat', 'EIO'));
    assert.equal(await write({ exclusive, refusal }), ['durability_unknown']);
  }
});

test('an exclusive write succeeds even if its temporary name cannot be removed', async () => {
  const left = await write({ exclusive: true, refusal: at('unlink', 'EIO') });
  assert.equal(new Set(left), new Set(['durable', 'new', 'temporary']));
});

for (const code of NO_LINKS) {
  test(`if links fail with ${code}, an exclusive write renames the file if the name is free`, async () => {
    const refusal = at('link', code);
    assert.equal(await write({ exclusive: true, refusal }), ['durable', 'new']);
    assert.equal(await write({ exclusive: true, refusal, there: 'old' }), ['second_writer', 'old']);
    const lateRefusal = at('rename', 'EIO');
    assert.equal(await write({ exclusive: true, refusal, lateRefusal }), ['durable', 'new']);
    const neither = either(refusal, at('rename', 'EIO'));
    assert.equal(await write({ exclusive: true, refusal: neither }), ['EIO']);
  });
}

/** @returns how the write of "new" ended, the record, and the files. */
async function writeWithRecord(before: string | null, there: string, refusal?: Refusal) {
  const directory = directoryWith({ record: there });
  const disk = new RefusingDisk();
  const fd = disk.openRecord(join(directory, 'record'));
  const record = {
    path: join(directory, 'record'),
    fd,
    bytes: Buffer.from('2'),
    before: before === null ? null : Buffer.from(before),
  };
  const ended = await withOpen(disk, directory, async (directoryFd) => {
    disk.refusal = refusal ?? null;
    const options = { exclusive: true, record };
    const path = join(directory, 'file');
    return outcomeOf(writeDurably(disk, path, Buffer.from('new'), directoryFd, options));
  });
  disk.close(fd);
  const left = machineDisk.read(record.path)?.toString() ?? 'none';
  return [ended, left, ...readdirSync(directory).sort()];
}

test('a write fails as second_writer if another process has written to the record, and leaves no file', async () => {
  assert.equal(await writeWithRecord('1', '1'), ['done', '2', 'file', 'record']);
  assert.equal(await writeWithRecord('1', '7'), ['second_writer', '7', 'record']);
  assert.equal(await writeWithRecord('1', ''), ['second_writer', '', 'record']);
  // After a write of the record that failed, its content is not known.
  assert.equal(await writeWithRecord(null, '7'), ['done', '2', 'file', 'record']);
});

test('a write fails as second_writer if another process has replaced or removed the record, whether its content is known or not', async () => {
  const atLink =
    (change: (record: string) => void): Refusal =>
    (step, path) => {
      if (step === 'link') change(join(dirname(path), 'record'));
      return null;
    };
  const replace = atLink((record) => {
    writeFileSync(`${record}.new`, '1');
    renameSync(`${record}.new`, record);
  });
  for (const before of ['1', null]) {
    assert.equal(await writeWithRecord(before, '1', replace), ['second_writer', '1', 'record']);
  }
  assert.equal(await writeWithRecord('1', '1', atLink(rmSync)), ['second_writer', 'none']);
});

test('if the file cannot be removed again, the write fails as durability_unknown', async () => {
  const refusal: Refusal = (step, path) =>
    step === 'unlink' && path.endsWith('file') ? 'EIO' : null;
  const left = ['durability_unknown', '7', 'file', 'record'];
  assert.equal(await writeWithRecord('1', '7', refusal), left);
});

test('the removal of the file is synced, so that power loss does not bring it back', async () => {
  const steps: string[] = [];
  const refusal: Refusal = (step, path) => {
    if (step === 'unlink' && path.endsWith('file')) steps.push('removed');
    if (step === 'fsync') steps.push('synced');
    return null;
  };
  assert.equal(await writeWithRecord('1', '7', refusal), ['second_writer', '7', 'record']);
  assert.equal(steps, ['removed', 'synced']);
});

test('a write of the record by another process just before the file gets its name is noticed', async () => {
  const refusal: Refusal = (step, path) => {
    if (step === 'link') writeFileSync(join(dirname(path), 'record'), '7');
    return null;
  };
  assert.equal(await writeWithRecord('1', '1', refusal), ['second_writer', '7', 'record']);
});

test('a system that takes only a part of the bytes at a time gets the rest, but a record only at once', async () => {
  const directory = directoryWith({ record: '111' });
  const writeSync: Steps['writeSync'] = (fd, bytes, offset, length, position) =>
    fs.writeSync(fd, bytes, offset, Math.min(length, 2), position);
  const disk = { ...machineDisk, publish: publishWith({ writeSync }) };
  const fd = disk.openRecord(join(directory, 'record'));
  const bytes = Buffer.from('222');
  const record = { path: join(directory, 'record'), fd, bytes, before: Buffer.from('111') };
  const refused = await withOpen(disk, directory, (directoryFd) => {
    const path = join(directory, 'file');
    return writeDurably(disk, path, Buffer.from('three'), directoryFd, { record });
  });
  disk.close(fd);
  assert.match(refused?.message ?? 'no failure', 'the record was written in part');
  assert.is(readFileSync(join(directory, 'file'), 'utf8'), 'three');
});

const BYTES = Buffer.from('new');
const WRITES = {
  replaceFile: (disk: Disk, path: string) => replaceFile(disk, path, BYTES),
  writeVolatile: (disk: Disk, path: string) => writeVolatile(disk, path, BYTES),
  writePieces: (disk: Disk, path: string) => writePieces(disk, path, [BYTES]),
};

for (const [name, writeWith] of Object.entries(WRITES)) {
  test(`the error of ${name} on a full disk has the path of the file, which the system does not name`, async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'file');
    const full = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    };
    const disk = {
      ...machineDisk,
      writeNew: async () => full(),
      write: full,
      publish: publishWith({ ...fs, writeSync: full }),
    };
    const error = await writeWith(disk, path).then(
      () => null,
      (reason: NodeJS.ErrnoException) => reason,
    );
    assert.equal([error?.code, error?.path], ['ENOSPC', path]);
    assert.equal(readdirSync(directory), []);
  });
}

test('a file that is written once, or was written by another process, has a synced name', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  const disk = new RefusingDisk();
  const steps: string[] = [];
  disk.refusal = (step, of) => {
    if (step === 'link' || step === 'fsync') steps.push(`${step} ${of}`);
    return null;
  };
  assert.is(await writeOnce(disk, path, Buffer.from('first')), true);
  assert.is(await writeOnce(disk, path, Buffer.from('second')), false);
  assert.is(readFileSync(path, 'utf8'), 'first');
  const each = [`link ${path}`, `fsync ${directory}`];
  assert.equal(steps, [...each, ...each]);
});

test('a file that is written once is synced before it gets its name, and is not replaced', async () => {
  const disk = new PowerDisk('/disk');
  const path = '/disk/file';
  assert.is(await writeOnce(disk, path, BYTES), true);
  assert.equal(disk.volume.file(disk.volume.find('file') as number).synced, BYTES);
  assert.is(await writeOnce(disk, path, Buffer.from('newer')), false);
  assert.equal(disk.read(path), BYTES);
  assert.equal([disk.list('/disk'), disk.descriptors], [['file'], []]);
});

test('a file is written once on a file system without hard links too', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  const disk = new RefusingDisk();
  disk.refusal = at('link', 'EPERM');
  assert.is(await writeOnce(disk, path, Buffer.from('first')), true);
  assert.is(await writeOnce(disk, path, Buffer.from('second')), false);
  assert.is(readFileSync(path, 'utf8'), 'first');
  assert.equal(readdirSync(directory), ['file']);
});

test('a file that can be made again is replaced as a whole, without a sync', async () => {
  for (const writeWith of [WRITES.writeVolatile, WRITES.writePieces]) {
    const disk = new PowerDisk('/disk', Volume.holding({ file: Buffer.from('old') }));
    await writeWith(disk, '/disk/file');
    assert.equal(disk.read('/disk/file'), BYTES);
    assert.equal([disk.list('/disk'), disk.descriptors], [['file'], []]);
    assert.not.ok(disk.log.some(({ type }) => type === 'sync'));
  }
});

test('a file stays as it was if not all of its pieces come', async () => {
  const disk = new PowerDisk('/disk', Volume.holding({ file: Buffer.from('old') }));
  function* pieces(): Generator<Buffer> {
    yield BYTES;
    throw new Error('no more pieces');
  }
  const written = writePieces(disk, '/disk/file', pieces());
  assert.is(await written.catch(messageOf), 'no more pieces');
  assert.is(disk.read('/disk/file')?.toString(), 'old');
  assert.equal([disk.list('/disk'), disk.descriptors], [['file'], []]);
});

test('a directory is made with its parents, and each name is synced in its own parent', async () => {
  const parent = temporaryDirectory();
  const disk = new RefusingDisk();
  const synced = disk.noteSyncs();
  const path = join(parent, 'a', 'b', 'c');
  await makeDirectory(disk, path);
  assert.equal(readdirSync(path), []);
  assert.equal(new Set(synced), new Set([parent, join(parent, 'a'), join(parent, 'a', 'b')]));
  synced.length = 0;
  await makeDirectory(disk, path);
  assert.equal(synced, [], 'all of it was there');
});

test('a directory is made in a parent that this process may write to, but not read', async () => {
  const parent = temporaryDirectory();
  const path = join(parent, 'a', 'b');
  const open = (each: string) => {
    if (each !== parent) return machineDisk.open(each);
    throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
  };
  await makeDirectory({ ...machineDisk, open }, path);
  assert.equal(readdirSync(path), []);
});

test('half-written files are removed, and a directory with such a name is kept', async () => {
  const names = ['.0123456789abcdef.tmp', '.0123456789abcde0.tmp', 'catalog.json'];
  for (const disk of [machineDisk, blockingDisk]) {
    const directory = directoryWith({ [names[1] ?? '']: 'half', 'catalog.json': '' });
    mkdirSync(join(directory, names[0] ?? ''));
    await removeTemporaries(disk, directory);
    assert.equal(readdirSync(directory).sort(), [names[0], 'catalog.json']);
  }
});

test.run();
