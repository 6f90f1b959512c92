/** Replaces files by exchanging names: RENAME_EXCHANGE of renameat2(2) on Linux. */
import fs from 'node:fs';
import type { Disk } from './disk.ts';
import { libcOfLinux } from './system/libc.ts';

/** Relative paths start at the working directory. */
const AT_FDCWD = -100;

const RENAME_EXCHANGE = 2;

/** Older versions of musl do not have it. */
const symbols = libcOfLinux({
  renameat2: { args: ['i32', 'ptr', 'i32', 'ptr', 'u32'], returns: 'i32' },
});

/**
 * Exchanges the names of two files atomically.
 *
 * @returns false, with nothing changed, if one of them does not exist or the system cannot do it.
 */
export function renameExchange(from: string, to: string): boolean {
  const paths = [AT_FDCWD, text(from), AT_FDCWD, text(to)] as const;
  return symbols()?.renameat2(...paths, RENAME_EXCHANGE) === 0;
}

/** A C string. */
function text(path: string): Buffer {
  return Buffer.from(`${path}\0`);
}

/**
 * A disk for files that can be made again. When a rename replaces a file, ext4 first allocates the
 * blocks of the new one and begins to write it, to protect programs that do not sync. For many
 * files that costs more than all other work, and the next sync on the machine waits for all of
 * them. An exchange of names avoids this. Either way a reader gets one file or the other.
 */
export function exchangingDisk(disk: Disk): Disk {
  return {
    ...disk,
    async rename(from, to) {
      if (renameExchange(from, to)) {
        try {
          return fs.rmSync(from, { force: true });
        } catch {
          // What had the name cannot be removed, such as a directory: the rename below reports it.
          renameExchange(from, to);
        }
      }
      await disk.rename(from, to);
    },
  };
}
