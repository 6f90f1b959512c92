/** Memory that is about to be written can be had from the kernel at once (src/disk/system/populate.ts). */
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { populate } from '../../../src/disk/system/populate.ts';

const MIB = 1024 * 1024;
const PAGE_BYTES = 4096;

/** Only Linux has the call, since version 5.14. */
const [major = 0, minor = 0] = release().split('.').map(Number);
const isOffered = process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
const onLinux = isOffered ? test : test.skip;

/** Bytes of memory that the process has from the kernel. */
function residentBytes(): number {
  const [, pages = ''] = readFileSync('/proc/self/statm', 'latin1').split(' ');
  return Number(pages) * PAGE_BYTES;
}

onLinux('memory is there before anything is written to it', () => {
  const before = residentBytes();
  const memory = Buffer.allocUnsafeSlow(256 * MIB);
  assert.ok(residentBytes() - before < 64 * MIB, 'the kernel has not given it yet');
  assert.is(populate(memory), true);
  assert.ok(residentBytes() - before > 192 * MIB);
  assert.is(memory.length, 256 * MIB);
});

onLinux('memory that holds something keeps it, to the last byte', () => {
  const memory = Buffer.alloc(3 * MIB + 5, 'abc');
  assert.is(populate(memory), true);
  assert.ok(memory.equals(Buffer.alloc(3 * MIB + 5, 'abc')));
});

test('a part that is too small for it is left alone', () => {
  const memory = Buffer.alloc(1000, 'abc');
  assert.is(populate(memory), false);
  assert.is(memory.toString('latin1', 0, 6), 'abcabc');
});

test.run();
