/** Memory that shows a part of a file, and can be replaced by a copy piece by piece (Linux). */
import { FFIType, ptr } from 'bun:ffi';
import { libcOfLinux } from './libc.ts';
import { MADV_POPULATE_READ, memoryAdvice } from './memory-advice.ts';

/** From mmap(2). */
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_PRIVATE = 0x02;
const MAP_ANONYMOUS = 0x20;
const MAP_POPULATE = 0x8000;

/** From mremap(2). */
const MREMAP_MAYMOVE = 1;
const MREMAP_FIXED = 2;

/** Looked up only by the first copy: a start need not wait for it. */
const copying = libcOfLinux({
  mmap: { args: ['usize', 'usize', 'i32', 'i32', 'i32', 'usize'], returns: FFIType.i64_fast },
  memcpy: { args: ['usize', 'usize', 'usize'], returns: FFIType.i64_fast },
  mremap: { args: ['usize', 'usize', 'usize', 'i32', 'usize'], returns: FFIType.i64_fast },
  munmap: { args: ['usize', 'usize'], returns: 'i32' },
});

export interface MappedMemory {
  readonly bytes: Buffer;
  /**
   * Replaces a part by a copy that no longer depends on the file. The address stays the same.
   *
   * @param start a multiple of the size of a page of memory, in bytes.
   * @param length the same; the part ends where the memory ends.
   * @returns whether the system did so.
   */
  copy(start: number, length: number): boolean;
}

/**
 * Maps a part of a file (mmap(2), `MAP_PRIVATE`), and has the kernel read all of it.
 *
 * @param start of the part, a multiple of the size of a page of memory.
 * @param length in bytes, within the file.
 * @returns null if the system cannot do that.
 */
export function mapMemory(fd: number, start: number, length: number): MappedMemory | null {
  const calls = memoryAdvice();
  if (calls === null) return null;
  let mapped: Uint8Array<ArrayBuffer>;
  try {
    // The name of the open file: the path may lead to another one by now.
    mapped = Bun.mmap(`/proc/self/fd/${fd}`, { shared: false, offset: start, size: length });
  } catch {
    // For example a file that may only be read, as the runtime opens it for writing too.
    return null;
  }
  const address = ptr(mapped);
  if (calls.madvise(address, length, MADV_POPULATE_READ) !== 0) return null;
  return {
    bytes: Buffer.from(mapped.buffer, mapped.byteOffset, mapped.length),
    copy: (from, bytes) => replace(address + from, Math.min(bytes, length - from)),
  };
}

/**
 * Moves a copy of some memory to its address. A write to the mapped pages would copy them too, but
 * a program that shortens the file would take away those copies.
 */
function replace(address: number, length: number): boolean {
  const calls = copying();
  if (calls === null) return false;
  const access = PROT_READ | PROT_WRITE;
  const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
  const copy = calls.mmap(0, length, access, flags, -1, 0);
  if (copy < 0) return false;
  calls.memcpy(copy, address, length);
  if (calls.mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, address) >= 0) return true;
  calls.munmap(copy, length);
  return false;
}
