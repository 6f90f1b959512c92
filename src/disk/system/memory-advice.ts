/** Advice for the kernel about memory: madvise(2). */
import { libcOfLinux } from './libc.ts';

/** Read, or write, all pages with one call instead of a page fault each. Linux 5.14 and later. */
export const MADV_POPULATE_READ = 22;
export const MADV_POPULATE_WRITE = 23;

/** Addresses are declared as integers, because the runtime's pointer type has no arithmetic. */
export const memoryAdvice = libcOfLinux({
  madvise: { args: ['usize', 'usize', 'i32'], returns: 'i32' },
});
