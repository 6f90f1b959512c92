/** Who may enter the data directory: nobody but the user that runs the program. */
import fs from 'node:fs';
import { CatalogError, messageOf } from '../errors.ts';

/** What group and others may do. */
const OTHERS = 0o077;

/** What was found, and what became of it. */
export type Privacy = 'private' | 'made private' | 'open';

/**
 * Takes the directory from group and others. What is in it was made for its owner alone; the
 * directory itself may have been made by somebody else.
 *
 * @returns `open` where the directory belongs to another user, who alone can change its mode.
 * @throws CatalogError `write_refused` where the system does not let its owner change it.
 */
export function makePrivate(directory: string): Privacy {
  const { mode, uid } = fs.statSync(directory);
  if ((mode & OTHERS) === 0) return 'private';
  if (uid !== process.geteuid?.()) return 'open';
  try {
    fs.chmodSync(directory, mode & 0o7700);
  } catch (cause) {
    throw new CatalogError(
      'write_refused',
      `${directory} is open to other users, and stays so (${messageOf(cause)}); run: chmod 700 ${directory}`,
      { cause },
    );
  }
  return 'made private';
}
