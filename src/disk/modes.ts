/** Who may use files: the data directory, a socket in it and secrets are for their owner alone. */
import fs from 'node:fs';
import { CatalogError, type Code, messageOf, shellWord } from '../errors.ts';

/** The permission bits of group and others. */
const OTHERS = 0o077;

/** What was found, and whether it was changed. */
export type Privacy = 'private' | 'made private' | 'open';

/** Whether users other than the owner may use a file or directory. */
export function isOpenToOthers(path: string): boolean {
  return (fs.statSync(path).mode & OTHERS) !== 0;
}

/**
 * Checks that only its owner may read a file.
 *
 * @param mode of the file when it was read.
 * @throws CatalogError with `code`.
 */
export function requirePrivate(path: string, mode: number, code: Code): void {
  if ((mode & OTHERS) === 0) return;
  throw new CatalogError(code, `${path} may be read by others; run: chmod 600 ${shellWord(path)}`);
}

/**
 * What is created meanwhile is for its owner alone from its beginning, unless a default ACL of its
 * directory takes the place of the umask. Files of this program are for their owner in any case.
 */
export async function withPrivateUmask<T>(create: () => Promise<T>): Promise<T> {
  const before = process.umask(OTHERS);
  try {
    return await create();
  } finally {
    process.umask(before);
  }
}

/**
 * Removes the access of group and others. The program creates its files for the owner alone, but
 * the directory may have been created by another program, and a socket gets a default mode.
 *
 * @param path of the directory or socket.
 * @returns `open` if it belongs to another user, because only its owner can change its mode.
 * @throws CatalogError `write_refused` if the system does not let the owner change it.
 */
export function makePrivate(path: string): Privacy {
  const { mode, uid } = fs.statSync(path);
  if ((mode & OTHERS) === 0) return 'private';
  if (uid !== process.geteuid?.()) return 'open';
  try {
    fs.chmodSync(path, mode & 0o7700);
  } catch (cause) {
    throw new CatalogError(
      'write_refused',
      `${path} is open to other users, and its mode could not be changed (${messageOf(cause)}); run: chmod 700 ${shellWord(path)}`,
      { cause },
    );
  }
  return 'made private';
}
