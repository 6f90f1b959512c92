/**
 * Files that appear whole or not at all: small files in one call, large files in pieces, and files
 * that can be made again without any sync. publish.ts has the steps and the invariants. They hold for
 * large files as well, except that a large file may have its name although its rename failed.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { CatalogError, hasCode, messageOf, systemErrorCode } from '../errors.ts';
import type { Disk } from './disk.ts';
import type { Job } from './publish.ts';

export interface DurableOptions extends Pick<Job, 'exclusive' | 'record'> {
  /** The directory of the temporary file, on the same file system; that of `path` if left out. */
  readonly staging?: string | undefined;
}

/** Bytes between two syncs: one long sync at the end would hold up the syncs of other files. */
const FLUSH_BYTES = 4 * 1024 * 1024;

/** The names of temporary files; the second finds them in messages. */
export const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;
export const TEMPORARY_IN_TEXT = /\.[0-9a-f]{16}\.tmp/g;

/**
 * Writes `bytes` to `path` whole or not at all; see publish.ts.
 *
 * @param options `exclusive`: fails if there is a file already; `record`: is overwritten to name
 *   the file once it is durable; `staging`: where the file is written first.
 * @returns why the record could not be written, or null; the file is durable either way.
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
  const cause = Object.assign(new Error(message), { code, path });
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
 * Writes a file, whole or not at all, and replaces an existing one. It survives power loss when this
 * returns.
 *
 * @throws what the disk throws; CatalogError `durability_unknown`.
 */
export async function replaceFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await withOpen(disk, dirname(path), (fd) => writeDurably(disk, path, bytes, fd));
}

/**
 * Writes `bytes` to `path` unless something is there already. It survives power loss either way.
 *
 * @returns whether it did.
 * @throws what the disk throws; CatalogError `durability_unknown`.
 */
export function writeOnce(disk: Disk, path: string, bytes: Uint8Array): Promise<boolean> {
  return withOpen(disk, dirname(path), async (fd) => {
    try {
      await writeDurably(disk, path, bytes, fd, { exclusive: true });
      return true;
    } catch (error) {
      if (!hasCode(error, 'second_writer')) throw error;
      // The process that has written it may not have synced its name yet.
      await syncName(disk, fd, path);
      return false;
    }
  });
}

/** Writes `bytes` to `path` whole, without any sync: for files that can be made again. */
export function writeVolatile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  return writeThenName(disk, path, (temporary) => disk.writeNew(temporary, bytes));
}

/** Like {@link writeVolatile}, for a file that comes in pieces. */
export function writePieces(disk: Disk, path: string, pieces: Iterable<Uint8Array>): Promise<void> {
  return writeThenName(disk, path, async (temporary) => {
    const fd = await disk.create(temporary);
    try {
      for (const piece of pieces) disk.write(fd, piece);
    } finally {
      disk.close(fd);
    }
  });
}

async function writeThenName(
  disk: Disk,
  path: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryPath(dirname(path));
  try {
    await write(temporary).catch(about(path));
    await explainingDirectory(path, disk.rename(temporary, path));
  } catch (error) {
    await discard(disk, temporary);
    throw error;
  }
}

/** Adds the path to an error of the system, which names none for an open file. */
const about = (path: string) => (error: NodeJS.ErrnoException) => {
  if (error.path !== undefined || systemErrorCode(error) === null) throw error;
  throw Object.assign(error, { path, message: `${error.message} '${path}'` });
};

/** A large file that is written piece by piece under a temporary name beside its final one. */
export class DurableFile {
  readonly #disk: Disk;
  readonly temporary: string;
  #fd: number | null;
  /** Bytes that were written since the last sync. */
  #unflushed = 0;

  private constructor(disk: Disk, temporary: string, fd: number) {
    this.#disk = disk;
    this.temporary = temporary;
    this.#fd = fd;
  }

