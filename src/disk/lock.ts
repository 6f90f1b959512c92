/**
 * Exclusive locks between processes, by flock(2).
 *
 * Invariant: of all processes in all containers that share a kernel and the file, at most one holds
 * the lock. The kernel releases it when the holder ends, however it ends. The content of the file
 * only names the holder, for messages. A lock file is never removed: if it were removed while
 * another process waits for it, two processes could hold the lock.
 *
 * This is not guaranteed for two machines that share a network file system: whether flock works
 * over the network depends on the file system.
 */
import fs from 'node:fs';
import { constants, hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CatalogError, systemErrorCode } from '../errors.ts';
import { ignoreUnreadable } from './durable-file.ts';
import { errnoReader, libc } from './system/libc.ts';
import { giveDirectories, giveToOwner, hasOtherOwner } from './system/owner.ts';

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

const { EINTR, EWOULDBLOCK } = constants.errno;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = fs.constants;
const OPEN = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW;

interface System {
  flock(fd: number, operation: number): number;
  errno(): number;
}

let loaded: System | undefined;

function system(): System {
  // Both before the first call: to look a function up changes errno.
  loaded ??= {
    ...libc({ flock: { args: ['i32', 'i32'], returns: 'i32' } }),
    errno: errnoReader(),
  };
  return loaded;
}

/** The name of an error number; the number as text if it has none. */
function nameOf(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `${errno}`;
}

/** A lock that can be taken and released many times. */
export class FileLock {
  readonly #path: string;
  #fd: number | null;

  /** @param path of the lock file, which is created if needed, as is its directory. */
  constructor(path: string) {
    makeDirectory(dirname(path));
    if (hasOtherOwner(path)) createFor(path);
    this.#path = path;
    this.#fd = openLock(path);
  }

  /**
   * @returns false if another process holds it.
   * @throws Error with `code` and `path` if the file system cannot lock files.
   */
  tryLock(): boolean {
    return this.#flock(LOCK_EX | LOCK_NB);
  }

  /**
   * Waits for it and blocks the whole process: for commands, not for the server.
   *
   * @throws Error as {@link tryLock}.
   */
  lock(): void {
    this.#flock(LOCK_EX);
  }

  unlock(): void {
    if (this.#fd !== null) system().flock(this.#fd, LOCK_UN);
  }

  /** Writes who holds the lock, for people. */
  note(text: string): void {
    try {
      const fd = this.#open();
      fs.ftruncateSync(fd, 0);
      fs.writeSync(fd, text);
    } catch {
      // The disk may be full. The lock holds without the note.
    }
  }

  /** Releases the lock and closes its file, unless that has been done. */
  close(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    // Forgotten even if closing fails: the number may belong to another file by then.
    this.#fd = null;
    fs.closeSync(fd);
  }

  #flock(operation: number): boolean {
    const fd = this.#open();
    const calls = system();
    while (calls.flock(fd, operation) !== 0) {
      const failure = calls.errno();
      if (failure === EWOULDBLOCK) return false;
      // A signal may end the wait without the lock.
      if (failure === EINTR) continue;
      const code = nameOf(failure);
      const message = `${code}: the file cannot be locked, flock '${this.#path}'`;
      throw Object.assign(new Error(message), { code, path: this.#path });
    }
    return true;
  }

  #open(): number {
    if (this.#fd === null) throw new Error('the lock is closed');
    return this.#fd;
  }
}

/**
 * Makes a directory and its missing parents. They survive power loss when this returns: otherwise
 * what the holder of the lock writes could vanish with them.
 */
function makeDirectory(directory: string): void {
  const first = fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  giveDirectories(first, directory);
  const top = resolve(first);
  for (let path = resolve(directory); path.startsWith(top); path = dirname(path)) {
    syncNow(dirname(path));
  }
}

function syncNow(directory: string): void {
  let fd: number | null = null;
  try {
    fd = fs.openSync(directory, 'r');
    fs.fsyncSync(fd);
  } catch (error) {
    ignoreUnreadable(error);
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}

/** What is in the place of a lock file, by the code of the error. */
const NO_LOCK_FILES: Readonly<Record<string, string>> = {
  ELOOP: 'a symbolic link',
  EISDIR: 'a directory',
};

/**
 * Opens a lock file, and creates it if needed. A symbolic link is refused: the note of the holder
 * would replace the content of the file that it leads to. If root runs the command, that may be any
 * file of the machine, and the link may be from the user of the data directory.
 *
 * @throws what the file system throws; an error with the code `EFTYPE` for a symbolic link and a
 *   directory.
 */
function openLock(path: string): number {
  try {
    return fs.openSync(path, OPEN, 0o600);
  } catch (error) {
    const what = NO_LOCK_FILES[systemErrorCode(error) ?? ''];
    if (what === undefined) throw error;
    const message = `EFTYPE: ${what}, open '${path}'`;
    throw Object.assign(new Error(message, { cause: error }), { code: 'EFTYPE', path });
  }
}

/** Creates a lock file for the owner of its directory, unless there is one. */
function createFor(path: string): void {
  let fd: number;
  try {
    fd = fs.openSync(path, 'ax', 0o600);
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return;
    throw error;
  }
  giveToOwner(path, fd);
  fs.closeSync(fd);
}

/** Who holds a lock. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** The command that holds the lock, such as "serve". */
  readonly command: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/**
 * Makes this process the owner of a directory.
 *
 * @param name of the lock file in it.
 * @param command that runs.
 * @throws CatalogError `store_locked`, naming the holder.
 * @throws Error as {@link FileLock.tryLock}.
 */
export function acquireOwnership(directory: string, name: string, command: string): FileLock {
  const path = join(directory, name);
  const lock = new FileLock(path);
  try {
    if (!lock.tryLock()) {
      throw new CatalogError(
        'store_locked',
        `${directory} is in use by ${describeHolder(path)}; stop it first, or name another directory with --data`,
      );
    }
  } catch (error) {
    lock.close();
    throw error;
  }
  const since = new Date().toISOString();
  const holder: Holder = { pid: process.pid, host: hostname(), command, since };
  lock.note(`${JSON.stringify(holder)}\n`);
  return lock;
}

function describeHolder(path: string): string {
  const holder = holderOf(path);
  if (holder === null) return 'another process';
  const { pid, host, command, since } = holder;
  return `catalog-server ${command}, process ${pid} on ${host} since ${since}`;
}

/** The note of the last holder of a lock; null if it is just being written. */
export function holderOf(path: string): Holder | null {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8')) as Holder;
  } catch {
    // Read between the holder's truncate and write.
    return null;
  }
}

/**
 * Whether a process holds a lock. To find out, this takes the lock for a moment, in which another
 * process would find it held: do not call this often.
 *
 * @throws Error as {@link FileLock.tryLock}.
 */
export function isHeld(path: string): boolean {
  const lock = new FileLock(path);
  try {
    return !lock.tryLock();
  } finally {
    lock.close();
  }
}
