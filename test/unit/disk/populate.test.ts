/** Memory that is about to be written can be had from the kernel at once (src/disk/system/populate.ts). */
import { ptr } from 'bun:ffi';
import { release } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { libc } from '../../../src/disk/system/libc.ts';
import { populate } from '../../../src/disk/system/populate.ts';

const MIB = 1024 * 1024;
const PAGE_BYTES = 4096;
const ALIGNMENT = 64 * 1024;

/** From madvise(2): gives the pages back. */
const MADV_DONTNEED = 4;

const { madvise, mincore } = libc({
  madvise: { args: ['usize', 'usize', 'i32'], returns: 'i32' },
  mincore: { args: ['usize', 'usize', 'ptr'], returns: 'i32' },
});

/** Only Linux has the call, since version 5.14. */
const [major = 0, minor = 0] = release().split('.').map(Number);
const isOffered = process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
const onLinux = isOffered ? test : test.skip;

/** The part of a memory between multiples of 64 KiB: its address and its bytes. */
function alignedPart(memory: Uint8Array): readonly [start: number, length: number] {
  const start = Math.ceil(ptr(memory) / ALIGNMENT) * ALIGNMENT;
  const end = Math.floor((ptr(memory) + memory.length) / ALIGNMENT) * ALIGNMENT;
  return [start, end - start];
}

/**
 * How many pages of a part the kernel has given. Not what the process has altogether: the files
 * before this one leave memory that is given back at any time.
 */
function pagesIn([start, length]: readonly [number, number]): number {
  const states = new Uint8Array(length / PAGE_BYTES);
  assert.is(mincore(start, length, states), 0);
  return states.reduce((sum, state) => sum + (state & 1), 0);
}

onLinux('memory is there before anything is written to it', () => {
  const memory = Buffer.allocUnsafeSlow(64 * MIB);
  const part = alignedPart(memory);
  // The allocator may have had its pages already.
  assert.is(madvise(...part, MADV_DONTNEED), 0);
  assert.is(pagesIn(part), 0);
  assert.is(populate(memory), true);
  assert.is(pagesIn(part), part[1] / PAGE_BYTES);
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
