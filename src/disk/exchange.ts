/** Files that are replaced by an exchange of names: renameat2(2) of Linux. */
import fs from 'node:fs';
import type { Disk } from './disk.ts';
import { libc } from './system/libc.ts';

/** Relative paths count from the working directory. */
const AT_FDCWD = -100;

const RENAME_EXCHANGE = 2;

type RenameAt2 = (from: string, to: string) => number;

/** Undefined until it was looked for; null if the C library does not have it. */
let loaded: RenameAt2 | null | undefined;

/**
 * Exchanges the names of two files, at once for every reader.
 *
 * @returns false, with nothing changed, if there are no two files, or the system cannot do it.
 */
export function exchange(from: string, to: string): boolean {
  if (loaded === undefined) loaded = load();
  return loaded?.(from, to) === 0;
}

function load(): RenameAt2 | null {
  if (process.platform !== 'linux') return null;
  try {
    const { renameat2 } = libc({
      renameat2: { args: ['i32', 'ptr', 'i32', 'ptr', 'u32'], returns: 'i32' },
    });
    return (from, to) => renameat2(AT_FDCWD, text(from), AT_FDCWD, text(to), RENAME_EXCHANGE);
  } catch {
    // A library without it: older ones of musl.
    return null;
  }
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
