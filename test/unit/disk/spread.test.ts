/** ext4 can be asked to place directories apart from each other (src/disk/system/spread.ts). */
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { libc } from '../../../src/disk/system/libc.ts';
import { spread } from '../../../src/disk/system/spread.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** From statfs(2): ext2, ext3 and ext4. */
const EXT4_SUPER_MAGIC = 0xef53;

/** From ioctl_iflags(2). */
const FS_IOC_GETFLAGS = 0x80086601;
const FS_TOPDIR_FL = 0x00020000;

function isMarked(directory: string): boolean {
  const { ioctl } = libc({ ioctl: { args: ['i32', 'usize', 'ptr'], returns: 'i32' } });
  const fd = openSync(directory, 'r');
  const flags = new Int32Array(1);
  const isKnown = ioctl(fd, FS_IOC_GETFLAGS, flags) === 0;
  closeSync(fd);
  return isKnown && ((flags[0] ?? 0) & FS_TOPDIR_FL) !== 0;
}

/** Temporary files that survive a restart, so that they are most likely on a disk. */
const ON_DISK = '/var/tmp';

/** A temporary directory, which may be in memory, and one on a disk, if there is one. */
function directories(): readonly string[] {
  const anywhere = temporaryDirectory();
  if (!existsSync(ON_DISK)) return [anywhere];
  const onDisk = mkdtempSync(join(ON_DISK, 'catalog-server-test-'));
  process.on('exit', () => rmSync(onDisk, { recursive: true, force: true }));
  return [anywhere, onDisk];
}

test('a directory is marked if and only if the file system is ext4', () => {
  for (const directory of directories()) {
    const isOffered =
      process.platform === 'linux' && statfsSync(directory).type === EXT4_SUPER_MAGIC;
    assert.is(spread(directory), isOffered);
    assert.is(isMarked(directory), isOffered);
    // A second time, although it is marked already.
    assert.is(spread(directory), isOffered);
  }
});

test('spread throws ENOENT for a missing directory and ENOTDIR for a file', () => {
  assert.throws(() => spread(join(temporaryDirectory(), 'nothing')), /ENOENT/);
  assert.throws(() => spread(import.meta.filename), /ENOTDIR/);
});

test.run();
