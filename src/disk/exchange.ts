/** Files that are replaced by an exchange of names: renameat2(2) of Linux. */
import fs from 'node:fs';
import type { Disk } from './disk.ts';
import { libcOfLinux } from './system/libc.ts';

/** Relative paths count from the working directory. */
const AT_FDCWD = -100;

const RENAME_EXCHANGE = 2;

/** Older versions of musl do not have it. */
const symbols = libcOfLinux({
  renameat2: { args: ['i32', 'ptr', 'i32', 'ptr', 'u32'], returns: 'i32' },
});

/**
 * Exchanges the names of two files, at once for every reader.
 *
 * @returns false, with nothing changed, if there are no two files, or the system cannot do it.
 */
export function exchange(from: string, to: string): boolean {
  const paths = [AT_FDCWD, text(from), AT_FDCWD, text(to)] as const;
  return symbols()?.renameat2(...paths, RENAME_EXCHANGE) === 0;
}

/** A text of C. */
function text(path: string): Buffer {
  return Buffer.from(`${path}\0`);
}

/**
 * A disk for files that can be made again. If a rename replaces a file, ext4 first gives the new one
 * its blocks and begins to write it, for programs that sync nothing; of many files that costs more
 * than the rest, and the next sync of the machine waits for all of them. An exchange of names does
 * not do so. Either way a reader gets the one file or the other.
 */
export function exchanging(disk: Disk): Disk {
  return {
    ...disk,
    async rename(from, to) {
      if (exchange(from, to)) fs.rmSync(from, { force: true });
      else await disk.rename(from, to);
    },
  };
}
