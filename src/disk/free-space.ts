/** The free space of a file system. */
import fs from 'node:fs';

/** In bytes. */
export interface DiskSpace {
  /** What a process without privileges may still write. */
  readonly free: number;
  readonly size: number;
}

/**
 * @param path of anything on the file system.
 * @throws the system's error if it cannot tell.
 */
export function diskSpace(path: string): DiskSpace {
  const { bavail, blocks, bsize } = fs.statfsSync(path);
  return { free: bavail * bsize, size: blocks * bsize };
}
