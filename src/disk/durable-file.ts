/**
 * The durable write.
 *
 * Invariants:
 * 1. A file under its final name is whole: its data was synced before the rename gave it the name.
 * 2. When {@link DurableFile.publish} resolves, name and data survive power loss: the directory
 *    was synced after the rename.
 * 3. When a step before or at the rename fails, the final name is as before and the temporary file
 *    is removed. When the sync of the directory fails, nobody can know whether the name survives:
 *    the failure has the code `durability_unknown`, and only a fresh read of the disk is the truth.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { CatalogError, messageOf } from '../errors.ts';
import type { Disk } from './disk.ts';

const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;

/** A file that is being written under a temporary name beside its final one. */
export class DurableFile {
  readonly #disk: Disk;
  readonly #temporary: string;
  #fd: number | null;

  private constructor(disk: Disk, temporary: string, fd: number) {
    this.#disk = disk;
    this.#temporary = temporary;
    this.#fd = fd;
  }

  /** @param directory where the file is to appear; the temporary one has to be on its file system. */
  static async create(disk: Disk, directory: string): Promise<DurableFile> {
    // Random, so that what a killed run left behind never collides with this run.
    const temporary = join(directory, `.${randomBytes(8).toString('hex')}.tmp`);
    return new DurableFile(disk, temporary, await disk.create(temporary));
  }

  write(bytes: Uint8Array): void {
    this.#disk.write(this.#open(), bytes);
  }

  /** Hands what was written so far to the device, so that the last sync has little left to do. */
  flush(): Promise<void> {
    return this.#disk.fdatasync(this.#open());
  }

  /**
   * Gives the file its final name and returns once both survive power loss.
   *
   * @param path final path, in the directory of the constructor; a file there is replaced.
   * @param directoryFd the directory, open.
   */
  async publish(path: string, directoryFd: number): Promise<void> {
    await this.#disk.fdatasync(this.#open());
    this.#close();
    await this.#disk.rename(this.#temporary, path);
    try {
      await this.#disk.fsync(directoryFd);
    } catch (cause) {
      throw new CatalogError(
        'durability_unknown',
        `the directory of ${path} could not be synced (${messageOf(cause)}); nobody can know what is on the disk`,
        { cause },
      );
    }
  }

  /** Gives the file its final name unless something has it already; not synced to the directory. */
  async publishNew(path: string): Promise<boolean> {
    await this.#disk.fdatasync(this.#open());
    this.#close();
    try {
      this.#disk.link(this.#temporary, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await this.#disk.unlink(this.#temporary);
    }
  }

  /** Renames without any sync: for files that can be made again, such as pages. */
  publishVolatile(path: string): Promise<void> {
    this.#close();
    return this.#disk.rename(this.#temporary, path);
  }

  /** Gives up: closes and removes the temporary file. Never throws; what is left is swept later. */
  async abandon(): Promise<void> {
    try {
      this.#close();
      await this.#disk.unlink(this.#temporary);
    } catch {
      // A refusing disk may refuse this as well; removeTemporaries finds it at the next start.
    }
  }

  #open(): number {
    if (this.#fd === null) throw new Error('the durable file is closed');
    return this.#fd;
  }

  #close(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    // Closed even where closing fails: the number may be another file's by then.
    this.#fd = null;
    this.#disk.close(fd);
  }
}

/** Writes `bytes` to `path` whole or not at all; see the invariants above. */
export async function writeDurably(
  disk: Disk,
  path: string,
  bytes: Uint8Array,
  directoryFd: number,
): Promise<void> {
  const file = await DurableFile.create(disk, dirname(path));
  try {
    file.write(bytes);
    await file.publish(path, directoryFd);
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

/** Removes what killed runs left half-written in a directory. Only its owner may call this. */
export async function removeTemporaries(disk: Disk, directory: string): Promise<void> {
  for (const name of disk.list(directory)) {
    if (TEMPORARY.test(name)) await disk.unlink(join(directory, name));
  }
}
