/**
 * The file system as the rest of the program writes to it. Callers take a {@link Disk}, so that a
 * test can make any step fail.
 */
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Failure, type Job, publish } from './publish.ts';
import { MappedFile } from './system/mapped-file.ts';
import { giveDirectories, giveToOwner, hasOtherOwner } from './system/owner.ts';
import { populate } from './system/populate.ts';
import { openRegular } from './system/regular-file.ts';
import { spread } from './system/spread.ts';
import { WriterThread } from './writer-thread.ts';
import { systemErrorCode } from '../errors.ts';

/** File system operations, by the names of the system calls. Paths are absolute or relative. */
export interface Disk {
  /** Starts what {@link Disk.publish} needs, so that the first call does not have to. */
  prepare(): void;
  /** The durable write of publish.ts, off the event loop. */
  publish(job: Job): Promise<Failure | null>;
  /** Creates a file, mode 0600 less the umask, with these bytes. Fails if the file exists. */
  writeNew(path: string, bytes: Uint8Array): Promise<void>;
  /** Opens a new file for writing, mode 0600 less the umask. Fails if it exists. */
  create(path: string): Promise<number>;
  /** Opens a file or directory for reading, to be synced. */
  open(path: string): number;
  /** Opens an existing file, to be overwritten in place. */
  openRecord(path: string): number;
  /** Writes the whole of `bytes` at the end. */
  write(fd: number, bytes: Uint8Array): void;
  fdatasync(fd: number): Promise<void>;
  fsync(fd: number): Promise<void>;
  close(fd: number): void;
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name. Fails if that exists. */
  link(from: string, to: string): void;
  /** Removes a file, if it exists. */
  unlink(path: string): Promise<void>;
  /** Creates a directory and its parents, mode 0700 less the umask, if they do not exist. */
  mkdir(path: string): void;
  /** Removes an empty directory, if it exists. */
  rmdir(path: string): void;
  /**
   * Makes a directory, mode 0700 less the umask, that the file system places away from its parent.
   * Returns false, and makes nothing, if the file system cannot do that.
   */
  makeApart(path: string): Promise<boolean>;
  /** Whether a path still leads to the open file or directory; false if it leads to nothing. */
  leadsTo(path: string, fd: number): boolean;
  /** Names in a directory; empty if there is no directory. */
  list(path: string): string[];
  /**
   * The bytes of a regular file in pieces; null if there is none. The file is open from the call
   * until the last piece.
   */
  pieces(path: string, memory?: PieceMemory): Iterable<Buffer> | null;
  /**
   * Like {@link pieces} with `shared`, for a file that an operator names: it may be a pipe, for
   * whose writer the call waits.
   */
  input(path: string): Iterable<Buffer> | null;
  /** A large file that is copied later; null if it can only be read. See {@link MappedFile}. */
  map(path: string): MappedFile | null;
  /** The length of a file in bytes; null if there is none. */
  size(path: string): number | null;
  /** The bytes of a regular file; null if there is none. */
  read(path: string): Buffer | null;
  /** What distinguishes a file from earlier ones of the same name; null if there is no file. */
  stat(path: string): FileStat | null;
}

/**
 * How long a piece of a file is valid: with `shared` until the next one is taken; with `own` the
 * caller may keep it.
 */
export type PieceMemory = 'shared' | 'own';

/** Two equal ones mean that the file was not written between them. */
export interface FileStat {
  /** Bytes. */
  readonly size: number;
  readonly inode: number;
  /** When content, name or mode changed last (ctime), in milliseconds since the epoch. */
  readonly changedMs: number;
}

const open = promisify(fs.open);
const rename = promisify(fs.rename);
const unlink = promisify(fs.unlink);
const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);

const writer = new WriterThread();

/**
 * The disk of the machine. Operations that may wait for the device do not block the event loop:
 * syncs, and most changes of directories, which wait for the file system's journal while a sync
 * writes it. A write of bytes only reaches the page cache, and is called directly.
 */
