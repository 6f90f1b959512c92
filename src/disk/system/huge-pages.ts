/** Memory in huge pages: MADV_HUGEPAGE of madvise(2), Linux. */
import { ptr } from 'bun:ffi';
import { libc } from './libc.ts';

/** Bytes of a huge page where a page has 4 KiB. */
const HUGE_PAGE_BYTES = 2 * 1024 * 1024;

const MADV_HUGEPAGE = 14;

type Madvise = (address: number, length: number, advice: number) => number;

/** Undefined until it was looked for; null if the C library does not have it. */
let loaded: Madvise | null | undefined;

/**
 * Asks the system to give fresh memory, which is about to be filled, in huge pages: a fault for each
 * 2 MiB of it instead of each 4 KiB. A system that does not take the advice does as always.
 */
export function adviseHugePages(memory: Buffer): void {
  const address = ptr(memory);
  const start = Math.ceil(address / HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES;
  const end = Math.floor((address + memory.length) / HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES;
  if (end <= start) return;
  if (loaded === undefined) loaded = load();
  loaded?.(start, end - start, MADV_HUGEPAGE);
}

function load(): Madvise | null {
  if (process.platform !== 'linux') return null;
  try {
    return libc({ madvise: { args: ['u64', 'u64', 'i32'], returns: 'i32' } }).madvise;
  } catch {
    // Without the function memory is as it always is.
    return null;
  }
}
