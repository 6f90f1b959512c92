/** What to say of a file that the system does not let read. */
import { messageOf } from '../errors.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOTDIR: 'a directory has to be where a file is: put it back, or name another one',
  EISDIR: 'a file has to be where a directory is: move the directory away',
};

/** @returns one sentence with the reason, and what to do. */
export function unreadable(path: string, cause: unknown): string {
  const { code = '' } = cause as NodeJS.ErrnoException;
  const advice = ADVICE[code] ?? 'make it readable for the user that runs catalog-server';
  return `${path} cannot be read (${messageOf(cause)}); ${advice}`;
}
