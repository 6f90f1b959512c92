/**
 * A directory that may be on another machine, such as a network mount. Every call waits in a thread
 * of the runtime's pool, which has threads to spare (src/app/engine/thread-pool.ts). So a mount that
 * does not answer delays only the callers of this class.
 */
import fsp from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TEMPORARY, temporaryPath } from './durable-file.ts';
import { openRegularLater } from './system/regular-file.ts';
import { systemErrorCode } from '../errors.ts';

/** Bytes read at once. */
const PIECE_BYTES = 256 * 1024;

/** Bytes between two syncs, so that the last one has little left to do. */
const FLUSH_BYTES = 8 * 1024 * 1024;

/** Milliseconds after which an unfinished file that has not changed counts as abandoned. */
const ABANDONED_AFTER_MS = 86_400_000;

export class RemoteDirectory {
  readonly #path: string;
  /** The folders from which this process has removed abandoned files. */
  readonly #tidied = new Set<string>();

  /** @param path which has to exist: a missing directory may be a missing mount. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Writes a file whole or not at all. When this resolves, it survives power loss there. A file of
   * this name is replaced.
   *
   * @throws what the file system throws.
   */
  async write(
    name: string,
    pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): Promise<void> {
    await this.#requireDirectory();
    const path = join(this.#path, name);
    const directory = dirname(path);
    await fsp.mkdir(directory, { recursive: true, mode: 0o700 });
    await this.#tidy(directory);
    const temporary = temporaryPath(directory);
    try {
      await writeSynced(temporary, pieces);
      await fsp.rename(temporary, path);
      await syncDirectory(directory);
      if (directory !== this.#path) await syncDirectory(this.#path);
    } catch (error) {
      await fsp.rm(temporary, { force: true }).catch(() => {});
      // With a new name in each attempt, the log would have the same failure again and again.
      if (error instanceof Error) error.message = error.message.replaceAll(temporary, path);
      throw error;
    }
  }

  /** @returns the bytes in pieces; null if there is no such file. */
  async read(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    await this.#requireDirectory();
    try {
      return readPieces(await openRegularLater(join(this.#path, name)));
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /**
   * @returns the names of the finished files in a folder, ascending. Hidden files are not of this
   *   program: NFS leaves one, such as `.nfs0000001200000003`, for a file that is removed while it is
   *   read, and the systems that show such a mount leave others.
   */
  async list(folder: string): Promise<string[]> {
    await this.#requireDirectory();
    try {
      const names = await fsp.readdir(join(this.#path, folder));
      return names.filter((name) => !name.startsWith('.')).toSorted();
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** Removes a file, if it exists. */
  async remove(name: string): Promise<void> {
    await fsp.rm(join(this.#path, name), { force: true });
  }

  async #tidy(directory: string): Promise<void> {
    if (this.#tidied.has(directory)) return;
    for (const name of await fsp.readdir(directory)) {
      if (!TEMPORARY.test(name)) continue;
      const path = join(directory, name);
      // Another server may have finished or removed it by now.
      const stats = await fsp.stat(path).catch(() => null);
      if (stats === null || Date.now() - stats.mtimeMs <= ABANDONED_AFTER_MS) continue;
      await fsp.rm(path, { force: true });
    }
    this.#tidied.add(directory);
  }

  async #requireDirectory(): Promise<void> {
    const stats = await fsp.stat(this.#path).catch((cause: unknown) => {
      if (systemErrorCode(cause) !== 'ENOENT') throw cause;
      throw new Error(`${this.#path} does not exist; mount it, or create it`, { cause });
    });
    if (!stats.isDirectory()) throw new Error(`${this.#path} is not a directory`);
  }
}

async function writeSynced(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const file = await fsp.open(path, 'wx', 0o600);
  try {
    let unflushed = 0;
    for await (const piece of pieces) {
      await file.writeFile(piece);
      unflushed += piece.length;
      if (unflushed < FLUSH_BYTES) continue;
      unflushed = 0;
      await file.datasync();
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await fsp.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function* readPieces(file: fsp.FileHandle): AsyncGenerator<Uint8Array> {
  try {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
