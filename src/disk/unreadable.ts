/** What to say of a file that the system does not let read. */
import { messageOf } from '../errors.ts';

/** @returns one sentence with the reason, and what to do. */
export function unreadable(path: string, cause: unknown): string {
  const isBelowFile = (cause as NodeJS.ErrnoException).code === 'ENOTDIR';
  const advice = isBelowFile
    ? 'a directory has to be where a file is: put it back, or name another one'
    : 'make it readable for the user that runs catalog-server';
  return `${path} cannot be read (${messageOf(cause)}); ${advice}`;
}
