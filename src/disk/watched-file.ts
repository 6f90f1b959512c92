/**
 * A file that other processes may replace while this one runs.
 *
 * Invariant: if {@link WatchedFile.changed} returns false, the file is the one that was read last.
 * Files are compared by inode number. The file that was read stays open, because the number of a
 * freed inode may be given to another file.
 */
import fs from 'node:fs';
import { CatalogError, type Code, messageOf, systemErrorCode } from '../errors.ts';
import { openRegular } from './system/regular-file.ts';

export interface FileContent {
  readonly bytes: Buffer;
  /** Permission bits. */
  readonly mode: number;
}

export class WatchedFile {
  readonly path: string;
  #fd: number | null = null;
  /** The file that was read; null for no file; undefined if no read has succeeded. */
  #seen: fs.Stats | null | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Costs one system call, a microsecond or two. */
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
      // The ctime changes with the content, in steps of the kernel's clock.
      there.ctimeMs !== seen.ctimeMs
    );
  }

  /**
   * @returns null if there is no file.
   * @throws what the file system throws; an error with the code `ENOENT` if the path is a symbolic
   *   link to a file that is missing.
   */
  read(): FileContent | null {
    this.close();
    const fd = existing(openRegular, this.path);
    if (fd === null) {
      refuseBrokenLink(this.path);
      this.#seen = null;
      return null;
    }
    this.#fd = fd;
    // Before the bytes, so that a change in between is found by the next comparison.
    const stats = fs.fstatSync(fd);
    const bytes = fs.readFileSync(fd);
    this.#seen = stats;
    return { bytes, mode: stats.mode & 0o777 };
  }

  /** Closes the file. After that {@link changed} returns true. */
  close(): void {
    this.#seen = undefined;
    const fd = this.#fd;
    if (fd === null) return;
    this.#fd = null;
    fs.closeSync(fd);
  }
}

/** Reads a file once. @returns null if there is none. */
export function readWithMode(path: string): FileContent | null {
  const file = new WatchedFile(path);
  try {
    return file.read();
  } finally {
    file.close();
  }
}

/**
 * Reads a file that an operator names. The program reads it again later, so it cannot be a pipe.
 *
 * @returns null if there is none.
 * @throws CatalogError `code` if it cannot be read, has more than `maxBytes`, or is a pipe or a device.
 */
export function readShort(path: string, maxBytes: number, code: Code): FileContent | null {
  return readUpTo(maxBytes, openRegular, path, code);
}

/** The same for a file that is read once: it may be a pipe, for whose writer the call waits. */
export function readShortOnce(path: string, maxBytes: number, code: Code): FileContent | null {
  return readUpTo(maxBytes, (name) => fs.openSync(name, 'r'), path, code);
}

function readUpTo(
  maxBytes: number,
  open: (path: string) => number,
  path: string,
  code: Code,
): FileContent | null {
  let fd: number | null = null;
  try {
    fd = existing(open, path);
    if (fd === null) return null;
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length <= maxBytes) {
      const read = fs.readSync(fd, bytes, length, bytes.length - length, null);
      if (read === 0) {
        return { bytes: bytes.subarray(0, length), mode: fs.fstatSync(fd).mode & 0o777 };
      }
      length += read;
    }
    throw new Error(`it is longer than ${maxBytes / 1024} KiB; name another file`);
  } catch (cause) {
    const what =
      systemErrorCode(cause) === 'EFTYPE'
        ? 'is a pipe or a device; name a file, because it is read more than once'
        : `cannot be read: ${messageOf(cause)}`;
    throw new CatalogError(code, `${path} ${what}`, { cause });
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}

/** The disk of the file may not be mounted, so that it would be wrong to go on without the file. */
function refuseBrokenLink(path: string): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  const message = `ENOENT: no such file or directory, open '${path}'`;
  throw Object.assign(new Error(message), { code: 'ENOENT', path });
}

function existing(open: (path: string) => number, path: string): number | null {
  try {
    return open(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
