/** The message about a file that cannot be read. */
import { messageOf, systemErrorCode } from '../errors.ts';

const ADVICE: Readonly<Record<string, string>> = {
  ENOTDIR:
    'there is a file where a directory is expected: put the directory back, or name another one',
  EISDIR: 'there is a directory where a file is expected: move it away',
};

/** @returns one sentence with the reason, and what to do. */
export function unreadable(path: string, cause: unknown): string {
  const advice =
    ADVICE[systemErrorCode(cause) ?? ''] ??
    'make it readable for the user that runs catalog-server';
  return `${path} cannot be read (${messageOf(cause)}); ${advice}`;
}
