/**
 * Compares the free space of the data directory's disk with a minimum. Below it the server reports
 * that it is not ready, but still takes writes, so that an operator is warned before the disk
 * refuses one.
 */
import { type DiskSpace, diskSpace } from '../disk/free-space.ts';

/** Bytes: on a disk that is not small, less than this is soon used up. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** The same for a small disk, as a share of it. */
const MIN_FREE_SHARE = 0.05;

/** The free bytes of a disk, and the minimum. */
export interface FreeDisk {
  readonly free: number;
  readonly minimum: number;
}

/** @param size of the disk, in bytes. */
function shareOf(size: number): number {
  return Math.min(MIN_FREE_BYTES, Math.floor(size * MIN_FREE_SHARE));
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
   * @param minimum bytes; 0 for none; if left out, 256 MiB or 5 % of the disk if that is less.
   * @param measure asks the file system: one system call. Tests inject their own.
   */
  constructor(directory: string, minimum?: number, measure = () => diskSpace(directory)) {
    this.#minimum = minimum;
    this.#measure = measure;
  }

  /** @returns null if the free space cannot be read. */
  readonly read = (): FreeDisk | null => {
    try {
      const { free, size } = this.#measure();
      return { free, minimum: this.#minimum ?? shareOf(size) };
    } catch {
      // The directory or the disk may be gone: the next write reports it.
      return null;
    }
  };

  /** Why the server is not ready; null if the disk has space, or if that is not known. */
  readonly reason = (): string | null => {
    const disk = this.read();
    if (disk === null || disk.free >= disk.minimum) return null;
    return `the disk is nearly full: less than ${shownSize(disk.minimum)} are free`;
  };
}