  /** @param directory where the file will appear, and where its temporary file is written. */
  static async create(disk: Disk, directory: string): Promise<DurableFile> {
    const temporary = temporaryPath(directory);
    return new DurableFile(disk, temporary, await disk.create(temporary));
  }

  write(bytes: Uint8Array): void {
    this.#disk.write(this.#open(), bytes);
    this.#unflushed += bytes.length;
  }

  /** Whether {@link flush} should be called before more is written. */
  get isFlushDue(): boolean {
    return this.#unflushed >= FLUSH_BYTES;
  }

  /** Syncs what was written so far, so that the last sync has little left to do. */
  flush(): Promise<void> {
    this.#unflushed = 0;
    return this.#disk.fdatasync(this.#open());
  }

  /** Syncs and closes the file, which keeps its temporary name. */
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
    await syncName(this.#disk, directoryFd, path);
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
    // Forgotten even if closing fails: the number may belong to another file by then.
    this.#fd = null;
    this.#disk.close(fd);
  }
}

/**
 * Makes a directory and its missing parents. They survive power loss when this returns.
 *
 * @throws what the disk throws.
 */
export async function makeDirectory(disk: Disk, directory: string): Promise<void> {
  if (disk.stat(directory) !== null) return;
  const parent = dirname(resolve(directory));
  await makeDirectory(disk, parent);
  disk.mkdir(directory);
  await syncDirectory(disk, parent).catch(ignoreUnreadable);
}

/** A directory that a process may write to, but not read, cannot be synced. @throws other errors. */
export function ignoreUnreadable(error: unknown): void {
  if (systemErrorCode(error) !== 'EACCES') throw error;
}

/** The names in the directory survive power loss when this returns. @throws what the disk throws. */
export function syncDirectory(disk: Disk, directory: string): Promise<void> {
  return withOpen(disk, directory, (fd) => disk.fsync(fd));
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

/**
 * Removes the half-written files of killed runs from a directory. Only the process that owns the
 * directory may call this. A directory with such a name is left alone: the program makes none.
 *
 * @throws what the disk throws.
 */
export async function removeTemporaries(disk: Disk, directory: string): Promise<void> {
  for (const name of disk.list(directory)) {
    if (!TEMPORARY.test(name)) continue;
    await disk.unlink(join(directory, name)).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'EISDIR') throw error;
    });
  }
}

/**
 * A path in a directory for a temporary file. It is random, so that files that a killed run left
 * behind never collide with those of this run.
 */
export function temporaryPath(directory: string): string {
  return join(directory, `.${randomBytes(8).toString('hex')}.tmp`);
}

/**
 * Awaits a step that replaces or removes a file.
 *
 * @param path the file, for the message.
 * @throws what the step throws; for a directory, an error that says what to do about it.
 */
export async function explainingDirectory(path: string, step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (code !== 'EISDIR') throw cause;
    const message = `${path} is a directory where a file is expected: move it away`;
    throw Object.assign(new Error(message, { cause }), { code });
  }
}

/** Removes a temporary file. If the disk refuses this too, the next start removes it. */
async function discard(disk: Disk, temporary: string): Promise<void> {
  await disk.unlink(temporary).catch(() => {});
}

async function syncName(disk: Disk, directoryFd: number, path: string): Promise<void> {
  await disk.fsync(directoryFd).catch((cause: unknown) => {
    throw unknownDurability(path, cause);
  });
}

function unknownDurability(path: string, cause: unknown): CatalogError {
  const message = `${path} or its directory could not be synced (${messageOf(cause)}); it is unknown whether the write is on the disk`;
  return new CatalogError('durability_unknown', message, { cause });
}

function secondWriter(path: string, cause: Error): CatalogError {
  const isNamed = systemErrorCode(cause) !== null;
  const what = isNamed ? `it created ${path} before this process could` : cause.message;
  const message = `another process is writing to this store: ${what}; nothing was changed`;
  return new CatalogError('second_writer', message, { cause });
}