export const machineDisk: Disk = {
  prepare: () => writer.start(),
  publish: async (job) =>
    hasOtherOwner(job.path) ? publish({ ...fs, openSync: openNew }, job) : writer.publish(job),
  writeNew: (path, bytes) => fsp.writeFile(path, bytes, { flag: 'wx', mode: 0o600 }),
  create: (path) => open(path, 'wx', 0o600),
  open: (path) => fs.openSync(path, 'r'),
  openRecord: (path) => fs.openSync(path, 'r+'),
  write(fd, bytes) {
    for (let offset = 0; offset < bytes.length; ) {
      offset += fs.writeSync(fd, bytes, offset, bytes.length - offset);
    }
  },
  fdatasync,
  fsync,
  close: (fd) => fs.closeSync(fd),
  rename,
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) =>
    unlink(path).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    }),
  mkdir(path) {
    const first = fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    if (first !== undefined) giveDirectories(first, path);
  },
  rmdir: (path) => absentAs(undefined, () => fs.rmdirSync(path)),
  async makeApart(path) {
    if (!spread(dirname(path))) return false;
    await fsp.mkdir(path, { mode: 0o700 });
    giveDirectories(path, path);
    return true;
  },
  list: (path) => absentAs([], () => fs.readdirSync(path)),
  leadsTo(path, fd) {
    const there = fs.statSync(path, { throwIfNoEntry: false });
    const opened = fs.fstatSync(fd);
    return there?.ino === opened.ino && there.dev === opened.dev;
  },
  pieces(path, memory = 'shared') {
    const fd = absentAs(null, () => openRegular(path));
    return fd === null ? null : readPieces(fd, memory);
  },
  input(path) {
    const fd = absentAs(null, () => fs.openSync(path, 'r'));
    return fd === null ? null : readPieces(fd, 'shared');
  },
  map: (path) => MappedFile.open(path),
  size: (path) => fs.statSync(path, { throwIfNoEntry: false })?.size ?? null,
  read: (path) => absentAs(null, () => readWhole(openRegular(path))),
  stat: (path) =>
    absentAs(null, () => {
      const { size, ino, ctimeMs } = fs.statSync(path);
      return { size, inode: ino, changedMs: ctimeMs };
    }),
};

/**
 * The machine's disk for a thread that serves no requests: its calls block, except for the syncs of
 * open files and for `publish`, during which the thread has other work. That is cheaper than having
 * another thread wait, and keeps the work at the priority of the calling thread.
 */
export const blockingDisk: Disk = {
  ...machineDisk,
  async writeNew(path, bytes) {
    const fd = openNew(path, 'wx', 0o600);
    try {
      fs.writeFileSync(fd, bytes);
    } finally {
      fs.closeSync(fd);
    }
  },
  create: async (path) => openNew(path, 'wx', 0o600),
  rename: async (from, to) => fs.renameSync(from, to),
  unlink: async (path) => absentAs(undefined, () => fs.unlinkSync(path)),
};

function readWhole(fd: number): Buffer {
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Opens a file that the call creates. */
function openNew(path: string, flags: 'wx', mode: number): number {
  const fd = fs.openSync(path, flags, mode);
  giveToOwner(path, fd);
  return fd;
}

/** Runs `action`. If the file does not exist, returns `absent`. */
function absentAs<T>(absent: T, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return absent;
    throw error;
  }
}

/** Bytes read at once. */
const PIECE_BYTES = 1024 * 1024;

/** Bytes of a block of memory that several `own` pieces share. */
const BLOCK_BYTES = 16 * PIECE_BYTES;

/** Bytes to try to read after the expected end of a file. */
const END_BYTES = 4096;

function* readPieces(fd: number, memory: PieceMemory): Generator<Buffer> {
  try {
    yield* memory === 'shared' ? sharedPieces(fd) : ownPieces(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function* sharedPieces(fd: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  for (;;) {
    const length = fs.readSync(fd, buffer, 0, buffer.length, null);
    if (length === 0) return;
    yield buffer.subarray(0, length);
  }
}

function* ownPieces(fd: number): Generator<Buffer> {
  let left = fs.fstatSync(fd).size;
  for (;;) {
    // No larger than the rest of the file, so that a small file does not take a whole block.
    const block = Buffer.allocUnsafeSlow(left > 0 ? Math.min(left, BLOCK_BYTES) : END_BYTES);
    if (block.length >= PIECE_BYTES) populate(block);
    for (let filled = 0; filled < block.length; ) {
      const room = Math.min(PIECE_BYTES, block.length - filled);
      const length = fs.readSync(fd, block, filled, room, null);
      if (length === 0) return;
      yield block.subarray(filled, filled + length);
      filled += length;
    }
    left -= block.length;
  }
}
