/** The message about a file that cannot be read. */
import { CatalogError, type Code, messageOf, systemErrorCode } from '../errors.ts';
import type { Disk } from './disk.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOTDIR:
    'there is a file where a directory is expected: put the directory back, or name another one',
  EISDIR: 'there is a directory where a file is expected: move it away',
  EFTYPE: 'there is a pipe or a device where a file is expected: move it away',
  ENXIO: 'there is a socket or a device where a file is expected: move it away',
  ELOOP: 'its symbolic links lead in a circle: remove it',
};

/** @returns one sentence with the reason, and what to do. */
export function unreadable(path: string, cause: unknown): string {
  const advice =
    ADVICE[systemErrorCode(cause) ?? ''] ??
    'make it readable for the user that runs catalog-server';
  return `${path} cannot be read (${messageOf(cause)}); ${advice}`;
}

/**
 * @returns the bytes of a file; null if there is none.
 * @throws CatalogError `code`: a message of the system does not name the file in every case.
 */
export function readOrExplain(
  disk: Pick<Disk, 'read'>,
  path: string,
  code: Code = 'store_unreadable',
): Buffer | null {
  try {
    return disk.read(path);
  } catch (cause) {
    throw new CatalogError(code, unreadable(path, cause), { cause });
  }
}
