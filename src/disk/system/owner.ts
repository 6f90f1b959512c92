/**
 * Whom new files and directories of a data directory belong to. A command that root runs gives them
 * to the owner of the directory: a server that runs as that user could not read them otherwise.
 *
 * Invariant: only what this process has just created in a directory of that owner is given away, by
 * its descriptor. So a user who plants links in a directory gets neither files of others nor files in
 * directories of others.
 */
import fs from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The owner that new files get; null if they stay those of the user of this process. */
let owner: (Owner & { readonly prefix: string }) | null = null;

/**
 * Applies to all that this process creates below the directory from now on. Has no effect if another
 * user than root runs the process, or the directory is root's or does not exist. It applies to one
 * directory at a time.
 *
 * @param directory absolute or relative; without `..` after a symbolic link.
 */
export function keepOwnerOf(directory: string): void {
  owner = null;
  if (process.geteuid?.() !== 0) return;
  try {
    const { uid, gid } = fs.statSync(directory);
    if (uid !== 0) owner = { prefix: join(resolve(directory), sep), uid, gid };
  } catch {
    // The command reports what is wrong with the directory.
  }
}

/** Whether a file that is created at the path is to get another owner. */
export function hasOtherOwner(path: string): boolean {
  return owner !== null && resolve(path).startsWith(owner.prefix);
}

/**
 * Gives a file that was just created its owner. If the system does not permit it, or its directory is
 * not the owner's, root keeps it.
 *
 * @param fd of the file.
 */
export function giveToOwner(path: string, fd: number): void {
  if (owner === null || !hasOtherOwner(path)) return;
  const { uid, gid } = owner;
  try {
    if (fs.statSync(directoryOf(path, fd)).uid === uid) fs.fchownSync(fd, uid, gid);
  } catch {
    // Some file systems have no owners, and root of a container may have no right to change them.
  }
}

/** @returns the directory in which a file is, although a link in its path may lead elsewhere by now. */
function directoryOf(path: string, fd: number): string {
  try {
    return dirname(fs.readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    // There is no /proc on macOS.
    return dirname(path);
  }
}

/**
 * Gives directories that were just created their owner.
 *
 * @param first of them, in which the others are.
 * @param last of them.
 */
export function giveDirectories(first: string, last: string): void {
  if (!hasOtherOwner(last)) return;
  const top = resolve(first);
  const created: string[] = [];
  for (let path = resolve(last); path.startsWith(top); path = dirname(path)) created.push(path);
  // Each of them is in the one before.
  for (const path of created.toReversed()) {
    const fd = fs.openSync(path, DIRECTORY);
    try {
      giveToOwner(path, fd);
    } finally {
      fs.closeSync(fd);
    }
  }
}

/**
 * Does something with the permissions of the owner: a file in the directory may name other files,
 * which root could read and its author could not. Root of a container may have no right to become
 * another user; it does it as root then.
 *
 * @throws what `action` throws.
 */
export function asOwner<T>(action: () => T): T {
  if (owner === null) return action();
  const group = process.getegid?.() ?? 0;
  const groups = process.getgroups?.() ?? [];
  try {
    process.setgroups?.(groups);
  } catch {
    return action();
  }
  const becomeRoot = () => {
    process.seteuid?.(0);
    process.setegid?.(group);
    process.setgroups?.(groups);
  };
  try {
    become(owner);
  } catch {
    becomeRoot();
  }
  try {
    return action();
  } finally {
    becomeRoot();
  }
}

/** What the types of the runtime lack. */
type Posix = typeof process & { initgroups?(uid: number, gid: number): void };

function become({ uid, gid }: Owner): void {
  try {
    (process as Posix).initgroups?.(uid, gid);
  } catch {
    // The user has no name, as in a container.
    process.setgroups?.([]);
  }
  process.setegid?.(gid);
  process.seteuid?.(uid);
}

const DIRECTORY = fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW;
