/**
 * Files that appear whole or not at all: small ones at once, a large one piece by piece, and
 * without waiting for the device those that can be made again. publish.ts has the steps and the
 * invariants, which hold for the large file as well.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { CatalogError, messageOf } from '../errors.ts';
import type { Disk } from './disk.ts';
import type { Job } from './publish.ts';

export interface DurableOptions extends Pick<Job, 'exclusive' | 'record'> {
  /** The directory of the temporary file, on the same file system; that of `path` if left out. */
  readonly staging?: string | undefined;
}

const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;

/**
 * Writes `bytes` to `path` whole or not at all; see publish.ts.
 *
 * @param options `exclusive`: fails if there is a file already; `record`: names the file once it is
 *   durable; `staging`: where it is written first.
 * @returns why the record is old, if it is; the file is durable all the same.
 * @throws what the disk throws; CatalogError `second_writer`, `durability_unknown`.
 */
export async function writeDurably(
  disk: Disk,
  path: string,
  bytes: Uint8Array,
  directoryFd: number,
  { staging = dirname(path), ...options }: DurableOptions = {},
): Promise<Error | null> {
  const temporary = temporaryPath(staging);
  const failure = await disk.publish({ ...options, temporary, path, bytes, directoryFd });
  if (failure === null) return null;
  const { code, message, reached } = failure;
  const cause = Object.assign(new Error(message), { code });
  switch (reached) {
    case 'nothing':
      throw cause;
    case 'taken':
      throw secondWriter(path, cause);
    case 'name':
      throw unknownDurability(path, cause);
    case 'durability':
      return cause;
  }
}

/**
 * Writes `bytes` to `path` unless something is there already.
 *
 * @returns whether it did. The bytes are synced, the directory is not.
 */
export async function writeOnce(disk: Disk, path: string, bytes: Uint8Array): Promise<boolean> {
  const temporary = temporaryPath(dirname(path));
  try {
    await disk.writeNew(temporary, bytes, true);
    disk.link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await discard(disk, temporary);
  }
}

/** Writes `bytes` to `path` whole, without any sync: for files that can be made again. */
export async function writeVolatile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = temporaryPath(dirname(path));
  try {
    await disk.writeNew(temporary, bytes, false);
    await disk.rename(temporary, path);
  } catch (error) {
    await discard(disk, temporary);
    throw error;
  }
}

/** As {@link writeVolatile}, for a file that comes in pieces. */
export async function writePieces(
  disk: Disk,
  path: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  const temporary = temporaryPath(dirname(path));
  try {
    const fd = await disk.create(temporary);
    try {
      for (const piece of pieces) disk.write(fd, piece);
    } finally {
      disk.close(fd);
    }
    await disk.rename(temporary, path);
  } catch (error) {
    await discard(disk, temporary);
    throw error;
  }
}

/** A large file that is written piece by piece under a temporary name beside its final one. */
export class DurableFile {
  readonly #disk: Disk;
  readonly temporary: string;
  #fd: number | null;

  private constructor(disk: Disk, temporary: string, fd: number) {
    this.#disk = disk;
    this.temporary = temporary;
    this.#fd = fd;
  }

  /** @param directory where the file is to appear; the temporary one has to be on its file system. */
  static async create(disk: Disk, directory: string): Promise<DurableFile> {
    const temporary = temporaryPath(directory);
    return new DurableFile(disk, temporary, await disk.create(temporary));
  }

  write(bytes: Uint8Array): void {
    this.#disk.write(this.#open(), bytes);
  }

  /** Hands what was written so far to the device, so that the last sync has little left to do. */
  flush(): Promise<void> {
    return this.#disk.fdatasync(this.#open());
  }

  /** Ends the writing: all of it is on the device, under the temporary name. */
  async finish(): Promise<void> {
    await this.#disk.fdatasync(this.#open());
    this.#close();
  }

  /**
   * Gives the finished file its final name and returns once that survives power loss too.
   *
   * @param path final path, in the directory of the constructor; a file there is replaced.
   * @param directoryFd the directory, open.
   */
  async publish(path: string, directoryFd: number): Promise<void> {
    await this.#disk.rename(this.temporary, path);
    await syncDirectory(this.#disk, directoryFd, path);
  }

  /** Gives up: closes and removes the temporary file. */
  async abandon(): Promise<void> {
    try {
      this.#close();
    } finally {
      await discard(this.#disk, this.temporary);
    }
  }

  #open(): number {
    if (this.#fd === null) throw new Error('the durable file is closed');
    return this.#fd;
  }

  #close(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    // Closed even if closing fails: the number may be another file's by then.
    this.#fd = null;
    this.#disk.close(fd);
  }
}

/**
 * Makes a directory and the parents that it lacks. They survive power loss when this returns.
 *
 * @throws what the disk throws.
 */
export async function makeDirectory(disk: Disk, directory: string): Promise<void> {
  const made: string[] = [];
  let path = resolve(directory);
  // The root has no parent.
  while (path !== dirname(path) && disk.stat(path) === null) {
    made.push(path);
    path = dirname(path);
  }
  if (made.length === 0) return;
  disk.mkdir(directory);
  for (const each of made) await withOpen(disk, dirname(each), (fd) => disk.fsync(fd));
}

/** Opens a directory, to be synced, for as long as `use` takes. */
export async function withOpen<T>(
  disk: Disk,
  directory: string,
  use: (fd: number) => Promise<T>,
): Promise<T> {
  const fd = disk.open(directory);
  try {
    return await use(fd);
  } finally {
    disk.close(fd);
  }
}

/** Removes what killed runs left half-written in a directory. Only its owner may call this. */
export async function removeTemporaries(disk: Disk, directory: string): Promise<void> {
  for (const name of disk.list(directory)) {
    if (TEMPORARY.test(name)) await disk.unlink(join(directory, name));
  }
}

/** Random, so that what a killed run left behind never collides with this run. */
function temporaryPath(directory: string): string {
  return join(directory, `.${randomBytes(8).toString('hex')}.tmp`);
}

/** Removes a temporary file. A refusing disk may refuse this too: the next start finds the rest. */
async function discard(disk: Disk, temporary: string): Promise<void> {
  await disk.unlink(temporary).catch(() => {});
}

async function syncDirectory(disk: Disk, directoryFd: number, path: string): Promise<void> {
  try {
    await disk.fsync(directoryFd);
  } catch (cause) {
    throw unknownDurability(path, cause);
  }
}

function unknownDurability(path: string, cause: unknown): CatalogError {
  return new CatalogError(
    'durability_unknown',
    `${path} or its directory could not be synced (${messageOf(cause)}); nobody can know what is on the disk`,
    { cause },
  );
}

function secondWriter(path: string, cause: unknown): CatalogError {
  return new CatalogError(
    'second_writer',
    `another process writes this store: it has made ${path}, which is next for this process; nothing was changed`,
    { cause },
  );
}
