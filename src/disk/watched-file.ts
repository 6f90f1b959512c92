/**
 * A file that other processes replace while this one runs, and whose newest content counts.
 *
 * Invariant: where {@link WatchedFile.changed} says no, the file is the one that was read last. It
 * is compared by its inode, which stays open: a freed inode's number goes to the next file, and
 * one that is open is not freed.
 */
import fs from 'node:fs';

export interface FileContent {
  readonly bytes: Buffer;
  /** Permission bits. */
  readonly mode: number;
}

export class WatchedFile {
  readonly path: string;
  #fd: number | null = null;
  /** What was read; null for no file; undefined where reading failed or never happened. */
  #seen: fs.Stats | null | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** One system call, of a microsecond or two. */
  changed(): boolean {
    const there = fs.statSync(this.path, { throwIfNoEntry: false });
    const seen = this.#seen;
    if (seen === undefined) return true;
    if (seen === null || there === undefined) return seen !== null || there !== undefined;
    return (
      there.ino !== seen.ino ||
      there.dev !== seen.dev ||
      there.size !== seen.size ||
      there.mode !== seen.mode ||
      // It moves with the content, in steps of the kernel's clock.
      there.ctimeMs !== seen.ctimeMs
    );
  }

  /** @returns null where there is no file. @throws what the file system throws. */
  read(): FileContent | null {
    this.close();
    const fd = openExisting(this.path);
    if (fd === null) {
      this.#seen = null;
      return null;
    }
    this.#fd = fd;
    // Before the bytes: what changes in between is seen as a change later.
    const stats = fs.fstatSync(fd);
    const bytes = fs.readFileSync(fd);
    this.#seen = stats;
    return { bytes, mode: stats.mode & 0o777 };
  }

  /** Lets go of the file; the next look says that it has changed. */
  close(): void {
    this.#seen = undefined;
    const fd = this.#fd;
    if (fd === null) return;
    this.#fd = null;
    fs.closeSync(fd);
  }
}

/** Reads a file once. @returns null where there is none. */
export function readWithMode(path: string): FileContent | null {
  const file = new WatchedFile(path);
  try {
    return file.read();
  } finally {
    file.close();
  }
}

function openExisting(path: string): number | null {
  try {
    return fs.openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
