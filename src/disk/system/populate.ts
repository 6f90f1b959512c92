/** Memory that the kernel gives at once. */
import { ptr } from 'bun:ffi';
import { libcOfLinux } from './libc.ts';

/** From madvise(2); Linux 5.14 and later. */
const MADV_POPULATE_WRITE = 23;

/** A multiple of every size that pages of memory have. */
const ALIGNMENT = 64 * 1024;

/**
 * Without it memory comes page by page. An address is an integer for C: the runtime's type for pointers
 * has no arithmetic.
 */
const symbols = libcOfLinux({ madvise: { args: ['usize', 'usize', 'i32'], returns: 'i32' } });

/**
 * Has the kernel give memory its pages with one call. Otherwise each page interrupts the program when it
 * is written first, which takes a virtual machine up to 15 microseconds. What the memory holds stays.
 *
 * @param memory that is about to be written, all of it.
 * @returns whether the kernel did so; if not, nothing but time is lost.
 */
export function populate(memory: Uint8Array): boolean {
  const address = ptr(memory);
  const start = Math.ceil(address / ALIGNMENT) * ALIGNMENT;
  const end = Math.floor((address + memory.length) / ALIGNMENT) * ALIGNMENT;
  return end > start && symbols()?.madvise(start, end - start, MADV_POPULATE_WRITE) === 0;
}
