/** Messages for system errors that say what to do (spec 8.8). */
import { basename, dirname } from 'node:path';
import { TEMPORARY } from '../disk/durable-file.ts';
import { CatalogError, messageOf, systemErrorCode } from '../errors.ts';

/** What to do about a path, by the code of the error. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'give the user that runs catalog-server the right to use it, or name another path',
  EPERM: 'give the user that runs catalog-server the right to use it, or name another path',
  EROFS: 'its file system is read-only: mount it for writing, or name another path',
  EEXIST:
    'it is not a directory, or a link to one that is missing: name a directory, mount its disk, or move it away',
  ENOTDIR: 'it is not a directory: name a directory, or move it away',
  EISDIR: 'it is a directory: name a file',
  EFTYPE: 'a file is expected there: remove it',
  ENOENT: 'create it, or name another path',
  ENOLCK:
    'its file system has no locks: use a local disk, or start the lock service of the file system',
  ENOSYS: 'its file system does not support this: use a local disk',
  EOPNOTSUPP: 'its file system does not support this: use a local disk',
  ENOTSUP: 'its file system does not support this: use a local disk',
  ENOSPC: 'its disk is full: free some space',
  EDQUOT: 'its quota is used up: free some space',
  EFBIG: 'a file may not become so large: raise the limit of file sizes (ulimit -f)',
  ENAMETOOLONG: 'name a shorter path',
  ELOOP: 'its symbolic links form a loop: name another path',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine: close some programs',
  EBUSY:
    'it is the place of a mount, or in use: mount the directory that contains it, or try again',
  EXDEV: 'it is on another file system than its directory: mount the whole directory',
  ENXIO: 'it is a socket or a device: name a file',
  ENODEV: 'it is a socket or a device: name a file',
  EIO: 'its disk fails: see the log of the kernel (dmesg)',
  EBADMSG: 'its file system is damaged: check it (fsck)',
  EUCLEAN: 'its file system is damaged: check it (fsck)',
  ESTALE: 'its file server does not have it any more: mount the file system again',
  ENOKEY: 'its directory is encrypted: unlock it',
};

/** What to do if the system names no path, as for a write to a file that is open. */
const ADVICE_WITHOUT_PATH: Readonly<Record<string, string>> = {
  ENOSPC: 'a disk is full: free some space, and try again',
  EDQUOT: 'a quota is used up: free some space, and try again',
  EIO: 'a disk fails: see the log of the kernel (dmesg)',
  EFBIG: 'raise the limit of file sizes (ulimit -f), and try again',
};

/**
 * @returns one sentence; null if it is not a system error for which there is advice, nor an error
 *   whose message ends with the reason of such an error, so without advice.
 */
export function systemMessage(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof CatalogError) return advised(error);
  const { code = '', path } = error as NodeJS.ErrnoException;
  const advice = (path === undefined ? ADVICE_WITHOUT_PATH : ADVICE)[code];
  if (advice === undefined) return null;
  const [reason = ''] = messageOf(error).split(',');
  if (path === undefined) return `${reason}; ${advice}`;
  return `${lastingPath(path)} cannot be used (${reason}); ${advice}`;
}

/** @returns what to do about a path with an error of a code; undefined if there is no advice. */
export function adviceOn(code: string): string | undefined {
  return ADVICE[code];
}

function advised({ message, cause }: CatalogError): string | null {
  const advice = ADVICE[systemErrorCode(cause) ?? ''];
  return advice !== undefined && message.endsWith(messageOf(cause))
    ? `${message}; ${advice}`
    : null;
}

/** A temporary file is gone when its name is read, and it is its directory that refused it. */
function lastingPath(path: string): string {
  return TEMPORARY.test(basename(path)) ? dirname(path) : path;
}
