/**
 * Writes durable files in a staging directory before they get their names, away from directories
 * in which files are removed.
 *
 * ext4 gives a new file an inode near its directory. Without a journal it skips, one by one, every
 * inode there that was freed in the last minutes. Each page that is replaced frees one, and next to
 * thousands of them, creating the file of a commit took half a millisecond of CPU or more. In a
 * directory that lies elsewhere there are none (docs/performance.md, "Decisions and their figures").
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { type DurableOptions, removeTemporaries, writeDurably } from './durable-file.ts';
import { systemErrorCode } from '../errors.ts';

const STAGING = /^\.staging-[0-9a-f]{16}$/;

/**
 * Errors after which files are written beside their final names instead: the directory was removed,
 * or a link must not lead out of it.
 */
const UNUSABLE: ReadonlySet<string> = new Set(['ENOENT', 'EXDEV']);

export class Staging {
  readonly #disk: Disk;
  readonly #parent: string;
  /** Null if files are written beside their final names; undefined before the first one. */
  #directory: string | null | undefined;

  /** @param parent where the directory is made, at the first file. This process has to own it. */
  constructor(disk: Disk, parent: string) {
    this.#disk = disk;
    this.#parent = parent;
  }

  /** Like {@link writeDurably}. @param path on the file system of the directory. */
  async write(
    path: string,
    bytes: Uint8Array,
    directoryFd: number,
    options: DurableOptions,
  ): Promise<Error | null> {
    if (this.#directory === undefined) this.#directory = await this.#make();
    if (this.#directory !== null) {
      try {
        const staged = { ...options, staging: this.#directory };
        return await writeDurably(this.#disk, path, bytes, directoryFd, staged);
      } catch (error) {
        if (!UNUSABLE.has(systemErrorCode(error) ?? '')) throw error;
        this.#directory = null;
      }
    }
    return writeDurably(this.#disk, path, bytes, directoryFd, options);
  }

  /** Removes the directory; nothing is written after that. @throws what the disk throws. */
  async close(): Promise<void> {
    if (typeof this.#directory === 'string') await removeStaging(this.#disk, this.#parent);
  }

  /** @returns null if the file system cannot place it elsewhere, or refuses it. */
  async #make(): Promise<string | null> {
    // Random: ext4 chooses the place by the name, and that of the last one is full of freed inodes.
    const directory = join(this.#parent, `.staging-${randomBytes(8).toString('hex')}`);
    try {
      return (await this.#disk.makeApart(directory)) ? directory : null;
    } catch {
      // If the disk refuses the files too, writing them reports that.
      return null;
    }
  }
}

/**
 * Removes the staging directories of killed runs from a directory, except files in them that this
 * program did not write. Only the process that owns the directory may call this.
 *
 * @throws what the disk throws.
 */
export async function removeStaging(disk: Disk, parent: string): Promise<void> {
  for (const name of disk.list(parent)) {
    if (!STAGING.test(name)) continue;
    const directory = join(parent, name);
    await removeTemporaries(disk, directory);
    if (disk.list(directory).length === 0) disk.rmdir(directory);
  }
}
