/** Memory that the kernel gives at once. */
import { ptr } from 'bun:ffi';
import { libc } from './libc.ts';

/** From madvise(2); Linux 5.14 and later. */
const MADV_POPULATE_WRITE = 23;

/** A multiple of every size that pages of memory have. */
const ALIGNMENT = 64 * 1024;

type Advise = (start: number, length: number, advice: number) => number;

/** Undefined until it was looked for; null if the C library does not have it. */
let loaded: Advise | null | undefined;

function load(): Advise | null {
  if (process.platform !== 'linux') return null;
  try {
    // An address is an integer for C: the runtime's type for pointers has no arithmetic.
    return libc({ madvise: { args: ['usize', 'usize', 'i32'], returns: 'i32' } }).madvise;
  } catch {
    // Memory comes page by page then, as it does without this file.
    return null;
  }
}

/**
 * Has the kernel give memory its pages with one call. Otherwise each page interrupts the program when it
 * is written first, which takes a virtual machine up to 15 microseconds. What the memory holds stays.
 *
 * @param memory that is about to be written, all of it.
 * @returns whether the kernel did so; if not, nothing but time is lost.
 */
export function populate(memory: Uint8Array): boolean {
  if (loaded === undefined) loaded = load();
  const address = ptr(memory);
  const start = Math.ceil(address / ALIGNMENT) * ALIGNMENT;
  const end = Math.floor((address + memory.length) / ALIGNMENT) * ALIGNMENT;
  if (loaded === null || end <= start) return false;
  return loaded(start, end - start, MADV_POPULATE_WRITE) === 0;
}
