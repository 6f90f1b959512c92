/** spec 11.8: how much of the disk has to be free for the server to be ready. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DiskWatch } from '../../../src/app/disk-watch.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

function watching(free: number, size: number, minimum?: number): DiskWatch {
  const space = { free, size, freeInodes: 0, inodes: 0 };
  return new DiskWatch('unused', minimum, () => space);
}

function withInodes(freeInodes: number, inodes: number, minimum?: number): DiskWatch {
  const space = { free: 400 * GIB, size: 500 * GIB, freeInodes, inodes };
  return new DiskWatch('unused', minimum, () => space);
}

const READY: readonly (readonly [name: string, watch: DiskWatch, ready: boolean])[] = [
  ['256 MiB free on a large disk', watching(256 * MIB, 500 * GIB), true],
  ['a byte less than 256 MiB free on a large disk', watching(256 * MIB - 1, 500 * GIB), false],
  ['5 % of a small disk free', watching(50, 1000), true],
  ['less than 5 % of a small disk free', watching(49, 1000), false],
  ['the configured minimum free', watching(10 * GIB, 20 * GIB, 10 * GIB), true],
  ['less than the configured minimum free', watching(10 * GIB - 1, 20 * GIB, 10 * GIB), false],
  ['nothing free and a configured minimum of 0', watching(0, 20 * GIB, 0), true],
  ['10,000 inodes free on a large disk', withInodes(10_000, 16_777_216), true],
  ['9,999 inodes free on a large disk', withInodes(9999, 16_777_216), false],
  ['5 % of the inodes of a small disk free', withInodes(50, 1000), true],
  ['less than 5 % of the inodes of a small disk free', withInodes(49, 1000), false],
  ['few inodes and a configured minimum of bytes', withInodes(49, 1000, GIB), false],
  ['no inodes and a configured minimum of 0', withInodes(0, 1000, 0), true],
  ['a file system without a limit of inodes', withInodes(0, 0), true],
];

for (const [name, watch, ready] of READY) {
  test(`the server is ${ready ? 'ready' : 'not ready'} with ${name}`, () => {
    assert.is(watch.reason() === null, ready);
  });
}

test('the reason names the minimum, but not the path', () => {
  const reason = watching(1, 500 * GIB).reason();
  assert.is(reason, 'the disk is nearly full: less than 256 MiB are free');
  const whole = watching(1, 500 * GIB, MIB).reason();
  assert.is(whole, 'the disk is nearly full: less than 1 MiB are free');
  const small = watching(1, 500 * GIB, MIB / 4).reason();
  assert.is(small, 'the disk is nearly full: less than 256 KiB are free');
  const inodes = withInodes(1, 16_777_216).reason();
  assert.is(inodes, 'the disk is nearly full: fewer than 10000 inodes are free');
});

test('5 % of a disk is a whole number of bytes', () => {
  assert.is(watching(1, 1019).read()?.minimum, 50);
});

test('a disk that cannot be read gives no reason and no figures', () => {
  const watch = new DiskWatch('unused', undefined, () => {
    throw new Error('EIO');
  });
  assert.equal([watch.reason(), watch.read()], [null, null]);
});

test('the free space on the disk of a directory is measured', () => {
  const watch = new DiskWatch(temporaryDirectory(), Number.MAX_SAFE_INTEGER);
  const disk = watch.read();
  assert.ok(disk !== null && disk.free > 0 && Number.isSafeInteger(disk.free));
  assert.match(watch.reason() ?? '', 'nearly full');
});

test.run();
