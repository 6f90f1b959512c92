/**
 * Durable files that are written in a directory of their own before they get their names, away from
 * where files are removed.
 *
 * ext4 gives a new file an inode near its directory. If it has no journal, it passes over every inode
 * there that was removed in the last minutes, one by one. A page that is replaced leaves such an inode,
 * so that beside thousands of them the file of a commit took half a millisecond of CPU and more. A
 * directory that lies elsewhere sees none of them (docs/performance.md, "Throughput").
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { type DurableOptions, removeTemporaries, writeDurably } from './durable-file.ts';

const STAGING = /^\.staging-[0-9a-f]{16}$/;

/**
 * How the system says that a file cannot be written there, but beside its name: somebody has removed
 * the directory, or a link may not lead out of it.
 */
const UNUSABLE: ReadonlySet<string> = new Set(['ENOENT', 'EXDEV']);

export class Staging {
  readonly #disk: Disk;
  readonly #parent: string;
  /** Null if files are written beside their final names; undefined before the first one. */
  #directory: string | null | undefined;

  /** @param parent where the directory is made, for the first file. Only its owner may do that. */
  constructor(disk: Disk, parent: string) {
    this.#disk = disk;
    this.#parent = parent;
  }

  /** As {@link writeDurably}. @param path on the file system of the directory. */
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
        const { code = '' } = error as NodeJS.ErrnoException;
        if (!UNUSABLE.has(code)) throw error;
        this.#directory = null;
      }
    }
    return writeDurably(this.#disk, path, bytes, directoryFd, options);
  }

  /** Removes the directory. @throws what the disk throws. */
  async close(): Promise<void> {
    if (typeof this.#directory === 'string') await removeStaging(this.#disk, this.#parent);
    this.#directory = undefined;
  }

  /** @returns null if the file system would not put it elsewhere, or refuses it. */
  async #make(): Promise<string | null> {
    // Random: ext4 finds a place by the name, and where the last one was lies what was removed.
    const directory = join(this.#parent, `.staging-${randomBytes(8).toString('hex')}`);
    try {
      return (await this.#disk.makeApart(directory)) ? directory : null;
    } catch {
      // A disk that refuses the files themselves says so.
      return null;
    }
  }
}

/**
 * Removes what killed runs left in a directory, but for files that they did not write. Only its owner
 * may call this.
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
