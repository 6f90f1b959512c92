/**
 * Compares the free space and the free inodes of the data directory's disk with a minimum. Below it
 * the server reports that it is not ready, but still takes writes, so that an operator is warned
 * before the disk refuses one (spec 11.8).
 */
import { type DiskSpace, diskSpace } from '../disk/free-space.ts';

/** Bytes: on a disk that is not small, less than this is soon used up. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** Inodes: a page is a file, so an import of as many SKUs uses them up. */
const MIN_FREE_INODES = 10_000;

/** The same for a small disk, as a share of it. */
const MIN_FREE_SHARE = 0.05;

/** The free bytes of a disk, and the minimum. */
export interface FreeDisk {
  readonly free: number;
  readonly minimum: number;
}

/** @param most the minimum of a disk that is not small. @param size of the disk, in its unit. */
function leastOf(most: number, size: number): number {
  return Math.min(most, Math.floor(size * MIN_FREE_SHARE));
}

function shownSize(bytes: number): string {
  const [unit, size] = bytes < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${Math.ceil(bytes / size)} ${unit}`;
}

export class DiskWatch {
  readonly #minimum: number | undefined;
  readonly #measure: () => DiskSpace;

  /**
   * @param directory on the disk.
   * @param minimum bytes; 0 for none, then of inodes neither; if left out, 256 MiB or 5 % of the
   *   disk if that is less.
   * @param measure asks the file system: one system call. Tests inject their own.
   */
  constructor(directory: string, minimum?: number, measure = () => diskSpace(directory)) {
    this.#minimum = minimum;
    this.#measure = measure;
  }

  /** @returns null if the free space cannot be read. */
  readonly read = (): FreeDisk | null => {
    const disk = this.#space();
    return disk && { free: disk.free, minimum: this.#minimumOf(disk) };
  };

  /** Why the server is not ready; null if the disk has space, or if that is not known. */
  readonly reason = (): string | null => {
    const disk = this.#space();
    if (disk === null || this.#minimum === 0) return null;
    const minimum = this.#minimumOf(disk);
    if (disk.free < minimum) {
      return `the disk is nearly full: less than ${shownSize(minimum)} are free`;
    }
    const inodes = leastOf(MIN_FREE_INODES, disk.inodes);
    if (disk.freeInodes >= inodes) return null;
    return `the disk is nearly full: fewer than ${inodes} inodes are free`;
  };

  #space(): DiskSpace | null {
    try {
      return this.#measure();
    } catch {
      // The directory or the disk may be gone: the next write reports it.
      return null;
    }
  }

  #minimumOf({ size }: DiskSpace): number {
    return this.#minimum ?? leastOf(MIN_FREE_BYTES, size);
  }
}
