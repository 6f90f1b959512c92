/** Reads files, and says what to do about one that cannot be read. */
import { CatalogError, type Code, messageOf, systemErrorCode } from '../errors.ts';
import type { Disk } from './disk.ts';

const NO_RIGHT = 'make it readable for the user that runs catalog-server';
const DAMAGED = 'its file system is damaged: check it (fsck)';

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  ENOTDIR:
    'there is a file where a directory is expected: put the directory back, or name another one',
  EISDIR: 'there is a directory where a file is expected: move it away',
  EFTYPE: 'there is a pipe or a device where a file is expected: move it away',
  ENXIO: 'there is a socket or a device where a file is expected: move it away',
  ENOENT:
    'its symbolic link leads to a file that is missing: put that file back, mount its disk, or remove the link',
  ELOOP: 'its symbolic links lead in a circle: remove it',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine: close some programs',
  EIO: 'the disk fails: restore the file from a backup, or see "Damage" in docs/storage.md',
  EBADMSG: DAMAGED,
  EUCLEAN: DAMAGED,
  ESTALE: 'its file server does not have it any more: mount the file system again',
  ENOKEY: 'its directory is encrypted: unlock it',
};

/**
 * Runs `read`, and explains what the disk throws: a message of the system does not name the file in
 * every case.
 *
 * @throws CatalogError `code` instead of an error of the system.
 */
export function readable<T>(path: string, read: () => T, code: Code = 'store_unreadable'): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    const advice = ADVICE[systemErrorCode(cause) ?? ''] ?? 'check the disk, and try again';
    const message = `${path} cannot be read (${messageOf(cause)}); ${advice}`;
    throw new CatalogError(code, message, { cause });
  }
}

/** @returns the bytes of a file; null if there is none. @throws CatalogError `code`. */
export function readFile(disk: Pick<Disk, 'read'>, path: string, code?: Code): Buffer | null {
  return readable(path, () => disk.read(path), code);
}
