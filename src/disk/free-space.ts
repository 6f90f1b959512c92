/** The free space of a file system. */
import fs from 'node:fs';

export interface DiskSpace {
  /** Bytes that a process without privileges may still write. */
  readonly free: number;
  /** In bytes. */
  readonly size: number;
  /** How many files can still be created. */
  readonly freeInodes: number;
  /** How many files the file system can have; 0 if it has no such limit, as btrfs. */
  readonly inodes: number;
}

/**
 * @param path of anything on the file system.
 * @throws the system's error if it cannot tell.
 */
export function diskSpace(path: string): DiskSpace {
  const { bavail, blocks, bsize, ffree, files } = fs.statfsSync(path);
  return { free: bavail * bsize, size: blocks * bsize, freeInodes: ffree, inodes: files };
}
