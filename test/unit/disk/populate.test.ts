/** The kernel can provide memory before it is written (src/disk/system/populate.ts). */
import { ptr } from 'bun:ffi';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { libc } from '../../../src/disk/system/libc.ts';
import { populate } from '../../../src/disk/system/populate.ts';
import { testPopulate } from '../../support/linux.ts';

const MIB = 1024 * 1024;
const PAGE_BYTES = 4096;
const ALIGNMENT = 64 * 1024;

/** From madvise(2): gives the pages back. */
const MADV_DONTNEED = 4;

const { madvise, mincore } = libc({
  madvise: { args: ['usize', 'usize', 'i32'], returns: 'i32' },
  mincore: { args: ['usize', 'usize', 'ptr'], returns: 'i32' },
});

/** The part of a memory between multiples of 64 KiB: its address and its bytes. */
function alignedPart(memory: Uint8Array): readonly [start: number, length: number] {
  const start = Math.ceil(ptr(memory) / ALIGNMENT) * ALIGNMENT;
  const end = Math.floor((ptr(memory) + memory.length) / ALIGNMENT) * ALIGNMENT;
  return [start, end - start];
}

/**
 * How many pages of a part are in memory. The memory of the whole process would not do: the test
 * files before this one leave memory that may be freed at any time.
 */
function pagesIn([start, length]: readonly [number, number]): number {
  const states = new Uint8Array(length / PAGE_BYTES);
  assert.is(mincore(start, length, states), 0);
  return states.reduce((sum, state) => sum + (state & 1), 0);
}

testPopulate('populate provides every page of a buffer before anything is written to it', () => {
  const memory = Buffer.allocUnsafeSlow(64 * MIB);
  const part = alignedPart(memory);
  // The allocator may have used these pages before.
  assert.is(madvise(...part, MADV_DONTNEED), 0);
  assert.is(pagesIn(part), 0);
  assert.is(populate(memory), true);
  assert.is(pagesIn(part), part[1] / PAGE_BYTES);
});

testPopulate('populate does not change the content of a buffer', () => {
  const memory = Buffer.alloc(3 * MIB + 5, 'abc');
  assert.is(populate(memory), true);
  assert.ok(memory.equals(Buffer.alloc(3 * MIB + 5, 'abc')));
});

test('populate returns false for a small buffer, and does not change it', () => {
  const memory = Buffer.alloc(1000, 'abc');
  assert.is(populate(memory), false);
  assert.is(memory.toString('latin1', 0, 6), 'abcabc');
});

test.run();
